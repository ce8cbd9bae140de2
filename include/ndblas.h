#ifndef NDBLAS_H
#define NDBLAS_H

/* Generated from src/capi by cbindgen: change it there, then `make header`. */

#include <stddef.h>
#include <stdint.h>

#define NDBLAS_VERSION_MAJOR 0
#define NDBLAS_VERSION_MINOR 1
#define NDBLAS_VERSION_PATCH 0

/// The greatest rank of a view.
#define NDBLAS_MAX_NDIM 64

/// Elements are float.
#define NDBLAS_F32 1

/// Elements are double.
#define NDBLAS_F64 2

/// Elements are two floats.
#define NDBLAS_COMPLEX64 3

/// Elements are two doubles.
#define NDBLAS_COMPLEX128 4

/// Elements are int8_t.
#define NDBLAS_I8 5

/// Elements are int16_t.
#define NDBLAS_I16 6

/// Elements are int32_t.
#define NDBLAS_I32 7

/// Elements are int64_t.
#define NDBLAS_I64 8

/// Elements are uint8_t.
#define NDBLAS_U8 9

/// Elements are uint16_t.
#define NDBLAS_U16 10

/// Elements are uint32_t.
#define NDBLAS_U32 11

/// Elements are uint64_t.
#define NDBLAS_U64 12

/// Success.
#define NDBLAS_OK 0

/// A required pointer is NULL.
#define NDBLAS_ERR_NULL 1

/// Shapes do not fit, or are none.
#define NDBLAS_ERR_SHAPE 2

/// A dtype is unknown, differs from the others, or lacks the operation.
#define NDBLAS_ERR_DTYPE 3

/// An axis is out of range, or perm is no permutation.
#define NDBLAS_ERR_AXIS 4

/// An output overlaps itself or another operand.
#define NDBLAS_ERR_OVERLAP 5

/// An index is out of range.
#define NDBLAS_ERR_INDEX 6

/// Strides do not fit the operation.
#define NDBLAS_ERR_LAYOUT 7

/// Another argument is wrong.
#define NDBLAS_ERR_ARGUMENT 8

/// Memory could not be had.
#define NDBLAS_ERR_MEMORY 9

/// A fault of the library.
#define NDBLAS_ERR_INTERNAL 10

/// Negative indices count from the end; one out of range is an error, found before anything is written.
#define NDBLAS_RAISE 0

/// Indices are taken modulo the extent.
#define NDBLAS_WRAP 1

/// Indices are taken to the nearest in range.
#define NDBLAS_CLIP 2

/// Negative indices count from the end; one out of range reads as zero and adds nothing.
#define NDBLAS_DROP 3

/// A descriptor found good; its element type is not known to the compiler yet.
typedef struct Input Input;

/// The same for a mutable one, which does not overlap itself.
typedef struct Output Output;

/// A factor, or the result of a reduction. Real dtypes want im to be 0.
typedef struct ndblas_scalar {
    /// The real part.
    double re;
    /// The imaginary part.
    double im;
} ndblas_scalar;

/// A strided N-d array to write to, in which no two indices may share a byte.
typedef struct ndblas_view_mut {
    /// The first LOGICAL element (not the lowest address). May be NULL if the view is empty.
    void *data;
    /// ndim extents, each >= 0. May be NULL if ndim is 0.
    const ptrdiff_t *shape;
    /// ndim steps in BYTES, of any sign and size; NULL means dense, row-major.
    const ptrdiff_t *strides;
    /// The rank, 0 .. NDBLAS_MAX_NDIM.
    int32_t ndim;
    /// NDBLAS_F32 ...
    int32_t dtype;
} ndblas_view_mut;

/// A strided N-d array to read from. It is never written.
typedef struct ndblas_view {
    /// The first LOGICAL element (not the lowest address). May be NULL if the view is empty.
    const void *data;
    /// ndim extents, each >= 0. May be NULL if ndim is 0.
    const ptrdiff_t *shape;
    /// ndim steps in BYTES, of any sign and size; NULL means dense, row-major.
    const ptrdiff_t *strides;
    /// The rank, 0 .. NDBLAS_MAX_NDIM.
    int32_t ndim;
    /// NDBLAS_F32 ...
    int32_t dtype;
} ndblas_view;



#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/// y <- alpha, for every dtype; alpha must be a value that the dtype can hold.
int32_t ndblas_fill(struct ndblas_scalar alpha, struct ndblas_view_mut *y);

