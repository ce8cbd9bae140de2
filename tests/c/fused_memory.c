/* No call allocates: every allocation of the process is counted here, in place of the C library's malloc, while each
   routine runs a second time, small and large, on one thread and on two. (The first time may start threads.) A permutation
   in place may take scratch, and a large call on several threads what it takes to share the work, both of a fixed size. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "ndblas.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature) /* clang's way to say it */
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

#if defined(__GLIBC__) && !defined(SANITIZED)
#define COUNTED 1

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static int counting;
static size_t calls, bytes;

static void count(size_t size) {
    if (__atomic_load_n(&counting, __ATOMIC_RELAXED)) {
        __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&bytes, size, __ATOMIC_RELAXED);
    }
}

void *malloc(size_t size) {
    count(size);
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size) {
    count(n * size);
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size) {
    count(size);
    return __libc_realloc(p, size);
}

void *memalign(size_t align, size_t size);
void *memalign(size_t align, size_t size) {
    count(size);
    return __libc_memalign(align, size);
}

void *aligned_alloc(size_t align, size_t size);
void *aligned_alloc(size_t align, size_t size) {
    count(size);
    return __libc_memalign(align, size);
}

int posix_memalign(void **p, size_t align, size_t size);
int posix_memalign(void **p, size_t align, size_t size) {
    count(size);
    *p = __libc_memalign(align, size);
    return *p || !size ? 0 : 12; /* ENOMEM */
}
#else /* an allocator that cannot be replaced this way: the calls are made, not counted */
#define COUNTED 0
static int counting;
static size_t calls, bytes;
#endif

#define DIMS(...) ((const ptrdiff_t[]){__VA_ARGS__})

/* Four arrays of shape (A, B, side, side), and an index of its third axis. */
enum { A = 6, B = 5, IN_PLACE = 15, SCRATCH = 64 * 1024, SHARE = 16 * 1024 };

static double *a, *b, *c, *d;
static int32_t *index_of_rows;
static ptrdiff_t side;

static ndblas_view in(const double *p, const ptrdiff_t *shape, int32_t ndim) {
    return (ndblas_view){p, shape, NULL, ndim, NDBLAS_F64};
}

static ndblas_view_mut out(double *p, const ptrdiff_t *shape, int32_t ndim) {
    return (ndblas_view_mut){p, shape, NULL, ndim, NDBLAS_F64};
}

/* Calls routine number `which` on transposed, reversed and broadcast views; -1 when there is none. */
static int32_t call(int which, const char **name) {
    const ndblas_scalar one = {1, 0}, half = {0.5, 0}, zero = {0, 0};
    const ptrdiff_t step = sizeof(double), n = A * B * side * side;
    const ptrdiff_t *shape = DIMS(A, B, side, side), *swapped = DIMS(B, A, side, side);
    const int32_t perm[4] = {1, 0, 2, 3}, transpose[4] = {0, 1, 3, 2};
    const ndblas_view a4 = in(a, shape, 4), b4 = in(b, shape, 4);
    const ndblas_view per_b = in(b, DIMS(B, 1, 1), 3), flat = in(a, DIMS(n), 1);
    const ndblas_view reversed = {a + n - 1, DIMS(n), DIMS(-step), 1, NDBLAS_F64};
    const ndblas_view a_t = {a, shape, DIMS(side * side * step, A * side * side * step, step, side * step), 4,
                             NDBLAS_F64};
    const ndblas_view index = {index_of_rows, DIMS(side, 1), NULL, 2, NDBLAS_I32};
    ndblas_view_mut c4 = out(c, shape, 4), d4 = out(d, shape, 4), c_flat = out(c, DIMS(n), 1);
    ndblas_view_mut c_swapped = out(c, swapped, 4);
    ndblas_scalar sum;
    double value;
    ptrdiff_t at;

#define ROUTINE(number, f) \
    case number: \
        *name = #f; \
        return f
    switch (which) {
        ROUTINE(0, ndblas_fill)(half, &c4);
        ROUTINE(1, ndblas_copy)(&reversed, &c_flat);
        ROUTINE(2, ndblas_swap)(&d4, &c4);
        ROUTINE(3, ndblas_scal)(half, &c4);
        ROUTINE(4, ndblas_axpy)(half, &a_t, &c4);
        ROUTINE(5, ndblas_axpby)(half, &reversed, half, &c_flat);
        ROUTINE(6, ndblas_mul_add)(half, &a_t, &per_b, one, &c4);
        ROUTINE(7, ndblas_rot)(&c4, &d4, 0.6, 0.8);
        ROUTINE(8, ndblas_dotu)(&a_t, &b4, &sum);
        ROUTINE(9, ndblas_dotc)(&flat, &reversed, &sum);
        ROUTINE(10, ndblas_nrm2)(&a_t, &value);
        ROUTINE(11, ndblas_asum)(&reversed, &value);
        ROUTINE(12, ndblas_iamax)(&a_t, &at);
        ROUTINE(13, ndblas_permute)(one, &a4, perm, zero, &c_swapped);
        ROUTINE(14, ndblas_permute)(half, &a4, transpose, half, &c4);
        ROUTINE(IN_PLACE, ndblas_permute_in_place)(&c4, transpose);
        ROUTINE(16, ndblas_gather)(one, &a4, 2, &index, NDBLAS_RAISE, zero, &c4);
        ROUTINE(17, ndblas_scatter_add)(half, &a4, 2, &index, NDBLAS_RAISE, &c4);
        ROUTINE(18, ndblas_daxpy)(n, 0.5, a, -1, c, 1);
        ROUTINE(19, ndblas_ddot)(n, a, -1, b, 1, &value);
    }
    return -1;
}

int main(void) {
    const ptrdiff_t sides[2] = {4, 200};
    int failures = 0;
    for (int s = 0; s < 2; s++) {
        side = sides[s];
        const size_t n = (size_t)(A * B * side * side);
        double **arrays[4] = {&a, &b, &c, &d};
        for (int i = 0; i < 4; i++) {
            if (!(*arrays[i] = malloc(n * sizeof(double))))
                return EXIT_FAILURE;
            for (size_t k = 0; k < n; k++)
                (*arrays[i])[k] = 1.0 / (double)(k + 1);
        }
        if (!(index_of_rows = malloc((size_t)side * sizeof *index_of_rows)))
            return EXIT_FAILURE;
        for (ptrdiff_t k = 0; k < side; k++)
            index_of_rows[k] = (int32_t)(k * 7 % side);

        for (int32_t threads = 1; threads <= 2; threads++) {
            const char *name;
            ndblas_set_num_threads(threads);
            for (int which = 0; call(which, &name) >= 0; which++) {
                calls = bytes = 0;
                counting = 1;
                const int32_t status = call(which, &name);
                counting = 0;
                const size_t scratch =
                    (size_t)threads * ((which == IN_PLACE ? SCRATCH : 0) + (threads > 1 && s > 0 ? SHARE : 0));
                if (status != NDBLAS_OK || bytes > scratch || (calls > 0 && scratch == 0)) {
                    failures++;
                    fprintf(stderr, "%s on %d elements, %d threads: status %d, %d allocations of %d bytes\n", name,
                            (int)n, (int)threads, (int)status, (int)calls, (int)bytes);
                }
            }
        }
        for (int i = 0; i < 4; i++)
            free(*arrays[i]);
        free(index_of_rows);
    }
    ndblas_shutdown();
    if (failures)
        return EXIT_FAILURE;
    puts(COUNTED ? "ok fused_memory" : "ok fused_memory (allocations not counted here)");
    return EXIT_SUCCESS;
}
