/* The C ABI in C99: the layout of its structs, its numbers, one checked value of every routine, and every kind of error
   with its status, its message, and nothing written. Values in depth are the business of the Rust tests. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ndblas.h"

static int failures = 0;

#define EXPECT(condition) \
    do { \
        if (!(condition)) { \
            failures++; \
            fprintf(stderr, "%s:%d: %s is false; last error: %s\n", __FILE__, __LINE__, #condition, message()); \
        } \
    } while (0)

#define OK(call) EXPECT((call) == NDBLAS_OK)

/* An error: its status, and words its message must hold. */
#define REFUSED(status, call, ...) \
    do { \
        memcpy(saved, memory, sizeof memory); \
        refused(__LINE__, #call, (call), (status), __VA_ARGS__, (const char *)NULL); \
        EXPECT(!memcmp(saved, memory, sizeof memory)); \
    } while (0)

#define DIMS(...) ((const ptrdiff_t[]){__VA_ARGS__})
#define RANK(...) ((int32_t)(sizeof(DIMS(__VA_ARGS__)) / sizeof(ptrdiff_t)))
#define IN(dtype, p, ...) (&(ndblas_view){(p), DIMS(__VA_ARGS__), NULL, RANK(__VA_ARGS__), NDBLAS_##dtype})
#define OUT(dtype, p, ...) (&(ndblas_view_mut){(p), DIMS(__VA_ARGS__), NULL, RANK(__VA_ARGS__), NDBLAS_##dtype})
#define PERM(...) ((const int32_t[]){__VA_ARGS__})
#define STEP ((ptrdiff_t)sizeof(double))

static const ndblas_scalar zero = {0, 0}, one = {1, 0}, two = {2, 0};

/* What the refused calls would write to. */
static double memory[64], saved[64];

static const char *message(void) {
    static char text[4096];
    ndblas_last_error(text, sizeof text);
    return text;
}

static void refused(int line, const char *call, int32_t got, int32_t right, ...) {
    va_list words;
    if (got != right) {
        failures++;
        fprintf(stderr, "%s:%d: status %d, expected %d: %s\n  %s\n", __FILE__, line, (int)got, (int)right, call,
                got ? message() : "");
        return;
    }
    va_start(words, right);
    for (const char *word; (word = va_arg(words, const char *)) != NULL;)
        if (!strstr(message(), word)) {
            failures++;
            fprintf(stderr, "%s:%d: the message does not say \"%s\": %s\n  %s\n", __FILE__, line, word, call,
                    message());
        }
    va_end(words);
}

static int same(const double *got, int n, ...) {
    va_list right;
    int equal = 1;
    va_start(right, n);
    for (int i = 0; i < n; i++)
        equal &= got[i] == va_arg(right, double);
    va_end(right);
    return equal;
}

static int near(double got, double right) { return fabs(got - right) <= 1e-6 * fabs(right); }

static void layout(void) {
    const size_t p = sizeof(void *);
    EXPECT(offsetof(ndblas_view, data) == 0 && offsetof(ndblas_view_mut, data) == 0);
    EXPECT(offsetof(ndblas_view, shape) == p && offsetof(ndblas_view_mut, shape) == p);
    EXPECT(offsetof(ndblas_view, strides) == 2 * p && offsetof(ndblas_view_mut, strides) == 2 * p);
    EXPECT(offsetof(ndblas_view, ndim) == 3 * p && offsetof(ndblas_view_mut, ndim) == 3 * p);
    EXPECT(offsetof(ndblas_view, dtype) == 3 * p + 4 && offsetof(ndblas_view_mut, dtype) == 3 * p + 4);
    EXPECT(sizeof(ndblas_view) == 3 * p + 8 && sizeof(ndblas_view_mut) == 3 * p + 8);
    EXPECT(offsetof(ndblas_scalar, re) == 0 && offsetof(ndblas_scalar, im) == 8 && sizeof(ndblas_scalar) == 16);
    EXPECT(sizeof(((ndblas_view *)NULL)->ndim) == 4 && sizeof(((ndblas_view *)NULL)->dtype) == 4);
}

static void numbers(void) {
    const struct {
        int got, right;
    } table[] = {
        {NDBLAS_F32, 1},          {NDBLAS_F64, 2},       {NDBLAS_COMPLEX64, 3}, {NDBLAS_COMPLEX128, 4},
        {NDBLAS_I8, 5},           {NDBLAS_I16, 6},       {NDBLAS_I32, 7},       {NDBLAS_I64, 8},
        {NDBLAS_U8, 9},           {NDBLAS_U16, 10},      {NDBLAS_U32, 11},      {NDBLAS_U64, 12},
        {NDBLAS_RAISE, 0},        {NDBLAS_WRAP, 1},      {NDBLAS_CLIP, 2},      {NDBLAS_DROP, 3},
        {NDBLAS_OK, 0},           {NDBLAS_ERR_NULL, 1},  {NDBLAS_ERR_SHAPE, 2}, {NDBLAS_ERR_DTYPE, 3},
        {NDBLAS_ERR_AXIS, 4},     {NDBLAS_ERR_OVERLAP, 5}, {NDBLAS_ERR_INDEX, 6}, {NDBLAS_ERR_LAYOUT, 7},
        {NDBLAS_ERR_ARGUMENT, 8}, {NDBLAS_ERR_MEMORY, 9}, {NDBLAS_ERR_INTERNAL, 10}, {NDBLAS_MAX_NDIM, 64},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].got != table[i].right) {
            failures++;
            fprintf(stderr, "%s: number %d is %d, expected %d\n", __FILE__, (int)i, table[i].got, table[i].right);
        }
}