/// y <- x, for every dtype. x broadcasts to y. y may be x itself and shares nothing else with it.
int32_t ndblas_copy(const struct ndblas_view *x, struct ndblas_view_mut *y);

/// x <-> y, for every dtype. Both have one shape and share nothing.
int32_t ndblas_swap(struct ndblas_view_mut *x, struct ndblas_view_mut *y);

/// y <- alpha*y. It follows IEEE arithmetic: 0*NaN is NaN. To clear, ndblas_fill.
int32_t ndblas_scal(struct ndblas_scalar alpha, struct ndblas_view_mut *y);

/// y <- y + alpha*x. x broadcasts to y; with alpha = 0 it is not read. y may be x itself and shares
/// nothing else with it.
int32_t ndblas_axpy(struct ndblas_scalar alpha, const struct ndblas_view *x, struct ndblas_view_mut *y);

/// y <- beta*y + alpha*x. x broadcasts to y; with alpha = 0 it is not read. With beta = 0, y is
/// written and not read. y may be x itself and shares nothing else with it.
int32_t ndblas_axpby(struct ndblas_scalar alpha,
                     const struct ndblas_view *x,
                     struct ndblas_scalar beta,
                     struct ndblas_view_mut *y);

/// (x, y) <- (c*x + s*y, c*y - s*x). Both have one shape and share nothing.
int32_t ndblas_rot(struct ndblas_view_mut *x, struct ndblas_view_mut *y, double c, double s);

/// *result <- sum x*y. x and y broadcast to one another. The bits do not depend on the number of
/// threads.
int32_t ndblas_dotu(const struct ndblas_view *x, const struct ndblas_view *y, struct ndblas_scalar *result);

/// *result <- sum conj(x)*y. x and y broadcast to one another. The bits do not depend on the number of
/// threads.
int32_t ndblas_dotc(const struct ndblas_view *x, const struct ndblas_view *y, struct ndblas_scalar *result);

/// *result <- sqrt(sum |x|^2), without overflow or underflow on the way. NaN where there is one, else infinity
/// where there is one.
int32_t ndblas_nrm2(const struct ndblas_view *x,
                    double *result);

/// *result <- sum |re x| + |im x|.
int32_t ndblas_asum(const struct ndblas_view *x, double *result);

/// *result <- the flat row-major index of the first NaN, or else of the first element whose
/// |re| + |im| is the greatest; -1 for an empty view.
int32_t ndblas_iamax(const struct ndblas_view *x, ptrdiff_t *result);

/// c <- beta*c + alpha*(a*b), element by element, in one pass without a temporary. a and b
/// broadcast to c. With beta = 0, c is written and not read; with alpha = 0, a and b are not read.
/// c may be a or b itself, or both, and shares nothing else with them.
int32_t ndblas_mul_add(struct ndblas_scalar alpha,
                       const struct ndblas_view *a,
                       const struct ndblas_view *b,
                       struct ndblas_scalar beta,
                       struct ndblas_view_mut *c);

/// out <- beta*out + alpha*transpose(a, perm): axis d of out is axis perm[d] of a, so that
/// out.shape[d] == a.shape[perm[d]]. perm has as many numbers as a has axes; NULL reverses the axes.
/// Every dtype with alpha = 1 and beta = 0. With beta = 0, out is written and not read; with
/// alpha = 0, a is not read. out shares nothing with a, or is the same cells index by index.
int32_t ndblas_permute(struct ndblas_scalar alpha,
                       const struct ndblas_view *a,
                       const int32_t *perm,
                       struct ndblas_scalar beta,
                       struct ndblas_view_mut *out);

/// a <- transpose(a, perm) in its own memory. a is dense and row-major, and then holds the permuted
/// array, dense and row-major; or any view whose permuted shape is its shape, and then its cells are
/// permuted. perm as for ndblas_permute. Extra memory is bounded by a few rows or 512 KiB a thread.
int32_t ndblas_permute_in_place(struct ndblas_view_mut *a, const int32_t *perm);

