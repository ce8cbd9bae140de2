/* c[i,l,k] = a[i, b[i,l], k] without index tensors, and its gradient.

   In NumPy: c = np.take_along_axis(a, b[:, :, None], axis=1), or a[np.arange(I)[:, None], b]; the gradient needs
   np.add.at. Here the index is read as it is, rows of k are moved whole, and the gradient is the same call turned
   round. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ndblas.h"

#define DIMS(...) ((const ptrdiff_t[]){__VA_ARGS__})

enum { I = 3, N = 5, L = 4, K = 6 };

static void check(int32_t status) {
    char text[512];
    if (status == NDBLAS_OK)
        return;
    ndblas_last_error(text, sizeof text);
    fprintf(stderr, "indexed: %s\n", text);
    exit(EXIT_FAILURE);
}

static void expect(int right, const char *what) {
    printf("%-60s %s\n", what, right ? "ok" : "WRONG");
    if (!right)
        exit(EXIT_FAILURE);
}

int main(void) {
    double a[I][N][K], c[I][L][K], g[I][L][K], da[I][N][K], before[I][N][K];
    int32_t b[I][L] = {{0, 2, 2, 4}, {1, 1, 1, 1}, {4, 3, -5, -1}}; /* negative counts from the end */
    const ndblas_scalar zero = {0, 0}, one = {1, 0};
    ndblas_scalar forward, backward;
    char text[512];
    int right = 1;

    for (int i = 0; i < I; i++)
        for (int k = 0; k < K; k++) {
            for (int n = 0; n < N; n++) {
                a[i][n][k] = 100 * i + 10 * n + k;
                da[i][n][k] = 0;
            }
            for (int l = 0; l < L; l++)
                g[i][l][k] = 1 + i + 2 * l - k;
        }

    const ndblas_view a_in = {a, DIMS(I, N, K), NULL, 3, NDBLAS_F64}, g_in = {g, DIMS(I, L, K), NULL, 3, NDBLAS_F64};
    const ndblas_view c_in = {c, DIMS(I, L, K), NULL, 3, NDBLAS_F64}, da_in = {da, DIMS(I, N, K), NULL, 3, NDBLAS_F64};
    const ndblas_view index = {b, DIMS(I, L, 1), NULL, 3, NDBLAS_I32}; /* broadcasts along k */
    ndblas_view_mut c_out = {c, DIMS(I, L, K), NULL, 3, NDBLAS_F64}, da_out = {da, DIMS(I, N, K), NULL, 3, NDBLAS_F64};

    check(ndblas_gather(one, &a_in, 1, &index, NDBLAS_RAISE, zero, &c_out));
    for (int i = 0; i < I; i++)
        for (int l = 0; l < L; l++)
            right &= !memcmp(c[i][l], a[i][b[i][l] < 0 ? b[i][l] + N : b[i][l]], sizeof c[i][l]);
    expect(right, "c[i,l,k] = a[i, b[i,l], k]");

    /* Rows taken twice get two gradients: all of them are added, in the order of a serial loop. */
    check(ndblas_scatter_add(one, &g_in, 1, &index, NDBLAS_RAISE, &da_out));
    expect(da[1][1][2] == g[1][0][2] + g[1][1][2] + g[1][2][2] + g[1][3][2], "da[i, b[i,l], k] += g[i,l,k]");

    /* What makes it the gradient: <gather(a), g> = <a, scatter_add(g)>. */
    check(ndblas_dotu(&c_in, &g_in, &forward));
    check(ndblas_dotu(&a_in, &da_in, &backward));
    printf("<c, g> = %g, <a, da> = %g\n", forward.re, backward.re);
    expect(fabs(forward.re - backward.re) <= 1e-12 * fabs(forward.re), "the two agree");

    /* An index out of range is found before anything is written, and the message says where it is. */
    b[1][3] = 7;
    memcpy(before, da, sizeof da);
    const int32_t status = ndblas_scatter_add(one, &g_in, 1, &index, NDBLAS_RAISE, &da_out);
    expect(status == NDBLAS_ERR_INDEX, "a bad index is refused");
    expect(!memcmp(before, da, sizeof da), "with nothing written");
    ndblas_last_error(text, sizeof text);
    printf("  \"%s\"\n", text);

    /* Or it is meant so, as padding: NDBLAS_DROP reads zero there. */
    check(ndblas_gather(one, &a_in, 1, &index, NDBLAS_DROP, zero, &c_out));
    expect(c[1][3][0] == 0 && c[1][2][0] == a[1][1][0], "or read as zero, with NDBLAS_DROP");
    return EXIT_SUCCESS;
}