static void routines_on_views(void) {
    double x[4] = {1, -2, 3, -4}, y[4], m[6] = {0, 1, 2, 3, 4, 5}, t[6], value;
    ndblas_scalar sum;
    ptrdiff_t at;

    OK(ndblas_fill(two, OUT(F64, y, 4)));
    EXPECT(same(y, 4, 2.0, 2.0, 2.0, 2.0));
    OK(ndblas_copy(IN(F64, x, 4), OUT(F64, y, 4)));
    EXPECT(same(y, 4, 1.0, -2.0, 3.0, -4.0));
    OK(ndblas_scal(two, OUT(F64, y, 4)));
    EXPECT(same(y, 4, 2.0, -4.0, 6.0, -8.0));
    OK(ndblas_swap(OUT(F64, x, 4), OUT(F64, y, 4)));
    EXPECT(same(y, 4, 1.0, -2.0, 3.0, -4.0) && same(x, 4, 2.0, -4.0, 6.0, -8.0));
    OK(ndblas_axpy(two, IN(F64, x, 4), OUT(F64, y, 4)));
    EXPECT(same(y, 4, 5.0, -10.0, 15.0, -20.0));
    OK(ndblas_axpby(one, IN(F64, x, 4), two, OUT(F64, y, 4)));
    EXPECT(same(y, 4, 12.0, -24.0, 36.0, -48.0));
    y[0] = NAN;
    OK(ndblas_axpby(one, IN(F64, x, 4), zero, OUT(F64, y, 4)));
    EXPECT(same(y, 4, 2.0, -4.0, 6.0, -8.0));
    OK(ndblas_mul_add(two, IN(F64, x, 2, 2), IN(F64, m + 1, 2, 1), one, OUT(F64, y, 2, 2)));
    EXPECT(same(y, 4, 6.0, -12.0, 30.0, -40.0));
    x[0] = 1;
    y[0] = 2;
    OK(ndblas_rot(OUT(F64, x, 1), OUT(F64, y, 1), 0.5, 0.25));
    EXPECT(x[0] == 1.0 && y[0] == 0.75);

    OK(ndblas_dotu(IN(F64, m, 6), IN(F64, m, 6), &sum));
    EXPECT(sum.re == 55 && sum.im == 0);
    const double z[4] = {1, 2, 3, 4}, w[4] = {5, 6, 7, 8}; /* 1+2i, 3+4i; 5+6i, 7+8i */
    OK(ndblas_dotu(IN(COMPLEX128, z, 2), IN(COMPLEX128, w, 2), &sum));
    EXPECT(sum.re == -18 && sum.im == 68);
    OK(ndblas_dotc(IN(COMPLEX128, z, 2), IN(COMPLEX128, w, 2), &sum));
    EXPECT(sum.re == 70 && sum.im == -8);
    OK(ndblas_nrm2(IN(F64, z + 2, 2), &value));
    EXPECT(value == 5);
    OK(ndblas_asum(IN(COMPLEX128, z, 2), &value));
    EXPECT(value == 10);
    OK(ndblas_iamax(IN(F64, m, 2, 3), &at));
    EXPECT(at == 5);

    OK(ndblas_permute(one, IN(F64, m, 2, 3), PERM(1, 0), zero, OUT(F64, t, 3, 2)));
    EXPECT(same(t, 6, 0.0, 3.0, 1.0, 4.0, 2.0, 5.0));
    OK(ndblas_permute(two, IN(F64, m, 2, 3), NULL, one, OUT(F64, t, 3, 2)));
    EXPECT(same(t, 6, 0.0, 9.0, 3.0, 12.0, 6.0, 15.0));
    OK(ndblas_permute_in_place(OUT(F64, t, 3, 2), NULL));
    EXPECT(same(t, 6, 0.0, 3.0, 6.0, 9.0, 12.0, 15.0));

    const uint8_t b[2] = {2, 0};
    double rows[4] = {NAN, NAN, NAN, NAN};
    OK(ndblas_gather(one, IN(F64, m, 3, 2), 0, IN(U8, b, 2, 1), NDBLAS_RAISE, zero, OUT(F64, rows, 2, 2)));
    EXPECT(same(rows, 4, 4.0, 5.0, 0.0, 1.0));
    OK(ndblas_scatter_add(two, IN(F64, rows, 2, 2), -2, IN(U8, b, 2, 1), NDBLAS_RAISE, OUT(F64, m, 3, 2)));
    EXPECT(same(m, 6, 0.0, 3.0, 2.0, 3.0, 12.0, 15.0));

    /* Index 3 and -4 of an extent of 3, in each mode. */
    const int64_t far[2] = {3, -4};
    const double a[3] = {10, 20, 30};
    OK(ndblas_gather(one, IN(F64, a, 3), 0, IN(I64, far, 2), NDBLAS_WRAP, zero, OUT(F64, rows, 2)));
    EXPECT(same(rows, 2, 10.0, 30.0));
    OK(ndblas_gather(one, IN(F64, a, 3), 0, IN(I64, far, 2), NDBLAS_CLIP, zero, OUT(F64, rows, 2)));
    EXPECT(same(rows, 2, 30.0, 10.0));
    OK(ndblas_gather(one, IN(F64, a, 3), 0, IN(I64, far, 2), NDBLAS_DROP, zero, OUT(F64, rows, 2)));
    EXPECT(same(rows, 2, 0.0, 0.0));

    /* Every dtype moves; integers add up, modulo 2^n, in a scatter_add. */
    uint16_t from[3] = {1, 2, 65535}, to[3];
    int32_t first[3] = {0, 0, 0};
    OK(ndblas_copy(IN(U16, from, 3), OUT(U16, to, 3)));
    OK(ndblas_scatter_add(one, IN(U16, from, 3), 0, IN(I32, first, 3), NDBLAS_RAISE, OUT(U16, to, 3)));
    EXPECT(to[0] == 3 && to[1] == 2 && to[2] == 65535);
    const float xf[2] = {1, 2};
    float yf[2] = {1, 1}, xc[2] = {1, 2}, yc[2] = {0, 1};
    OK(ndblas_axpy(two, IN(F32, xf, 2), OUT(F32, yf, 2)));
    EXPECT(yf[0] == 3 && yf[1] == 5);
    OK(ndblas_axpy((ndblas_scalar){0, 1}, IN(COMPLEX64, xc, 1), OUT(COMPLEX64, yc, 1)));
    EXPECT(yc[0] == -2 && yc[1] == 2);
}