/// out[.., l, ..] <- beta*out + alpha*a[.., index[.., l, ..], ..] along axis, as NumPy's
/// take_along_axis. a, index and out are left-padded with length-1 axes to one rank, of which axis is
/// an axis (negative counts from the end). Off the axis a and index broadcast to out; on it index
/// broadcasts to out and a has any extent: c[i,l,k] = a[i, b[i,l], k] is axis 1 with an index of
/// shape (I, L, 1). index is of any integer dtype; mode is NDBLAS_RAISE, NDBLAS_WRAP, NDBLAS_CLIP or
/// NDBLAS_DROP, and an axis of extent 0 has no index but under NDBLAS_DROP. Every dtype with
/// alpha = 1 and beta = 0. With beta = 0, out is written and not read; with alpha = 0, neither a nor
/// index is read. out shares nothing with a or index.
int32_t ndblas_gather(struct ndblas_scalar alpha,
                      const struct ndblas_view *a,
                      int32_t axis,
                      const struct ndblas_view *index,
                      int32_t mode,
                      struct ndblas_scalar beta,
                      struct ndblas_view_mut *out);

/// out[.., index[.., l, ..], ..] += alpha*src[.., l, ..] along axis: the adjoint of ndblas_gather
/// with the same axis, index and mode. src, index and out are left-padded with length-1 axes to one
/// rank; src and index broadcast to their common shape, of which out has exactly the extents off the
/// axis, and any extent on it. Terms of one sum are added in row-major order: the bits are those of
/// the serial loop, for any number of threads. Every dtype with alpha = 1 (integers wrap). With
/// alpha = 0, nothing is read or written. out shares nothing with src or index.
int32_t ndblas_scatter_add(struct ndblas_scalar alpha,
                           const struct ndblas_view *src,
                           int32_t axis,
                           const struct ndblas_view *index,
                           int32_t mode,
                           struct ndblas_view_mut *out);

/// out[x] <- beta*out[x] + alpha*a[y], where y[axes[k]] = indices[k][x] for the n pairs of an axis
/// and an index view, and y[d] = x[d] on all other axes. a, out and every index are left-padded with
/// length-1 axes to one rank, of which the axes are axes (negative counts from the end), each at most
/// once. Off the indexed axes a broadcasts to out; on them it has any extent. Every index broadcasts
/// to out on all axes. So c[i,j,k] = a[i, b[i,j], d[i,j], k] has out of shape (I, J, 1, K) and axes
/// {1, 2} with indices of shape (I, J, 1, 1). One mode for all; under NDBLAS_DROP an element reads as
/// zero if one of its indices is out of range. n may be 0, and axes and indices then NULL.
/// Everything else is as for ndblas_gather.
int32_t ndblas_gather_nd(struct ndblas_scalar alpha,
                         const struct ndblas_view *a,
                         int32_t n,
                         const int32_t *axes,
                         const struct ndblas_view *indices,
                         int32_t mode,
                         struct ndblas_scalar beta,
                         struct ndblas_view_mut *out);

/// out[y] += alpha*src[x], where y[axes[k]] = indices[k][x] for the n pairs of an axis and an index
/// view, and y[d] = x[d] on all other axes: the adjoint of ndblas_gather_nd with the same pairs and
/// mode. src, out and every index are left-padded with length-1 axes to one rank; src and all
/// indices broadcast to their common shape, of which out has exactly the extents off the indexed
/// axes, and any extents on them. Terms of one sum are added in row-major order of x. Under
/// NDBLAS_DROP a term is dropped if one of its indices is out of range. n may be 0, and axes and
/// indices then NULL. Everything else is as for ndblas_scatter_add.
int32_t ndblas_scatter_add_nd(struct ndblas_scalar alpha,
                              const struct ndblas_view *src,
                              int32_t n,
                              const int32_t *axes,
                              const struct ndblas_view *indices,
                              int32_t mode,
                              struct ndblas_view_mut *out);

/// y <- y + alpha*x
int32_t ndblas_saxpy(ptrdiff_t n, float alpha, const float *x, ptrdiff_t incx, float *y, ptrdiff_t incy);

/// y <- y + alpha*x
int32_t ndblas_daxpy(ptrdiff_t n, double alpha, const double *x, ptrdiff_t incx, double *y, ptrdiff_t incy);

/// y <- y + alpha*x
int32_t ndblas_caxpy(ptrdiff_t n, const void *alpha, const void *x, ptrdiff_t incx, void *y, ptrdiff_t incy);

/// y <- y + alpha*x
int32_t ndblas_zaxpy(ptrdiff_t n, const void *alpha, const void *x, ptrdiff_t incx, void *y, ptrdiff_t incy);

