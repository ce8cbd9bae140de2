/* c += alpha*(a*b), element by element, in one pass: no temporary for a*b, none for a transposed or broadcast operand.

   In NumPy, c += a.transpose(1, 0, 2, 3) * b makes an array of c's size for the product and throws it away. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "ndblas.h"

#define DIMS(...) ((const ptrdiff_t[]){__VA_ARGS__})

enum { N = 32, C = 16, H = 24, W = 20 };

static double a[C][N][H][W], b[C][1][1], c[N][C][H][W], mask[N][C][H][W];

static void check(int32_t status) {
    char text[512];
    if (status == NDBLAS_OK)
        return;
    ndblas_last_error(text, sizeof text);
    fprintf(stderr, "fused: %s\n", text);
    exit(EXIT_FAILURE);
}

int main(void) {
    const ndblas_scalar zero = {0, 0}, half = {0.5, 0}, one = {1, 0};
    double worst = 0;

    for (int n = 0; n < N; n++)
        for (int k = 0; k < C; k++)
            for (int y = 0; y < H; y++)
                for (int x = 0; x < W; x++) {
                    a[k][n][y][x] = n - 2.0 * k + 0.25 * y - x;
                    b[k][0][0] = 1 + k;
                    c[n][k][y][x] = 100;
                }

    /* Axis 0 of this view of `a` is its axis 1: the strides say so, nothing moves. `b` broadcasts from (C, 1, 1). */
    const ndblas_view a_t = {a, DIMS(N, C, H, W), DIMS(sizeof a[0][0], sizeof a[0], sizeof a[0][0][0], sizeof(double)),
                             4, NDBLAS_F64};
    const ndblas_view per_channel = {b, DIMS(C, 1, 1), NULL, 3, NDBLAS_F64};
    ndblas_view_mut out = {c, DIMS(N, C, H, W), NULL, 4, NDBLAS_F64};
    check(ndblas_mul_add(half, &a_t, &per_channel, one, &out));

    for (int n = 0; n < N; n++)
        for (int k = 0; k < C; k++)
            for (int y = 0; y < H; y++)
                for (int x = 0; x < W; x++)
                    worst = fmax(worst, fabs(c[n][k][y][x] - (100 + 0.5 * (a[k][n][y][x] * b[k][0][0]))));
    printf("c += 0.5 * a.T(1,0,2,3) * b   %d elements, largest error %g\n", N * C * H * W, worst);
    if (worst > 1e-11)
        return EXIT_FAILURE;

    /* An output may be exactly an input: the ReLU of a network, c = c * (c > 0), and its gradient, work in place. */
    for (int n = 0; n < N; n++)
        for (int k = 0; k < C; k++)
            for (int y = 0; y < H; y++)
                for (int x = 0; x < W; x++)
                    mask[n][k][y][x] = c[n][k][y][x] > 0;
    const ndblas_view c_in = {c, DIMS(N, C, H, W), NULL, 4, NDBLAS_F64};
    const ndblas_view mask_in = {mask, DIMS(N, C, H, W), NULL, 4, NDBLAS_F64};
    check(ndblas_mul_add(one, &c_in, &mask_in, zero, &out));

    long negative = 0, masked = 0;
    for (int n = 0; n < N; n++)
        for (int k = 0; k < C; k++)
            for (int y = 0; y < H; y++)
                for (int x = 0; x < W; x++) {
                    negative += c[n][k][y][x] < 0;
                    masked += mask[n][k][y][x] == 0;
                }
    printf("c = c * (c > 0), in place     %ld elements masked, %ld negative left\n", masked, negative);
    return masked > 0 && negative == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
