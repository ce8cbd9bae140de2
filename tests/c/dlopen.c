/* The library loaded, called with threads, shut down and unloaded, 20 times over. Nothing is linked to it. */
#define _XOPEN_SOURCE 700
#include "ndblas.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 400000 };

/* ISO C has no conversion between the two kinds of pointer. */
typedef union {
    void *object;
    void (*set)(int32_t);
    void (*shutdown)(void);
    int32_t (*axpy)(ptrdiff_t, double, const double *, ptrdiff_t, double *, ptrdiff_t);
} function;

int main(void) {
    alarm(120);
    double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
    if (!x || !y) return 1;
    for (int turn = 0; turn < 20; turn++) {
        void *library = dlopen("libndblas.so", RTLD_NOW | RTLD_LOCAL);
        if (!library) return puts(dlerror()), 1;
        function set, axpy, shutdown;
        set.object = dlsym(library, "ndblas_set_num_threads");
        axpy.object = dlsym(library, "ndblas_daxpy");
        shutdown.object = dlsym(library, "ndblas_shutdown");
        if (!set.object || !axpy.object || !shutdown.object) return puts("a symbol is missing"), 1;
        for (int i = 0; i < N; i++) x[i] = 1, y[i] = i;
        set.set(4);
        /* An error's message is a thread's own memory, which must not outlive the library. */
        if (axpy.axpy(N, 1, NULL, 1, y, 1) != NDBLAS_ERR_NULL) return puts("NULL was taken"), 1;
        if (axpy.axpy(N, 2, x, 1, y, 1) != NDBLAS_OK) return puts("the call failed"), 1;
        for (int i = 0; i < N; i++)
            if (y[i] != i + 2.0) return puts("a wrong value"), 1;
        shutdown.shutdown();
        if (dlclose(library)) return puts(dlerror()), 1;
    }
    free(x);
    free(y);
    puts("dlopen: 20 times");
    return 0;
}