/// y <- beta*y + alpha*x
int32_t ndblas_saxpby(ptrdiff_t n,
                      float alpha,
                      const float *x,
                      ptrdiff_t incx,
                      float beta,
                      float *y,
                      ptrdiff_t incy);

/// y <- beta*y + alpha*x
int32_t ndblas_daxpby(ptrdiff_t n,
                      double alpha,
                      const double *x,
                      ptrdiff_t incx,
                      double beta,
                      double *y,
                      ptrdiff_t incy);

/// y <- beta*y + alpha*x
int32_t ndblas_caxpby(ptrdiff_t n,
                      const void *alpha,
                      const void *x,
                      ptrdiff_t incx,
                      const void *beta,
                      void *y,
                      ptrdiff_t incy);

/// y <- beta*y + alpha*x
int32_t ndblas_zaxpby(ptrdiff_t n,
                      const void *alpha,
                      const void *x,
                      ptrdiff_t incx,
                      const void *beta,
                      void *y,
                      ptrdiff_t incy);

/// x <- alpha*x
int32_t ndblas_sscal(ptrdiff_t n, float alpha, float *x, ptrdiff_t incx);

/// x <- alpha*x
int32_t ndblas_dscal(ptrdiff_t n, double alpha, double *x, ptrdiff_t incx);

/// x <- alpha*x
int32_t ndblas_cscal(ptrdiff_t n, const void *alpha, void *x, ptrdiff_t incx);

/// x <- alpha*x
int32_t ndblas_zscal(ptrdiff_t n, const void *alpha, void *x, ptrdiff_t incx);

/// x <- alpha*x with a real alpha
int32_t ndblas_csscal(ptrdiff_t n, float alpha, void *x, ptrdiff_t incx);

/// x <- alpha*x with a real alpha
int32_t ndblas_zdscal(ptrdiff_t n, double alpha, void *x, ptrdiff_t incx);

/// y <- x
int32_t ndblas_scopy(ptrdiff_t n, const float *x, ptrdiff_t incx, float *y, ptrdiff_t incy);

/// y <- x
int32_t ndblas_dcopy(ptrdiff_t n, const double *x, ptrdiff_t incx, double *y, ptrdiff_t incy);

/// y <- x
int32_t ndblas_ccopy(ptrdiff_t n, const void *x, ptrdiff_t incx, void *y, ptrdiff_t incy);

/// y <- x
int32_t ndblas_zcopy(ptrdiff_t n, const void *x, ptrdiff_t incx, void *y, ptrdiff_t incy);

/// x <-> y
int32_t ndblas_sswap(ptrdiff_t n, float *x, ptrdiff_t incx, float *y, ptrdiff_t incy);

/// x <-> y
int32_t ndblas_dswap(ptrdiff_t n, double *x, ptrdiff_t incx, double *y, ptrdiff_t incy);

/// x <-> y
int32_t ndblas_cswap(ptrdiff_t n, void *x, ptrdiff_t incx, void *y, ptrdiff_t incy);

/// x <-> y
int32_t ndblas_zswap(ptrdiff_t n, void *x, ptrdiff_t incx, void *y, ptrdiff_t incy);

/// *result <- sum x*y
int32_t ndblas_sdot(ptrdiff_t n,
                    const float *x,
                    ptrdiff_t incx,
                    const float *y,
                    ptrdiff_t incy,
                    float *result);

/// *result <- sum x*y
int32_t ndblas_ddot(ptrdiff_t n,
                    const double *x,
                    ptrdiff_t incx,
                    const double *y,
                    ptrdiff_t incy,
                    double *result);

/// *result <- sum x*y, multiplied and summed in double precision
int32_t ndblas_dsdot(ptrdiff_t n,
                     const float *x,
                     ptrdiff_t incx,
                     const float *y,
                     ptrdiff_t incy,
                     double *result);

/// *result <- alpha + sum x*y, multiplied and summed in double precision, then rounded
int32_t ndblas_sdsdot(ptrdiff_t n,
                      float alpha,
                      const float *x,
                      ptrdiff_t incx,
                      const float *y,
                      ptrdiff_t incy,
                      float *result);

/// *result <- sum x*y; result is a complex number
int32_t ndblas_cdotu(ptrdiff_t n, const void *x, ptrdiff_t incx, const void *y, ptrdiff_t incy, void *result);

/// *result <- sum conj(x)*y; result is a complex number
int32_t ndblas_cdotc(ptrdiff_t n, const void *x, ptrdiff_t incx, const void *y, ptrdiff_t incy, void *result);

