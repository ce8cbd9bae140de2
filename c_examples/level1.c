/* Level 1 on views: a column, a reversed row or every other element is an operand where it lies, never a copy. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "ndblas.h"

#define DIMS(...) ((const ptrdiff_t[]){__VA_ARGS__})

enum { STEP = sizeof(double) }; /* strides are in bytes */

static void check(int32_t status) {
    char text[512];
    if (status == NDBLAS_OK)
        return;
    ndblas_last_error(text, sizeof text);
    fprintf(stderr, "level1: %s\n", text);
    exit(EXIT_FAILURE);
}

static void expect(const char *what, double got, double right) {
    printf("%-34s %g\n", what, got);
    if (!(fabs(got - right) <= 1e-12 * fabs(right))) {
        fprintf(stderr, "level1: %s is %.17g, expected %.17g\n", what, got, right);
        exit(EXIT_FAILURE);
    }
}

int main(void) {
    double m[3][4] = {{3, 1, 0, -2}, {0, 5, 1, 2}, {4, -7, 2, 1}};
    const double bias[4] = {10, 20, 30, 40};
    double norm, sum;
    ndblas_scalar dot;
    ptrdiff_t at;

    /* A column: 3 elements, a row apart. */
    ndblas_view_mut column = {&m[0][0], DIMS(3), DIMS(4 * STEP), 1, NDBLAS_F64};
    const ndblas_view column_in = {&m[0][0], DIMS(3), DIMS(4 * STEP), 1, NDBLAS_F64};
    check(ndblas_nrm2(&column_in, &norm));
    expect("|column 0|", norm, 5);
    check(ndblas_scal((ndblas_scalar){1 / norm, 0}, &column));
    expect("column 0 scaled to 1: m[2][0]", m[2][0], 0.8);

    /* NULL strides mean dense, row by row. A vector of 4 is added to every row: inputs broadcast as in NumPy. */
    const ndblas_view row = {bias, DIMS(4), NULL, 1, NDBLAS_F64};
    ndblas_view_mut whole = {m, DIMS(3, 4), NULL, 2, NDBLAS_F64};
    check(ndblas_axpy((ndblas_scalar){1, 0}, &row, &whole));
    expect("after m += bias: m[1][3]", m[1][3], 42);

    /* A negative stride starts at the last element: m[0] . bias reversed. */
    const ndblas_view reversed = {bias + 3, DIMS(4), DIMS(-STEP), 1, NDBLAS_F64};
    const ndblas_view first = {m[0], DIMS(4), NULL, 1, NDBLAS_F64};
    check(ndblas_dotu(&first, &reversed, &dot));
    expect("m[0] . reversed bias", dot.re, 10.6 * 40 + 21 * 30 + 30 * 20 + 38 * 10);

    /* Rows 0 and 2 of columns 1 and 3: the answer of iamax counts within the view, row by row. */
    const ndblas_view block = {&m[0][1], DIMS(2, 2), DIMS(8 * STEP, 2 * STEP), 2, NDBLAS_F64};
    check(ndblas_iamax(&block, &at));
    expect("largest of m[::2, 1::2] is number", (double)at, 3);
    check(ndblas_asum(&block, &sum));
    expect("sum of |m[::2, 1::2]|", sum, 21 + 38 + 13 + 41);

    /* Plain vectors go by their BLAS names, with increments in elements. */
    check(ndblas_ddot(4, m[1], 1, bias, -1, &sum));
    expect("ddot with increments 1 and -1", sum, 10 * 40 + 25 * 30 + 31 * 20 + 42 * 10);
    return EXIT_SUCCESS;
}