/* Any layout is an operand: reversed, broadcast by a stride of 0, unaligned, interleaved, empty, of rank 0. */
static void layouts(void) {
    double v[4] = {1, 2, 3, 4};
    const ndblas_view reversed = {v + 3, DIMS(4), DIMS(-STEP), 1, NDBLAS_F64};
    double y[4] = {0, 0, 0, 0}, value = 7;
    ptrdiff_t at = 7;
    ndblas_scalar sum = two;
    OK(ndblas_copy(&reversed, OUT(F64, y, 4)));
    EXPECT(same(y, 4, 4.0, 3.0, 2.0, 1.0));

    const ndblas_view repeated = {v, DIMS(4), DIMS(0), 1, NDBLAS_F64};
    OK(ndblas_axpy(one, &repeated, OUT(F64, y, 4)));
    EXPECT(same(y, 4, 5.0, 4.0, 3.0, 2.0));

    unsigned char bytes[3 * 9 + 1];
    for (int i = 0; i < 3; i++)
        memcpy(bytes + 1 + 9 * i, &v[i], sizeof v[i]);
    const ndblas_view packed = {bytes + 1, DIMS(3), DIMS(9), 1, NDBLAS_F64};
    OK(ndblas_asum(&packed, &value));
    EXPECT(value == 6);

    const ndblas_view odd = {v + 1, DIMS(2), DIMS(2 * STEP), 1, NDBLAS_F64};
    ndblas_view_mut even = {v, DIMS(2), DIMS(2 * STEP), 1, NDBLAS_F64};
    OK(ndblas_axpy(two, &odd, &even));
    EXPECT(same(v, 4, 5.0, 2.0, 11.0, 4.0));

    OK(ndblas_axpy(one, IN(F64, NULL, 0, 3), OUT(F64, NULL, 0, 3)));
    OK(ndblas_gather(one, IN(F64, NULL, 0), 0, IN(I32, NULL, 0), NDBLAS_RAISE, zero, OUT(F64, NULL, 0)));
    OK(ndblas_dotu(IN(F64, NULL, 0), IN(F64, NULL, 0), &sum));
    EXPECT(sum.re == 0 && sum.im == 0);
    OK(ndblas_nrm2(IN(F64, NULL, 2, 0), &value));
    EXPECT(value == 0);
    OK(ndblas_iamax(IN(F64, NULL, 0), &at));
    EXPECT(at == -1);

    const ndblas_view x0 = {v, NULL, NULL, 0, NDBLAS_F64};
    ndblas_view_mut y0 = {y, NULL, NULL, 0, NDBLAS_F64};
    OK(ndblas_axpy(one, &x0, &y0));
    EXPECT(y[0] == 10 && y[1] == 4);

    /* An output that is exactly an input is element by element. */
    OK(ndblas_mul_add(one, IN(F64, v, 4), IN(F64, v, 4), zero, OUT(F64, v, 4)));
    EXPECT(same(v, 4, 25.0, 4.0, 121.0, 16.0));
}

