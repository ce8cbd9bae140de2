/* Calls from inside OpenMP regions, nested ones too: right values, no deadlock. */
#define _XOPEN_SOURCE 700
#include "ndblas.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 400000 };

static int large_call(void) {
    double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
    int wrong = !x || !y;
    for (int i = 0; !wrong && i < N; i++) x[i] = 1, y[i] = i;
    wrong |= wrong || ndblas_daxpy(N, 2, x, 1, y, 1) != NDBLAS_OK;
    for (int i = 0; !wrong && i < N; i++) wrong |= y[i] != i + 2.0;
    free(x);
    free(y);
    return wrong;
}

int main(void) {
    int wrong = 0;
    alarm(120);
    ndblas_set_num_threads(4);
#pragma omp parallel for num_threads(8) reduction(| : wrong)
    for (int i = 0; i < 64; i++) wrong |= large_call();
#pragma omp parallel num_threads(3) reduction(| : wrong)
    {
#pragma omp parallel for num_threads(3) reduction(| : wrong)
        for (int i = 0; i < 9; i++) wrong |= large_call();
    }
    puts(wrong ? "wrong in an OpenMP region" : "openmp: right");
    return wrong;
}
