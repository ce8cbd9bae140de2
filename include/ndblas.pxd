# cython: language_level=3
"""ndblas for Cython: the C ABI of ndblas.h, and views of typed memoryviews.

    from ndblas cimport *

    cdef ndblas_memview x, y
    cdef ndblas_scalar one = ndblas_scalar(1, 0), zero = ndblas_scalar(0, 0)
    cdef int32_t perm[4]
    perm[:] = [1, 0, 2, 3]
    # self.y[...] = np.transpose(self.x, (1, 0, 2, 3)), without an intermediate array and without the GIL
    with nogil:
        ndblas_check(ndblas_permute(one, ndblas_view_of(&x, self.x), perm, zero, ndblas_view_mut_of(&y, self.y)))

ndblas.h says what each routine does. `Py_ssize_t` here is its `ptrdiff_t`, the type of a memoryview's shape and strides.
"""
from cpython.buffer cimport Py_buffer
from libc.stddef cimport size_t
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from "ndblas.h" nogil:
    const int NDBLAS_VERSION_MAJOR
    const int NDBLAS_VERSION_MINOR
    const int NDBLAS_VERSION_PATCH
    const int NDBLAS_MAX_NDIM
    const int NDBLAS_F32
    const int NDBLAS_F64
    const int NDBLAS_COMPLEX64
    const int NDBLAS_COMPLEX128
    const int NDBLAS_I8
    const int NDBLAS_I16
    const int NDBLAS_I32
    const int NDBLAS_I64
    const int NDBLAS_U8
    const int NDBLAS_U16
    const int NDBLAS_U32
    const int NDBLAS_U64
    const int NDBLAS_OK
    const int NDBLAS_ERR_NULL
    const int NDBLAS_ERR_SHAPE
    const int NDBLAS_ERR_DTYPE
    const int NDBLAS_ERR_AXIS
    const int NDBLAS_ERR_OVERLAP
    const int NDBLAS_ERR_INDEX
    const int NDBLAS_ERR_LAYOUT
    const int NDBLAS_ERR_ARGUMENT
    const int NDBLAS_ERR_MEMORY
    const int NDBLAS_ERR_INTERNAL
    const int NDBLAS_RAISE
    const int NDBLAS_WRAP
    const int NDBLAS_CLIP
    const int NDBLAS_DROP

    ctypedef struct ndblas_scalar:
        double re
        double im

    ctypedef struct ndblas_view:
        const void *data
        const Py_ssize_t *shape
        const Py_ssize_t *strides
        int32_t ndim
        int32_t dtype

    ctypedef struct ndblas_view_mut:
        void *data
        const Py_ssize_t *shape
        const Py_ssize_t *strides
        int32_t ndim
        int32_t dtype

    # level 1
    int32_t ndblas_fill(ndblas_scalar alpha, ndblas_view_mut *y)
    int32_t ndblas_copy(const ndblas_view *x, ndblas_view_mut *y)
    int32_t ndblas_swap(ndblas_view_mut *x, ndblas_view_mut *y)
    int32_t ndblas_scal(ndblas_scalar alpha, ndblas_view_mut *y)
    int32_t ndblas_axpy(ndblas_scalar alpha, const ndblas_view *x, ndblas_view_mut *y)
    int32_t ndblas_axpby(ndblas_scalar alpha, const ndblas_view *x, ndblas_scalar beta, ndblas_view_mut *y)
    int32_t ndblas_rot(ndblas_view_mut *x, ndblas_view_mut *y, double c, double s)
    int32_t ndblas_dotu(const ndblas_view *x, const ndblas_view *y, ndblas_scalar *result)
    int32_t ndblas_dotc(const ndblas_view *x, const ndblas_view *y, ndblas_scalar *result)
    int32_t ndblas_nrm2(const ndblas_view *x, double *result)
    int32_t ndblas_asum(const ndblas_view *x, double *result)
    int32_t ndblas_iamax(const ndblas_view *x, Py_ssize_t *result)

    # fused
    int32_t ndblas_mul_add(ndblas_scalar alpha, const ndblas_view *a, const ndblas_view *b, ndblas_scalar beta,
        ndblas_view_mut *c)

    # permute
    int32_t ndblas_permute(ndblas_scalar alpha, const ndblas_view *a, const int32_t *perm, ndblas_scalar beta,
        ndblas_view_mut *out)
    int32_t ndblas_permute_in_place(ndblas_view_mut *a, const int32_t *perm)

    # indexed
    int32_t ndblas_gather(ndblas_scalar alpha, const ndblas_view *a, int32_t axis, const ndblas_view *index,
        int32_t mode, ndblas_scalar beta, ndblas_view_mut *out)
    int32_t ndblas_scatter_add(ndblas_scalar alpha, const ndblas_view *src, int32_t axis, const ndblas_view *index,
        int32_t mode, ndblas_view_mut *out)
    int32_t ndblas_gather_nd(ndblas_scalar alpha, const ndblas_view *a, int32_t n, const int32_t *axes,
        const ndblas_view *indices, int32_t mode, ndblas_scalar beta, ndblas_view_mut *out)
    int32_t ndblas_scatter_add_nd(ndblas_scalar alpha, const ndblas_view *src, int32_t n, const int32_t *axes,
        const ndblas_view *indices, int32_t mode, ndblas_view_mut *out)

    # the BLAS names: n elements, increments in elements
    int32_t ndblas_saxpy(Py_ssize_t n, float alpha, const float *x, Py_ssize_t incx, float *y, Py_ssize_t incy)
    int32_t ndblas_daxpy(Py_ssize_t n, double alpha, const double *x, Py_ssize_t incx, double *y, Py_ssize_t incy)
    int32_t ndblas_caxpy(Py_ssize_t n, const void *alpha, const void *x, Py_ssize_t incx, void *y, Py_ssize_t incy)
    int32_t ndblas_zaxpy(Py_ssize_t n, const void *alpha, const void *x, Py_ssize_t incx, void *y, Py_ssize_t incy)
    int32_t ndblas_saxpby(Py_ssize_t n, float alpha, const float *x, Py_ssize_t incx, float beta, float *y,
        Py_ssize_t incy)
    int32_t ndblas_daxpby(Py_ssize_t n, double alpha, const double *x, Py_ssize_t incx, double beta, double *y,
        Py_ssize_t incy)
    int32_t ndblas_caxpby(Py_ssize_t n, const void *alpha, const void *x, Py_ssize_t incx, const void *beta, void *y,
        Py_ssize_t incy)
    int32_t ndblas_zaxpby(Py_ssize_t n, const void *alpha, const void *x, Py_ssize_t incx, const void *beta, void *y,
        Py_ssize_t incy)
    int32_t ndblas_sscal(Py_ssize_t n, float alpha, float *x, Py_ssize_t incx)
    int32_t ndblas_dscal(Py_ssize_t n, double alpha, double *x, Py_ssize_t incx)
    int32_t ndblas_cscal(Py_ssize_t n, const void *alpha, void *x, Py_ssize_t incx)
    int32_t ndblas_zscal(Py_ssize_t n, const void *alpha, void *x, Py_ssize_t incx)
    int32_t ndblas_csscal(Py_ssize_t n, float alpha, void *x, Py_ssize_t incx)
    int32_t ndblas_zdscal(Py_ssize_t n, double alpha, void *x, Py_ssize_t incx)
    int32_t ndblas_scopy(Py_ssize_t n, const float *x, Py_ssize_t incx, float *y, Py_ssize_t incy)
    int32_t ndblas_dcopy(Py_ssize_t n, const double *x, Py_ssize_t incx, double *y, Py_ssize_t incy)
    int32_t ndblas_ccopy(Py_ssize_t n, const void *x, Py_ssize_t incx, void *y, Py_ssize_t incy)
    int32_t ndblas_zcopy(Py_ssize_t n, const void *x, Py_ssize_t incx, void *y, Py_ssize_t incy)
    int32_t ndblas_sswap(Py_ssize_t n, float *x, Py_ssize_t incx, float *y, Py_ssize_t incy)
    int32_t ndblas_dswap(Py_ssize_t n, double *x, Py_ssize_t incx, double *y, Py_ssize_t incy)
    int32_t ndblas_cswap(Py_ssize_t n, void *x, Py_ssize_t incx, void *y, Py_ssize_t incy)
    int32_t ndblas_zswap(Py_ssize_t n, void *x, Py_ssize_t incx, void *y, Py_ssize_t incy)
    int32_t ndblas_sdot(Py_ssize_t n, const float *x, Py_ssize_t incx, const float *y, Py_ssize_t incy, float *result)
    int32_t ndblas_ddot(Py_ssize_t n, const double *x, Py_ssize_t incx, const double *y, Py_ssize_t incy,
        double *result)
    int32_t ndblas_dsdot(Py_ssize_t n, const float *x, Py_ssize_t incx, const float *y, Py_ssize_t incy,
        double *result)
    int32_t ndblas_sdsdot(Py_ssize_t n, float alpha, const float *x, Py_ssize_t incx, const float *y, Py_ssize_t incy,
        float *result)
    int32_t ndblas_cdotu(Py_ssize_t n, const void *x, Py_ssize_t incx, const void *y, Py_ssize_t incy, void *result)
    int32_t ndblas_cdotc(Py_ssize_t n, const void *x, Py_ssize_t incx, const void *y, Py_ssize_t incy, void *result)
    int32_t ndblas_zdotu(Py_ssize_t n, const void *x, Py_ssize_t incx, const void *y, Py_ssize_t incy, void *result)
    int32_t ndblas_zdotc(Py_ssize_t n, const void *x, Py_ssize_t incx, const void *y, Py_ssize_t incy, void *result)
    int32_t ndblas_snrm2(Py_ssize_t n, const float *x, Py_ssize_t incx, float *result)
    int32_t ndblas_dnrm2(Py_ssize_t n, const double *x, Py_ssize_t incx, double *result)
    int32_t ndblas_scnrm2(Py_ssize_t n, const void *x, Py_ssize_t incx, float *result)
    int32_t ndblas_dznrm2(Py_ssize_t n, const void *x, Py_ssize_t incx, double *result)
    int32_t ndblas_sasum(Py_ssize_t n, const float *x, Py_ssize_t incx, float *result)
    int32_t ndblas_dasum(Py_ssize_t n, const double *x, Py_ssize_t incx, double *result)
    int32_t ndblas_scasum(Py_ssize_t n, const void *x, Py_ssize_t incx, float *result)
    int32_t ndblas_dzasum(Py_ssize_t n, const void *x, Py_ssize_t incx, double *result)
    int32_t ndblas_isamax(Py_ssize_t n, const float *x, Py_ssize_t incx, Py_ssize_t *result)
    int32_t ndblas_idamax(Py_ssize_t n, const double *x, Py_ssize_t incx, Py_ssize_t *result)
    int32_t ndblas_icamax(Py_ssize_t n, const void *x, Py_ssize_t incx, Py_ssize_t *result)
    int32_t ndblas_izamax(Py_ssize_t n, const void *x, Py_ssize_t incx, Py_ssize_t *result)
    int32_t ndblas_srot(Py_ssize_t n, float *x, Py_ssize_t incx, float *y, Py_ssize_t incy, float c, float s)
    int32_t ndblas_drot(Py_ssize_t n, double *x, Py_ssize_t incx, double *y, Py_ssize_t incy, double c, double s)

    # runtime
    const char *ndblas_status_str(int32_t status)
    size_t ndblas_last_error(char *buf, size_t len)
    const char *ndblas_version()
    const char *ndblas_config()
    void ndblas_set_num_threads(int32_t n)
    void ndblas_set_num_threads_local(int32_t n)
    int32_t ndblas_get_num_threads()
    void ndblas_shutdown()