static void routines_on_vectors(void) {
    const float fx[3] = {1, -2, 3};
    const double dx[3] = {1, -2, 3};
    float fy[3] = {1, 1, 1}, fz[3], f;
    double dy[3] = {1, 1, 1}, dz[3], d;
    ptrdiff_t at;

    OK(ndblas_saxpy(3, 2, fx, 1, fy, 1));
    EXPECT(fy[0] == 3 && fy[1] == -3 && fy[2] == 7);
    OK(ndblas_daxpy(3, 2, dx, -1, dy, 1)); /* the last element first, BLAS's rule */
    EXPECT(same(dy, 3, 7.0, -3.0, 3.0));
    OK(ndblas_saxpby(3, 1, fx, 1, 2, fy, 1));
    EXPECT(fy[0] == 7 && fy[1] == -8 && fy[2] == 17);
    OK(ndblas_daxpby(3, 1, dx, 1, 0, dy, 1));
    EXPECT(same(dy, 3, 1.0, -2.0, 3.0));
    OK(ndblas_sscal(3, 2, fy, -1)); /* not a no-op, as it is in BLAS */
    EXPECT(fy[0] == 14 && fy[1] == -16 && fy[2] == 34);
    OK(ndblas_dscal(2, 3, dy, 2));
    EXPECT(same(dy, 3, 3.0, -2.0, 9.0));
    OK(ndblas_scopy(3, fx, 1, fz, -1));
    EXPECT(fz[0] == 3 && fz[1] == -2 && fz[2] == 1);
    OK(ndblas_dcopy(3, dx, 1, dz, 1));
    EXPECT(same(dz, 3, 1.0, -2.0, 3.0));
    OK(ndblas_sswap(3, fy, 1, fz, 1));
    EXPECT(fz[0] == 14 && fy[0] == 3);
    OK(ndblas_dswap(3, dy, 1, dz, 1));
    EXPECT(dz[0] == 3 && dy[0] == 1);
    OK(ndblas_sdot(3, fx, 1, fx, 1, &f));
    EXPECT(f == 14);
    OK(ndblas_ddot(3, dx, 1, dx, -1, &d));
    EXPECT(d == 10);
    OK(ndblas_snrm2(2, (const float[]){3, 4}, 1, &f));
    EXPECT(near(f, 5));
    OK(ndblas_dnrm2(2, (const double[]){3, 4}, 1, &d));
    EXPECT(near(d, 5));
    OK(ndblas_sasum(3, fx, -1, &f));
    EXPECT(f == 6);
    OK(ndblas_dasum(3, dx, 1, &d));
    EXPECT(d == 6);
    OK(ndblas_isamax(3, fx, 1, &at));
    EXPECT(at == 2);
    OK(ndblas_idamax(3, dx, -1, &at)); /* counted as the increment goes */
    EXPECT(at == 0);
    float rx = 1, ry = 2;
    OK(ndblas_srot(1, &rx, 1, &ry, 1, 0.5f, 0.25f));
    EXPECT(rx == 1 && ry == 0.75f);
    double qx = 1, qy = 2;
    OK(ndblas_drot(1, &qx, 1, &qy, 1, 0.5, 0.25));
    EXPECT(qx == 1 && qy == 0.75);

    /* Complex vectors and scalars go by address, as in CBLAS. */
    const float cx[4] = {1, 2, 3, 4}, ci[2] = {0, 1}, c1[2] = {1, 0};
    const double zx[4] = {1, 2, 3, 4}, zi[2] = {0, 1}, z1[2] = {1, 0};
    float cy[4] = {5, 6, 7, 8}, cz[4], cr[2];
    double zy[4] = {5, 6, 7, 8}, zz[4], zr[2];
    OK(ndblas_cdotu(2, cx, 1, cy, 1, cr));
    EXPECT(cr[0] == -18 && cr[1] == 68);
    OK(ndblas_cdotc(2, cx, 1, cy, 1, cr));
    EXPECT(cr[0] == 70 && cr[1] == -8);
    OK(ndblas_zdotu(2, zx, 1, zy, 1, zr));
    EXPECT(zr[0] == -18 && zr[1] == 68);
    OK(ndblas_zdotc(2, zx, 1, zy, 1, zr));
    EXPECT(zr[0] == 70 && zr[1] == -8);
    OK(ndblas_caxpy(2, ci, cx, 1, cy, 1));
    EXPECT(cy[0] == 3 && cy[1] == 7 && cy[2] == 3 && cy[3] == 11);
    OK(ndblas_zaxpy(2, zi, zx, 1, zy, 1));
    EXPECT(same(zy, 4, 3.0, 7.0, 3.0, 11.0));
    OK(ndblas_caxpby(2, c1, cx, 1, ci, cy, 1));
    EXPECT(cy[0] == -6 && cy[1] == 5 && cy[2] == -8 && cy[3] == 7);
    OK(ndblas_zaxpby(2, z1, zx, 1, zi, zy, 1));
    EXPECT(same(zy, 4, -6.0, 5.0, -8.0, 7.0));
    OK(ndblas_cscal(2, ci, cy, 1));
    EXPECT(cy[0] == -5 && cy[1] == -6 && cy[2] == -7 && cy[3] == -8);
    OK(ndblas_zscal(2, zi, zy, 1));
    EXPECT(same(zy, 4, -5.0, -6.0, -7.0, -8.0));
    OK(ndblas_csscal(2, -1, cy, 1));
    EXPECT(cy[0] == 5 && cy[3] == 8);
    OK(ndblas_zdscal(2, -1, zy, 1));
    EXPECT(same(zy, 4, 5.0, 6.0, 7.0, 8.0));
    OK(ndblas_ccopy(2, cx, 1, cz, -1));
    EXPECT(cz[0] == 3 && cz[1] == 4 && cz[2] == 1 && cz[3] == 2);
    OK(ndblas_zcopy(2, zx, 1, zz, 1));
    EXPECT(same(zz, 4, 1.0, 2.0, 3.0, 4.0));
    OK(ndblas_cswap(2, cy, 1, cz, 1));
    EXPECT(cy[0] == 3 && cz[0] == 5);
    OK(ndblas_zswap(2, zy, 1, zz, 1));
    EXPECT(zy[0] == 1 && zz[0] == 5);
    OK(ndblas_scnrm2(1, (const float[]){3, 4}, 1, &f));
    EXPECT(near(f, 5));
    OK(ndblas_dznrm2(1, (const double[]){3, 4}, 1, &d));
    EXPECT(near(d, 5));
    OK(ndblas_scasum(2, cx, 1, &f));
    EXPECT(f == 10);
    OK(ndblas_dzasum(2, zx, 1, &d));
    EXPECT(d == 10);
    OK(ndblas_icamax(2, cx, 1, &at));
    EXPECT(at == 1);
    OK(ndblas_izamax(2, zx, -1, &at));
    EXPECT(at == 0);

    /* n <= 0 does nothing, with any pointers; an increment of 0 repeats an input. */
    OK(ndblas_daxpy(0, 2, NULL, 1, NULL, 1));
    OK(ndblas_dscal(-1, 2, NULL, 1));
    OK(ndblas_idamax(0, NULL, 1, &at));
    EXPECT(at == -1);
    OK(ndblas_ddot(3, dx, 1, z1, 0, &d));
    EXPECT(d == 2);
}

