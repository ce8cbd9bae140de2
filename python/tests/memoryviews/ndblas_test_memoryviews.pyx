"""What the helpers of ndblas.pxd make of typed memoryviews, for the tests to compare with the arrays."""
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from ndblas cimport *

ctypedef fused Elements:
    int8_t[:, :]
    int16_t[:, :]
    int32_t[:, :]
    int64_t[:, :]
    uint8_t[:, :]
    uint16_t[:, :]
    uint32_t[:, :]
    uint64_t[:, :]
    float[:, :]
    double[:, :]
    float complex[:, :]
    double complex[:, :]

ctypedef fused Ranks:
    double[:]
    double[:, :]
    double[:, :, :]
    double[:, :, :, :]
    double[:, :, :, :, :]
    double[:, :, :, :, :, :]
    double[:, :, :, :, :, :, :]


cdef object told(const ndblas_view *v):
    if v == NULL:
        return None
    cdef int d
    return (<size_t>v.data, tuple([v.shape[d] for d in range(v.ndim)]), tuple([v.strides[d] for d in range(v.ndim)]),
            v.dtype)


cdef object both(const ndblas_view *v, const ndblas_view_mut *m):
    assert told(v) == told(<const ndblas_view *>m)
    return told(v)


def element(Elements x):
    cdef ndblas_memview a, b
    return both(ndblas_view_of(&a, x), ndblas_view_mut_of(&b, x))


def rank(Ranks x):
    cdef ndblas_memview a, b
    return both(ndblas_view_of(&a, x), ndblas_view_mut_of(&b, x))


def row_major(float[:, :, ::1] x):
    cdef ndblas_memview a, b
    return both(ndblas_view_of(&a, x), ndblas_view_mut_of(&b, x))


def column_major(double complex[::1, :] x):
    cdef ndblas_memview a, b
    return both(ndblas_view_of(&a, x), ndblas_view_mut_of(&b, x))


def read_only(const double[:, :] x, const int64_t[:] i, const uint8_t[::1] j, const float complex[:, ::1] z):
    cdef ndblas_memview a
    return [told(ndblas_view_of(&a, x)), told(ndblas_view_of(&a, i)), told(ndblas_view_of(&a, j)),
            told(ndblas_view_of(&a, z))]


def natives(short[:] a, int[:] b, long[:] c, long long[:] d, unsigned short[:] e, unsigned int[:] f, unsigned long[:] g,
            unsigned long long[:] h, Py_ssize_t[:] i, size_t[:] j, signed char[:] k, unsigned char[:] l):
    cdef ndblas_memview m
    cdef ndblas_memview *at = &m
    with nogil:
        ndblas_view_mut_of(at, a)
    return [told(ndblas_view_of(at, a)), told(ndblas_view_of(at, b)), told(ndblas_view_of(at, c)),
            told(ndblas_view_of(at, d)), told(ndblas_view_of(at, e)), told(ndblas_view_of(at, f)),
            told(ndblas_view_of(at, g)), told(ndblas_view_of(at, h)), told(ndblas_view_of(at, i)),
            told(ndblas_view_of(at, j)), told(ndblas_view_of(at, k)), told(ndblas_view_of(at, l))]


def parts(double[:, :, :] x, Py_ssize_t i):
    """A slice of lower rank, one with a new axis, and a memoryview of a C array."""
    cdef ndblas_memview a
    cdef double[2][3] numbers
    cdef double[:, :] view = numbers
    c = told(ndblas_view_of(&a, view))
    assert c[0] == <size_t>&numbers[0][0]
    return told(ndblas_view_of(&a, x[i, ::-1])), told(ndblas_view_of(&a, x[:, None, i, 1])), c[1:]


def status(const double[:, :] x, double[:, :] y, bint none=False):
    """y[...] = x by the C ABI, with the exception of ndblas_check."""
    cdef ndblas_memview a, b
    if none:
        x = None
    with nogil:
        ndblas_check(ndblas_copy(ndblas_view_of(&a, x), ndblas_view_mut_of(&b, y)))


def gathered(const double[:] x, const int64_t[:] index, double[:] y, int axis=0):
    cdef ndblas_memview a, b, c
    cdef ndblas_scalar one = ndblas_scalar(1, 0), zero = ndblas_scalar(0, 0)
    with nogil:
        ndblas_check(ndblas_gather(one, ndblas_view_of(&a, x), axis, ndblas_view_of(&b, index), NDBLAS_RAISE, zero,
                                   ndblas_view_mut_of(&c, y)))


def threads():
    return ndblas_get_num_threads()