cdef struct ndblas_memview:
    # The descriptor of one memoryview, with the room that its extents and strides take while a call reads them.
    ndblas_view view
    ndblas_view_mut view_mut
    Py_ssize_t[7] shape
    Py_ssize_t[7] strides

# What a memoryview can be. Cython matches a fused type exactly: so each element type is here under every name of its own,
# and each rank strided and contiguous in either order.
ctypedef fused ndblas_const_element:
    const float
    const double
    const float complex
    const double complex
    const signed char
    const short
    const int
    const long
    const long long
    const int8_t
    const int16_t
    const int32_t
    const int64_t
    const Py_ssize_t
    const unsigned char
    const unsigned short
    const unsigned int
    const unsigned long
    const unsigned long long
    const uint8_t
    const uint16_t
    const uint32_t
    const uint64_t
    const size_t

ctypedef fused ndblas_const_rank1:
    ndblas_const_element[:]
    ndblas_const_element[::1]

ctypedef fused ndblas_const_rank2:
    ndblas_const_element[:, :]
    ndblas_const_element[:, ::1]
    ndblas_const_element[::1, :]

ctypedef fused ndblas_const_rank3:
    ndblas_const_element[:, :, :]
    ndblas_const_element[:, :, ::1]
    ndblas_const_element[::1, :, :]