static void errors(void) {
    const double x[6] = {1, 2, 3, 4, 5, 6};
    double *y = memory;
    ndblas_scalar sum = {7, 7};
    double value = 7;
    ptrdiff_t at = 7;
    for (int i = 0; i < 64; i++)
        memory[i] = i;

    /* NULL: a view, a result, shape, data */
    REFUSED(NDBLAS_ERR_NULL, ndblas_fill(one, NULL), "y");
    REFUSED(NDBLAS_ERR_NULL, ndblas_copy(NULL, OUT(F64, y, 6)), "x");
    REFUSED(NDBLAS_ERR_NULL, ndblas_copy(IN(F64, x, 6), NULL), "y");
    REFUSED(NDBLAS_ERR_NULL, ndblas_swap(OUT(F64, y, 6), NULL), "y");
    REFUSED(NDBLAS_ERR_NULL, ndblas_scal(one, NULL), "y");
    REFUSED(NDBLAS_ERR_NULL, ndblas_axpy(one, NULL, OUT(F64, y, 6)), "x");
    REFUSED(NDBLAS_ERR_NULL, ndblas_axpby(one, NULL, one, OUT(F64, y, 6)), "x");
    REFUSED(NDBLAS_ERR_NULL, ndblas_mul_add(one, IN(F64, x, 6), NULL, one, OUT(F64, y, 6)), "b");
    REFUSED(NDBLAS_ERR_NULL, ndblas_rot(NULL, OUT(F64, y, 6), 1, 0), "x");
    REFUSED(NDBLAS_ERR_NULL, ndblas_dotu(IN(F64, x, 6), NULL, &sum), "y");
    REFUSED(NDBLAS_ERR_NULL, ndblas_dotc(IN(F64, x, 6), IN(F64, x, 6), NULL), "result");
    REFUSED(NDBLAS_ERR_NULL, ndblas_nrm2(IN(F64, x, 6), NULL), "result");
    REFUSED(NDBLAS_ERR_NULL, ndblas_asum(NULL, &value), "x");
    REFUSED(NDBLAS_ERR_NULL, ndblas_iamax(IN(F64, x, 6), NULL), "result");
    REFUSED(NDBLAS_ERR_NULL, ndblas_permute(one, NULL, NULL, zero, OUT(F64, y, 6)), "a");
    REFUSED(NDBLAS_ERR_NULL, ndblas_permute_in_place(NULL, NULL), "a");
    REFUSED(NDBLAS_ERR_NULL,
            ndblas_gather(one, IN(F64, x, 6), 0, NULL, NDBLAS_RAISE, zero, OUT(F64, y, 6)), "index");
    REFUSED(NDBLAS_ERR_NULL,
            ndblas_scatter_add(one, NULL, 0, IN(I32, memory, 6), NDBLAS_RAISE, OUT(F64, y, 6)), "src");
    REFUSED(NDBLAS_ERR_NULL, ndblas_axpy(one, IN(F64, NULL, 6), OUT(F64, y, 6)), "x");
    const ndblas_view no_shape = {x, NULL, NULL, 1, NDBLAS_F64};
    REFUSED(NDBLAS_ERR_NULL, ndblas_axpy(one, &no_shape, OUT(F64, y, 6)), "x");
    REFUSED(NDBLAS_ERR_NULL, ndblas_daxpy(6, 1, NULL, 1, y, 1), "x");
    REFUSED(NDBLAS_ERR_NULL, ndblas_ddot(6, x, 1, x, 1, NULL), "result");

    /* Ranks, extents, sizes */
    ptrdiff_t ones[65];
    for (int i = 0; i < 65; i++)
        ones[i] = 1;
    const ndblas_view rank_65 = {x, ones, NULL, 65, NDBLAS_F64}, rank_minus = {x, ones, NULL, -1, NDBLAS_F64};
    const ndblas_view rank_64 = {x, ones, NULL, 64, NDBLAS_F64};
    REFUSED(NDBLAS_ERR_SHAPE, ndblas_asum(&rank_65, &value), "x", "65");
    REFUSED(NDBLAS_ERR_SHAPE, ndblas_asum(&rank_minus, &value), "x", "-1");
    OK(ndblas_asum(&rank_64, &value));
    EXPECT(value == 1);
    value = 7;
    REFUSED(NDBLAS_ERR_SHAPE, ndblas_asum(IN(F64, x, 2, -3), &value), "x", "(2, -3)");
    const ptrdiff_t large = PTRDIFF_MAX / 2;
    const ndblas_view huge = {x, DIMS(large, large), DIMS(0, 0), 2, NDBLAS_F64};
    REFUSED(NDBLAS_ERR_SHAPE, ndblas_asum(&huge, &value), "x");
    REFUSED(NDBLAS_ERR_SHAPE, ndblas_asum(IN(F64, x, large), &value), "x"); /* its size in bytes */
    const ndblas_view far_apart = {x, DIMS(4), DIMS(large), 1, NDBLAS_F64};
    REFUSED(NDBLAS_ERR_SHAPE, ndblas_asum(&far_apart, &value), "x");

    /* Shapes that do not fit name both */
    REFUSED(NDBLAS_ERR_SHAPE, ndblas_axpy(one, IN(F64, x, 3), OUT(F64, y, 2, 2)), "x", "(3,)", "y", "(2, 2)");
    REFUSED(NDBLAS_ERR_SHAPE, ndblas_axpy(one, IN(F64, x, 2, 3), OUT(F64, y, 3)), "x", "(2, 3)", "(3,)");
    REFUSED(NDBLAS_ERR_SHAPE, ndblas_mul_add(one, IN(F64, x, 6), IN(F64, x, 5), one, OUT(F64, y, 6)), "b", "(5,)",
            "(6,)");
    REFUSED(NDBLAS_ERR_SHAPE, ndblas_swap(OUT(F64, y, 1), OUT(F64, y + 8, 4)), "(1,)", "(4,)");
    REFUSED(NDBLAS_ERR_SHAPE, ndblas_dotu(IN(F64, x, 2), IN(F64, x, 3), &sum), "(2,)", "(3,)");
    REFUSED(NDBLAS_ERR_SHAPE, ndblas_permute(one, IN(F64, x, 2, 3), PERM(1, 0), zero, OUT(F64, y, 2, 3)), "out",
            "(2, 3)", "(3, 2)");

    /* Element types: unknown, mismatched, without arithmetic */
    REFUSED(NDBLAS_ERR_DTYPE, ndblas_asum(&(ndblas_view){x, DIMS(6), NULL, 1, 99}, &value), "x", "99");
    REFUSED(NDBLAS_ERR_DTYPE, ndblas_asum(&(ndblas_view){x, DIMS(6), NULL, 1, 0}, &value), "x", "0");
    REFUSED(NDBLAS_ERR_DTYPE, ndblas_fill(one, &(ndblas_view_mut){y, DIMS(6), NULL, 1, -1}), "y", "-1");
    REFUSED(NDBLAS_ERR_DTYPE, ndblas_axpy(one, IN(F32, x, 6), OUT(F64, y, 6)), "x", "y");
    REFUSED(NDBLAS_ERR_DTYPE, ndblas_scal(one, OUT(I32, y, 6)), "y");
    REFUSED(NDBLAS_ERR_DTYPE, ndblas_axpy(one, IN(I32, x, 6), OUT(I32, y, 6)), "int32");
    REFUSED(NDBLAS_ERR_DTYPE, ndblas_gather(one, IN(F64, x, 6), 0, IN(F32, x, 6), NDBLAS_RAISE, zero, OUT(F64, y, 6)),
            "index");
    EXPECT(ndblas_permute(two, IN(I64, x, 6), NULL, zero, OUT(I64, y, 6)) != NDBLAS_OK && y[0] == 0);

    /* Overlap: an output with itself, with an input, with another output, with the index */
    ndblas_view_mut stacked = {y, DIMS(4, 2), DIMS(0, STEP), 2, NDBLAS_F64};
    REFUSED(NDBLAS_ERR_OVERLAP, ndblas_fill(one, &stacked), "y", "(4, 2)");
    ndblas_view_mut half_apart = {y, DIMS(4), DIMS(STEP / 2), 1, NDBLAS_F64};
    REFUSED(NDBLAS_ERR_OVERLAP, ndblas_scal(two, &half_apart), "y");
    REFUSED(NDBLAS_ERR_OVERLAP, ndblas_copy(IN(F64, y, 5), OUT(F64, y + 1, 5)), "y", "x");
    const ndblas_view transposed = {y, DIMS(3, 3), DIMS(STEP, 3 * STEP), 2, NDBLAS_F64};
    REFUSED(NDBLAS_ERR_OVERLAP, ndblas_axpy(one, &transposed, OUT(F64, y, 3, 3)), "y", "x");
    REFUSED(NDBLAS_ERR_OVERLAP, ndblas_swap(OUT(F64, y, 4), OUT(F64, y, 4)), "x", "y");
    REFUSED(NDBLAS_ERR_OVERLAP, ndblas_rot(OUT(F64, y, 4), OUT(F64, y + 3, 4), 1, 0), "x", "y");
    REFUSED(NDBLAS_ERR_OVERLAP, ndblas_permute(one, IN(F64, y, 3, 3), NULL, zero, OUT(F64, y, 3, 3)), "out", "a");
    REFUSED(NDBLAS_ERR_OVERLAP,
            ndblas_gather(one, IN(I64, x, 6), 0, IN(I64, y, 6), NDBLAS_CLIP, zero, OUT(I64, y, 6)), "out", "index");
    REFUSED(NDBLAS_ERR_OVERLAP, ndblas_daxpy(4, 1, x, 1, y, 0), "y");

    /* Axes, permutations, modes */
    const int32_t i[6] = {0, 1, 0, 1, 0, 1};
    REFUSED(NDBLAS_ERR_AXIS, ndblas_gather(one, IN(F64, x, 6), 1, IN(I32, i, 6), NDBLAS_RAISE, zero, OUT(F64, y, 6)),
            "axis", "1");
    REFUSED(NDBLAS_ERR_AXIS, ndblas_scatter_add(one, IN(F64, x, 6), -2, IN(I32, i, 6), NDBLAS_RAISE, OUT(F64, y, 6)),
            "axis", "-2");
    REFUSED(NDBLAS_ERR_AXIS, ndblas_permute(one, IN(F64, x, 2, 3), PERM(0, 0), zero, OUT(F64, y, 2, 2)), "perm",
            "(0, 0)");
    REFUSED(NDBLAS_ERR_AXIS, ndblas_permute(one, IN(F64, x, 2, 3), PERM(0, 2), zero, OUT(F64, y, 2, 3)), "perm",
            "(0, 2)");
    REFUSED(NDBLAS_ERR_AXIS, ndblas_permute_in_place(OUT(F64, y, 2, 3), PERM(-1, 0)), "perm", "(-1, 0)");
    REFUSED(NDBLAS_ERR_ARGUMENT, ndblas_gather(one, IN(F64, x, 6), 0, IN(I32, i, 6), 9, zero, OUT(F64, y, 6)), "mode");
    REFUSED(NDBLAS_ERR_ARGUMENT, ndblas_scatter_add(one, IN(F64, x, 6), 0, IN(I32, i, 6), -1, OUT(F64, y, 6)), "mode");

    /* Indices: position, value, axis and extent, with all before it unwritten */
    const int32_t bad[4] = {0, 1, -3, 5};
    REFUSED(NDBLAS_ERR_INDEX,
            ndblas_gather(one, IN(F64, x, 2, 3), 1, IN(I32, bad, 2, 2), NDBLAS_RAISE, zero, OUT(F64, y, 2, 2)), "index",
            "(1, 1)", "5", "axis 1", "3");
    REFUSED(NDBLAS_ERR_INDEX,
            ndblas_scatter_add(one, IN(F64, x, 2, 2), 1, IN(I32, bad, 2, 2), NDBLAS_RAISE, OUT(F64, y, 2, 3)), "index",
            "(1, 1)", "5", "axis 1", "3");
    const uint64_t large_index[1] = {UINT64_MAX};
    REFUSED(NDBLAS_ERR_INDEX,
            ndblas_gather(one, IN(F64, x, 6), 0, IN(U64, large_index, 1), NDBLAS_RAISE, zero, OUT(F64, y, 1)), "index",
            "18446744073709551615", "6");
    REFUSED(NDBLAS_ERR_SHAPE,
            ndblas_gather(one, IN(F64, x, 2, 3), 1, IN(I32, i, 3, 2), NDBLAS_RAISE, zero, OUT(F64, y, 2, 2)), "index",
            "(3, 2)", "(2, 2)");
    REFUSED(NDBLAS_ERR_SHAPE,
            ndblas_scatter_add(one, IN(F64, x, 3, 2), 1, IN(I32, i, 3, 2), NDBLAS_RAISE, OUT(F64, y, 2, 2)), "out",
            "(2, 2)", "(3, 2)");

    /* In place, a view that is not dense keeps its cells only where its shape stays */
    ndblas_view_mut block = {y + 7, DIMS(2, 3), DIMS(6 * STEP, STEP), 2, NDBLAS_F64};
    REFUSED(NDBLAS_ERR_LAYOUT, ndblas_permute_in_place(&block, NULL), "a", "(2, 3)");

    /* No refused reduction touched its result. */
    EXPECT(sum.re == 7 && sum.im == 7 && value == 7 && at == 7);
}

