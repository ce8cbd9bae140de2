/* A user's first program, for the install tests: y <- y + 2*x over a reversed view. Also valid C++. */
#include <ndblas.h>
#include <stdio.h>

int main(void) {
    double x[3] = {1, 2, 3}, y[3] = {10, 20, 30};
    ptrdiff_t shape[1] = {3}, back[1] = {-(ptrdiff_t)sizeof(double)};
    ndblas_scalar two = {2, 0};
    ndblas_view xv = {&x[2], shape, back, 1, NDBLAS_F64};
    ndblas_view_mut yv = {y, shape, NULL, 1, NDBLAS_F64};
    char message[256];

    if (ndblas_axpy(two, &xv, &yv) != NDBLAS_OK) {
        ndblas_last_error(message, sizeof message);
        fprintf(stderr, "ndblas_axpy: %s\n", message);
        return 1;
    }
    if (y[0] != 16 || y[1] != 24 || y[2] != 32) {
        fprintf(stderr, "got %g %g %g, not 16 24 32\n", y[0], y[1], y[2]);
        return 1;
    }
    printf("%s\n", ndblas_config());
    return 0;
}