ctypedef fused ndblas_const_rank4:
    ndblas_const_element[:, :, :, :]
    ndblas_const_element[:, :, :, ::1]
    ndblas_const_element[::1, :, :, :]

ctypedef fused ndblas_const_rank5:
    ndblas_const_element[:, :, :, :, :]
    ndblas_const_element[:, :, :, :, ::1]
    ndblas_const_element[::1, :, :, :, :]

ctypedef fused ndblas_const_rank6:
    ndblas_const_element[:, :, :, :, :, :]
    ndblas_const_element[:, :, :, :, :, ::1]
    ndblas_const_element[::1, :, :, :, :, :]

ctypedef fused ndblas_const_rank7:
    ndblas_const_element[:, :, :, :, :, :, :]
    ndblas_const_element[:, :, :, :, :, :, ::1]
    ndblas_const_element[::1, :, :, :, :, :, :]

ctypedef fused ndblas_const_memoryview:
    ndblas_const_rank1
    ndblas_const_rank2
    ndblas_const_rank3
    ndblas_const_rank4
    ndblas_const_rank5
    ndblas_const_rank6
    ndblas_const_rank7

ctypedef fused ndblas_element:
    float
    double
    float complex
    double complex
    signed char
    short
    int
    long
    long long
    int8_t
    int16_t
    int32_t
    int64_t
    Py_ssize_t
    unsigned char
    unsigned short
    unsigned int
    unsigned long
    unsigned long long
    uint8_t
    uint16_t
    uint32_t
    uint64_t
    size_t