static void messages_and_threads(void) {
    char text[8];
    memset(text, '#', sizeof text);
    EXPECT(ndblas_asum(NULL, NULL) == NDBLAS_ERR_NULL);
    const size_t length = ndblas_last_error(NULL, 0);
    EXPECT(length > 0 && ndblas_last_error(text, 0) == length && text[0] == '#');
    EXPECT(ndblas_last_error(text, 4) == length && strlen(text) == 3 && text[4] == '#');
    EXPECT(!strncmp(text, message(), 3) && strlen(message()) == length);

    for (int32_t s = 0; s <= 10; s++)
        EXPECT(strlen(ndblas_status_str(s)) > 0 && (s == 0 || strcmp(ndblas_status_str(s), ndblas_status_str(s - 1))));
    EXPECT(strlen(ndblas_status_str(-1)) > 0 && strlen(ndblas_status_str(99)) > 0);
    EXPECT(strlen(ndblas_version()) > 0 && strstr(ndblas_config(), ndblas_version()) && !strchr(ndblas_config(), '\n'));

    EXPECT(ndblas_get_num_threads() >= 1);
    ndblas_set_num_threads(2);
    EXPECT(ndblas_get_num_threads() == 2);
    enum { N = 1 << 20 };
    double *x = malloc(N * sizeof *x), sum[2];
    if (!x)
        exit(EXIT_FAILURE);
    for (int i = 0; i < N; i++)
        x[i] = 1.0 / (i + 1);
    OK(ndblas_dasum(N, x, 1, &sum[0]));
    ndblas_set_num_threads_local(1);
    OK(ndblas_dasum(N, x, 1, &sum[1]));
    ndblas_set_num_threads_local(0);
    EXPECT(sum[0] == sum[1]);
    ndblas_shutdown();
    OK(ndblas_dscal(N, 2, x, 1));
    EXPECT(x[0] == 2 && x[N - 1] == 2.0 / N);
    ndblas_shutdown();
    free(x);
}

int main(void) {
    layout();
    numbers();
    routines_on_views();
    layouts();
    routines_on_vectors();
    errors();
    messages_and_threads();
    if (failures) {
        fprintf(stderr, "%d failures\n", failures);
        return EXIT_FAILURE;
    }
    puts("ok abi");
    return EXIT_SUCCESS;
}
