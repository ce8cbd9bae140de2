/* Storing and restoring a transposed 4-d array, in NumPy's terms

       stored[...]   = x.transpose(1, 0, 2, 3)
       restored[...] = stored.transpose(1, 0, 2, 3)

   as one pass each, between two arrays which were there before. (1, 0, 2, 3) is its own inverse. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ndblas.h"

#define DIMS(...) ((const ptrdiff_t[]){__VA_ARGS__})

enum { N = 6, C = 5, H = 7, W = 9 };

static void check(int32_t status) {
    char text[512];
    if (status == NDBLAS_OK)
        return;
    ndblas_last_error(text, sizeof text);
    fprintf(stderr, "permute: %s\n", text);
    exit(EXIT_FAILURE);
}

static void expect(int right, const char *what) {
    printf("%-60s %s\n", what, right ? "ok" : "WRONG");
    if (!right)
        exit(EXIT_FAILURE);
}

int main(void) {
    static float x[N][C][H][W], stored[C][N][H][W], restored[N][C][H][W];
    const int32_t perm[4] = {1, 0, 2, 3};
    const ndblas_scalar zero = {0, 0}, one = {1, 0}, two = {2, 0};
    int right = 1;

    for (int n = 0; n < N; n++)
        for (int c = 0; c < C; c++)
            for (int h = 0; h < H; h++)
                for (int w = 0; w < W; w++)
                    x[n][c][h][w] = (float)(1000 * n + 100 * c + 10 * h + w);

    const ndblas_view x_in = {x, DIMS(N, C, H, W), NULL, 4, NDBLAS_F32};
    const ndblas_view stored_in = {stored, DIMS(C, N, H, W), NULL, 4, NDBLAS_F32};
    ndblas_view_mut stored_out = {stored, DIMS(C, N, H, W), NULL, 4, NDBLAS_F32};
    ndblas_view_mut restored_out = {restored, DIMS(N, C, H, W), NULL, 4, NDBLAS_F32};

    /* Axis d of the output is axis perm[d] of the input. With beta = 0 the output is only written. */
    check(ndblas_permute(one, &x_in, perm, zero, &stored_out));
    for (int n = 0; n < N; n++)
        for (int c = 0; c < C; c++)
            right &= !memcmp(stored[c][n], x[n][c], sizeof x[n][c]);
    expect(right, "stored = x.transpose(1, 0, 2, 3)");

    check(ndblas_permute(one, &stored_in, perm, zero, &restored_out));
    expect(!memcmp(restored, x, sizeof x), "restored = stored.transpose(1, 0, 2, 3), equal to x");

    /* The pass may scale and add: out <- beta*out + alpha*transpose(a). Here a gradient is accumulated. */
    check(ndblas_permute(two, &stored_in, perm, one, &restored_out));
    expect(restored[5][4][6][8] == 3 * x[5][4][6][8], "restored += 2 * stored.transpose(1, 0, 2, 3)");

    /* Without a second array: the same memory, then of shape (C, N, H, W). */
    ndblas_view_mut x_out = {x, DIMS(N, C, H, W), NULL, 4, NDBLAS_F32};
    check(ndblas_permute_in_place(&x_out, perm));
    expect(!memcmp(x, stored, sizeof x), "x permuted in place, equal to stored");
    return EXIT_SUCCESS;
}