ctypedef fused ndblas_rank1:
    ndblas_element[:]
    ndblas_element[::1]

ctypedef fused ndblas_rank2:
    ndblas_element[:, :]
    ndblas_element[:, ::1]
    ndblas_element[::1, :]

ctypedef fused ndblas_rank3:
    ndblas_element[:, :, :]
    ndblas_element[:, :, ::1]
    ndblas_element[::1, :, :]

ctypedef fused ndblas_rank4:
    ndblas_element[:, :, :, :]
    ndblas_element[:, :, :, ::1]
    ndblas_element[::1, :, :, :]

ctypedef fused ndblas_rank5:
    ndblas_element[:, :, :, :, :]
    ndblas_element[:, :, :, :, ::1]
    ndblas_element[::1, :, :, :, :]

ctypedef fused ndblas_rank6:
    ndblas_element[:, :, :, :, :, :]
    ndblas_element[:, :, :, :, :, ::1]
    ndblas_element[::1, :, :, :, :, :]

ctypedef fused ndblas_rank7:
    ndblas_element[:, :, :, :, :, :, :]
    ndblas_element[:, :, :, :, :, :, ::1]
    ndblas_element[::1, :, :, :, :, :, :]

ctypedef fused ndblas_memoryview:
    ndblas_rank1
    ndblas_rank2
    ndblas_rank3
    ndblas_rank4
    ndblas_rank5
    ndblas_rank6
    ndblas_rank7

cdef extern from *:
    """
    /* A typed memoryview is a struct of these members, whatever its type. Its buffer was matched to the type when it was
       taken. */
    #define NDBLAS_MEMORYVIEW_DATA(mv) ((void *)(mv).data)
    #define NDBLAS_MEMORYVIEW_BUFFER(mv) (&(mv).memview->view)
    """
    void *NDBLAS_MEMORYVIEW_DATA(...) noexcept nogil
    const Py_buffer *NDBLAS_MEMORYVIEW_BUFFER(...) noexcept nogil