/// *result <- sum x*y; result is a complex number
int32_t ndblas_zdotu(ptrdiff_t n, const void *x, ptrdiff_t incx, const void *y, ptrdiff_t incy, void *result);

/// *result <- sum conj(x)*y; result is a complex number
int32_t ndblas_zdotc(ptrdiff_t n, const void *x, ptrdiff_t incx, const void *y, ptrdiff_t incy, void *result);

/// *result <- sqrt(sum |x|^2)
int32_t ndblas_snrm2(ptrdiff_t n, const float *x, ptrdiff_t incx, float *result);

/// *result <- sqrt(sum |x|^2)
int32_t ndblas_dnrm2(ptrdiff_t n, const double *x, ptrdiff_t incx, double *result);

/// *result <- sqrt(sum |x|^2)
int32_t ndblas_scnrm2(ptrdiff_t n, const void *x, ptrdiff_t incx, float *result);

/// *result <- sqrt(sum |x|^2)
int32_t ndblas_dznrm2(ptrdiff_t n, const void *x, ptrdiff_t incx, double *result);

/// *result <- sum |re x| + |im x|
int32_t ndblas_sasum(ptrdiff_t n, const float *x, ptrdiff_t incx, float *result);

/// *result <- sum |re x| + |im x|
int32_t ndblas_dasum(ptrdiff_t n, const double *x, ptrdiff_t incx, double *result);

/// *result <- sum |re x| + |im x|
int32_t ndblas_scasum(ptrdiff_t n, const void *x, ptrdiff_t incx, float *result);

/// *result <- sum |re x| + |im x|
int32_t ndblas_dzasum(ptrdiff_t n, const void *x, ptrdiff_t incx, double *result);

/// *result <- the index of the first NaN or else of the first greatest |re| + |im|, from 0; -1 if n <= 0
int32_t ndblas_isamax(ptrdiff_t n, const float *x, ptrdiff_t incx, ptrdiff_t *result);

/// *result <- the index of the first NaN or else of the first greatest |re| + |im|, from 0; -1 if n <= 0
int32_t ndblas_idamax(ptrdiff_t n, const double *x, ptrdiff_t incx, ptrdiff_t *result);

/// *result <- the index of the first NaN or else of the first greatest |re| + |im|, from 0; -1 if n <= 0
int32_t ndblas_icamax(ptrdiff_t n, const void *x, ptrdiff_t incx, ptrdiff_t *result);

/// *result <- the index of the first NaN or else of the first greatest |re| + |im|, from 0; -1 if n <= 0
int32_t ndblas_izamax(ptrdiff_t n, const void *x, ptrdiff_t incx, ptrdiff_t *result);

/// (x, y) <- (c*x + s*y, c*y - s*x)
int32_t ndblas_srot(ptrdiff_t n, float *x, ptrdiff_t incx, float *y, ptrdiff_t incy, float c, float s);

/// (x, y) <- (c*x + s*y, c*y - s*x)
int32_t ndblas_drot(ptrdiff_t n, double *x, ptrdiff_t incx, double *y, ptrdiff_t incy, double c, double s);

/// Static text for any status number.
const char *ndblas_status_str(int32_t status);

/// The calling thread's last error message, NUL-terminated and cut to len bytes. Returns the length
/// of the whole message without the NUL. It names the argument, the shapes, the axis, and for an
/// index its position, value and extent. buf may be NULL if len is 0.
size_t ndblas_last_error(char *buf, size_t len);

/// The version, as text: "0.1.0".
const char *ndblas_version(void);

/// One line: version, the BLAS behind it (name, version, core), the instruction set in use.
const char *ndblas_config(void);

/// Sets the number of threads for the whole process; less than 1 takes the default back. Results do
/// not depend on it. 1 starts no thread, nor does small work. No more run than this process has CPUs.
void ndblas_set_num_threads(int32_t n);

/// Sets the number of threads for calls from the calling thread only; less than 1 takes it back.
void ndblas_set_num_threads_local(int32_t n);

/// The number of threads that a call from the calling thread may use. Default:
/// NDBLAS_NUM_THREADS, else OMP_NUM_THREADS, else the CPUs this process may use.
int32_t ndblas_get_num_threads(void);

/// Joins the threads of the library, after the call that may be using them; a later call starts them
/// again. Before dlclose.
void ndblas_shutdown(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* NDBLAS_H */