cdef inline int32_t ndblas_dtype_of(const Py_buffer *buffer) noexcept nogil:
    """The dtype number of a buffer's elements, whose type is one of the fused ones above."""
    cdef const char *code = buffer.format
    cdef Py_ssize_t size = buffer.itemsize
    while code[0] in b"@=<>^":
        code += 1
    if code[0] == b"Z":
        return NDBLAS_COMPLEX64 if size == 8 else NDBLAS_COMPLEX128
    if code[0] in b"fd":
        return NDBLAS_F32 if size == 4 else NDBLAS_F64
    # Signed codes are lower case, and the sizes of 1, 2, 4, 8 bytes follow on one another.
    return (NDBLAS_I8 if code[0] >= b"a" else NDBLAS_U8) + (size > 1) + (size > 2) + (size > 4)

cdef inline void ndblas_describe(ndblas_memview *room, int32_t ndim, const Py_buffer *buffer, void *data,
                                 const Py_ssize_t *shape, const Py_ssize_t *strides) noexcept nogil:
    cdef int32_t d
    for d in range(ndim):
        room.shape[d] = shape[d]
        room.strides[d] = strides[d]
    room.view.data = room.view_mut.data = data
    room.view.shape = room.view_mut.shape = room.shape
    room.view.strides = room.view_mut.strides = room.strides
    room.view.ndim = room.view_mut.ndim = ndim
    room.view.dtype = room.view_mut.dtype = ndblas_dtype_of(buffer)

cdef inline const ndblas_view *ndblas_view_of(ndblas_memview *room, ndblas_const_memoryview mv) noexcept nogil:
    """The descriptor of mv, to read from, which lies in room. None gives NULL, which every routine refuses."""
    cdef int32_t ndim
    if mv is None:
        return NULL
    if ndblas_const_memoryview in ndblas_const_rank1:
        ndim = 1
    elif ndblas_const_memoryview in ndblas_const_rank2:
        ndim = 2
    elif ndblas_const_memoryview in ndblas_const_rank3:
        ndim = 3
    elif ndblas_const_memoryview in ndblas_const_rank4:
        ndim = 4
    elif ndblas_const_memoryview in ndblas_const_rank5:
        ndim = 5
    elif ndblas_const_memoryview in ndblas_const_rank6:
        ndim = 6
    else:
        ndim = 7
    ndblas_describe(room, ndim, NDBLAS_MEMORYVIEW_BUFFER(mv), NDBLAS_MEMORYVIEW_DATA(mv), &mv.shape[0], &mv.strides[0])
    return &room.view

cdef inline ndblas_view_mut *ndblas_view_mut_of(ndblas_memview *room, ndblas_memoryview mv) noexcept nogil:
    """The same, to write to."""
    cdef int32_t ndim
    if mv is None:
        return NULL
    if ndblas_memoryview in ndblas_rank1:
        ndim = 1
    elif ndblas_memoryview in ndblas_rank2:
        ndim = 2
    elif ndblas_memoryview in ndblas_rank3:
        ndim = 3
    elif ndblas_memoryview in ndblas_rank4:
        ndim = 4
    elif ndblas_memoryview in ndblas_rank5:
        ndim = 5
    elif ndblas_memoryview in ndblas_rank6:
        ndim = 6
    else:
        ndim = 7
    ndblas_describe(room, ndim, NDBLAS_MEMORYVIEW_BUFFER(mv), NDBLAS_MEMORYVIEW_DATA(mv), &mv.shape[0], &mv.strides[0])
    return &room.view_mut

cdef inline int ndblas_check(int32_t status) except -1 nogil:
    """Raises the exception of a status, with the library's message."""
    if status == NDBLAS_OK:
        return 0
    return ndblas_raise(status)

cdef inline int ndblas_raise(int32_t status) except -1 with gil:
    cdef char[1024] text
    ndblas_last_error(text, sizeof(text))
    message = text.decode("utf-8", "replace")
    if status == NDBLAS_ERR_DTYPE:
        raise TypeError(message)
    if status == NDBLAS_ERR_INDEX:
        raise IndexError(message)
    if status == NDBLAS_ERR_MEMORY:
        raise MemoryError(message)
    if status == NDBLAS_ERR_INTERNAL:
        raise RuntimeError(message)
    raise ValueError(message)
