# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, autotestdict=False
"""The routines: thin functions over the C ABI.

What every call shares stands first and once: how an object becomes a descriptor (`read`, `write`), a number a factor
(`factor`), a failed status an exception (`finish`). No array is copied or converted on the way.
"""
cimport numpy as cnp
from cpython.buffer cimport PyObject_CheckBuffer
from cpython.complex cimport Py_complex
from cpython.float cimport PyFloat_CheckExact, PyFloat_AS_DOUBLE
from cpython.long cimport PyLong_CheckExact
from cpython.ref cimport PyObject
from ndblas cimport *

import numpy as np

cnp.import_array()

cdef extern from "Python.h":
    long long PyLong_AsLongLongAndOverflow(object, int *overflow) except? -1
    bint PyIndex_Check(object)
    Py_complex PyComplex_AsCComplex(object) except *

cdef extern from *:
    """
    /* Giving up the GIL costs as much as a short call takes, and getting it back far more where other threads want it. */
    #define NDBLAS_SHORT_CALL 1024

    static CYTHON_INLINE PyThreadState *release_gil(Py_ssize_t elements) {
        return elements < NDBLAS_SHORT_CALL ? NULL : PyEval_SaveThread();
    }
    static CYTHON_INLINE void acquire_gil(PyThreadState *state) {
        if (state)
            PyEval_RestoreThread(state);
    }
    """
    ctypedef struct PyThreadState:
        pass
    PyThreadState *release_gil(Py_ssize_t elements)
    void acquire_gil(PyThreadState *state)

ctypedef cnp.ndarray Array

cdef enum:
    # of a view, and of one whose index axes take the place of one of them
    MAX_NDIM = 64
    MAX_TAKE_NDIM = 2 * MAX_NDIM

# ---- arrays ----

# The dtype number of each NumPy type number; 0 for those that ndblas does not have.
cdef int32_t[32] DTYPES
DTYPES[:] = [0] * 32
for dtype, tag in zip(
    "b h i l q B H I L Q f d F D".split(),
    [None] * 10 + [NDBLAS_F32, NDBLAS_F64, NDBLAS_COMPLEX64, NDBLAS_COMPLEX128],
):
    if tag is None:
        tag = {1: NDBLAS_I8, 2: NDBLAS_I16, 4: NDBLAS_I32, 8: NDBLAS_I64}[np.dtype(dtype).itemsize]
        if dtype.isupper():
            tag += NDBLAS_U8 - NDBLAS_I8
    DTYPES[np.dtype(dtype).num] = tag
del dtype, tag


cdef Array foreign(object x, str name):
    """The array that an object other than a plain ndarray is or lends, without a copy."""
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array, whose mask would be lost: pass {name}.data, or {name}.filled(..)")
    if isinstance(x, np.ndarray):
        return x
    if isinstance(x, np.generic):
        a = np.asarray(x)
        a.flags.writeable = False  # what is written there would be lost
        return a
    if PyObject_CheckBuffer(x):
        return np.asarray(memoryview(x))
    if hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__"):
        kind, _ = x.__dlpack_device__()
        if kind != 1:  # kDLCPU
            raise TypeError(f"{name} is on a device (DLPack device type {int(kind)}), and ndblas works on the CPU: "
                            "copy it to the CPU first")
        return np.from_dlpack(x)
    raise TypeError(f"{name} is of type {type(x).__name__}, but an array is needed: a numpy.ndarray, or an object with "
                    "the buffer protocol or DLPack")


cdef object no_dtype(Array a, str name):
    dtype = a.dtype
    if not dtype.isnative:
        return TypeError(f"{name} has dtype {dtype.str!r}, which is byte-swapped, but native {dtype.newbyteorder('=').str!r} "
                         f"is needed; {name}.astype({name}.dtype.newbyteorder('=')) is a copy that serves")
    hint = f"; {name}.view(numpy.uint8) is the same memory" if dtype == np.bool_ else ""
    return TypeError(f"{name} has dtype {dtype}, but one of float32, float64, complex64, complex128 or an integer of 8 to "
                     f"64 bits is needed{hint}")


cdef inline Array read(ndblas_view *v, object x, str name):
    """Fills v with the descriptor of x, and returns the array which has to live as long."""
    cdef Array a = <Array>x if cnp.PyArray_CheckExact(x) else foreign(x, name)
    cdef int number = cnp.PyArray_TYPE(a)
    v.dtype = DTYPES[number] if 0 <= number < 32 else 0
    if v.dtype == 0 or not cnp.PyArray_ISNOTSWAPPED(a):
        raise no_dtype(a, name)
    v.data = cnp.PyArray_DATA(a)
    v.shape = <const Py_ssize_t *>cnp.PyArray_DIMS(a)
    v.strides = <const Py_ssize_t *>cnp.PyArray_STRIDES(a)
    v.ndim = cnp.PyArray_NDIM(a)
    return a


cdef inline Array write(ndblas_view_mut *v, object x, str name):
    """The same for an array to write to."""
    cdef Array a = read(<ndblas_view *>v, x, name)
    if not cnp.PyArray_ISWRITEABLE(a):
        raise ValueError(f"{name} is read-only")
    return a


cdef Array read_index(ndblas_view *v, object x, str name):
    """The same for an index: an array, or a number or a sequence of numbers, of which an array is made."""
    if not cnp.PyArray_CheckExact(x) and isinstance(x, (list, tuple, int)):
        x = np.asarray(x) if not isinstance(x, (list, tuple)) or len(x) else np.empty(0, np.intp)
    return read(v, x, name)


cdef inline Array fresh(int ndim, Py_ssize_t *shape, Array like):
    return cnp.PyArray_EMPTY(ndim, <cnp.npy_intp *>shape, cnp.PyArray_TYPE(like), 0)


cdef inline Py_ssize_t extent(const ndblas_view *v, int axis, int ndim) noexcept:
    """The extent on an axis of v, left-padded to rank ndim."""
    return 1 if axis < ndim - v.ndim else v.shape[axis - (ndim - v.ndim)]


cdef inline void broadcast(Py_ssize_t *shape, int ndim, const ndblas_view *v, const bint *skip) noexcept:
    """Widens shape by v, but on the axes to skip. Extents that do not fit are left to the routine to refuse."""
    cdef int d
    for d in range(ndim):
        if shape[d] == 1 and not (skip and skip[d]):
            shape[d] = extent(v, d, ndim)


# ---- numbers ----

cdef double exact(object n, str name) except? -1.0:
    """A whole number as a double, which has to hold it: alpha of an integer array is no estimate."""
    cdef int overflow
    cdef long long i = PyLong_AsLongLongAndOverflow(n, &overflow)
    if overflow == 0 and -9007199254740992 <= i <= 9007199254740992:
        return <double>i
    cdef double d = float(n)
    if int(d) != n:
        raise ValueError(f"{name} = {n} is not a double exactly; an array of rank 0 carries it as it is")
    return d


cdef int factor(ndblas_scalar *s, object value, str name) except -1:
    """Fills s with a number."""
    cdef Py_complex z
    s.im = 0
    if PyFloat_CheckExact(value):
        s.re = PyFloat_AS_DOUBLE(value)
    elif PyLong_CheckExact(value):
        s.re = exact(value, name)
    elif isinstance(value, np.ndarray) and value.ndim == 0:
        factor(s, value[()], name)
    elif PyIndex_Check(value) and not isinstance(value, np.ndarray):
        s.re = exact(value.__index__(), name)
    else:
        try:
            z = PyComplex_AsCComplex(value)
        except TypeError:
            raise TypeError(f"{name} is of type {type(value).__name__}, but a number is needed") from None
        s.re, s.im = z.real, z.imag
    return 0


cdef inline object number(ndblas_scalar s, const ndblas_view *like):
    """A result in the domain of the operands."""
    if like.dtype == NDBLAS_COMPLEX64 or like.dtype == NDBLAS_COMPLEX128:
        return complex(s.re, s.im)
    return s.re


cdef int32_t mode_of(object mode) except -1:
    if mode == "raise":
        return NDBLAS_RAISE
    if mode == "wrap":
        return NDBLAS_WRAP
    if mode == "clip":
        return NDBLAS_CLIP
    if mode == "drop":
        return NDBLAS_DROP
    raise ValueError(f"mode is {mode!r}, but 'raise', 'wrap', 'clip' or 'drop' is needed")


cdef int read_perm(int32_t *axes, object perm, int ndim, str name) except -1:
    """Fills axes with perm, in which negative numbers count from the end; None reverses."""
    cdef int d
    cdef Py_ssize_t axis
    if perm is None:
        for d in range(ndim):
            axes[d] = ndim - 1 - d
        return 0
    cdef tuple numbers = tuple(perm)
    if len(numbers) != ndim:
        raise np.exceptions.AxisError(f"perm {numbers} is no permutation of the {ndim} axes of {name}")
    for d in range(ndim):
        axis = numbers[d]
        if axis < -ndim or axis >= ndim:
            raise np.exceptions.AxisError(f"perm {numbers} is no permutation of the {ndim} axes of {name}")
        axes[d] = <int32_t>(axis + ndim if axis < 0 else axis)
    return 0


cdef int no_axis(int axis, int ndim) except -1:
    raise np.exceptions.AxisError(f"axis {axis} is out of range for rank {ndim}")


cdef int no_output(ndblas_scalar beta) except -1:
    raise ValueError(f"beta is {beta.re if beta.im == 0 else complex(beta.re, beta.im)}, but there is no out to scale")


# ---- status ----

cdef int failed(int32_t status) except -1:
    cdef char message[1024]
    if status == NDBLAS_ERR_AXIS:
        ndblas_last_error(message, sizeof(message))
        raise np.exceptions.AxisError(message.decode("utf-8", "replace"))
    ndblas_check(status)
    return 0


cdef inline int finish(PyThreadState *state, int32_t status) except -1:
    """After a call: takes the GIL back, and raises what the status says."""
    acquire_gil(state)
    return 0 if status == NDBLAS_OK else failed(status)


# ---- level 1 ----

def fill(alpha, y):
    """y <- alpha.

    Parameters
    ----------
    alpha : number
        A value that the dtype of `y` can hold.
    y : array of any of the twelve dtypes
        Written to, in any layout.

    Returns
    -------
    y

    Examples
    --------
    >>> y = np.arange(6.0).reshape(2, 3)
    >>> ndblas.fill(7, y[:, ::2])
    array([[7., 7.],
           [7., 7.]])
    >>> y
    array([[7., 1., 7.],
           [7., 4., 7.]])
    """
    cdef ndblas_scalar al
    cdef ndblas_view_mut yv
    factor(&al, alpha, "alpha")
    cdef Array ya = write(&yv, y, "y")
    cdef PyThreadState *gil = release_gil(cnp.PyArray_SIZE(ya))
    finish(gil, ndblas_fill(al, &yv))
    return y


def copy(x, y=None):
    """y <- x.

    Parameters
    ----------
    x : array of any of the twelve dtypes
        Broadcasts to the shape of `y`.
    y : array of the dtype of x, optional
        Written to. It may be `x` itself and shares nothing else with it. Without it, a new row-major array.

    Returns
    -------
    y

    Examples
    --------
    >>> y = np.zeros((3, 2), np.int16)
    >>> ndblas.copy(np.array([1, 2], np.int16), y[::-1])
    array([[1, 2],
           [1, 2],
           [1, 2]], dtype=int16)
    """
    cdef ndblas_view xv
    cdef ndblas_view_mut yv
    cdef Array xa = read(&xv, x, "x")
    if y is None:
        y = fresh(xv.ndim, <Py_ssize_t *>xv.shape, xa)
    cdef Array ya = write(&yv, y, "y")
    cdef PyThreadState *gil = release_gil(cnp.PyArray_SIZE(ya))
    finish(gil, ndblas_copy(&xv, &yv))
    return y


def swap(x, y):
    """x <-> y.

    Parameters
    ----------
    x, y : arrays of one shape and one of the twelve dtypes
        Both are written to, and share nothing.

    Examples
    --------
    >>> a = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> ndblas.swap(a[0], a[1])
    >>> a
    array([[3., 4.],
           [1., 2.]])
    """
    cdef ndblas_view_mut xv, yv
    cdef Array xa = write(&xv, x, "x"), ya = write(&yv, y, "y")
    cdef PyThreadState *gil = release_gil(cnp.PyArray_SIZE(ya))
    finish(gil, ndblas_swap(&xv, &yv))


def scal(alpha, y):
    """y <- alpha*y.

    Parameters
    ----------
    alpha : number
        0 follows IEEE arithmetic: 0*NaN is NaN. `fill` clears.
    y : array of float32, float64, complex64 or complex128
        Scaled in place.

    Returns
    -------
    y

    Examples
    --------
    >>> ndblas.scal(0.5, np.array([2.0, 4.0]))
    array([1., 2.])
    """
    cdef ndblas_scalar al
    cdef ndblas_view_mut yv
    factor(&al, alpha, "alpha")
    cdef Array ya = write(&yv, y, "y")
    cdef PyThreadState *gil = release_gil(cnp.PyArray_SIZE(ya))
    finish(gil, ndblas_scal(al, &yv))
    return y


def axpy(alpha, x, y):
    """y <- y + alpha*x.

    Parameters
    ----------
    alpha : number
        With 0, `x` is not read.
    x : array of float32, float64, complex64 or complex128
        Broadcasts to the shape of `y`.
    y : array of the dtype of x
        Updated in place. It may be `x` itself and shares nothing else with it.

    Returns
    -------
    y

    Examples
    --------
    ``y += 2*x.T`` without the array that NumPy makes for ``2*x.T``:

    >>> x = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> ndblas.axpy(2, x.T, np.zeros((3, 2)))
    array([[ 2.,  8.],
           [ 4., 10.],
           [ 6., 12.]])
    """
    cdef ndblas_scalar al
    cdef ndblas_view xv
    cdef ndblas_view_mut yv
    factor(&al, alpha, "alpha")
    cdef Array xa = read(&xv, x, "x"), ya = write(&yv, y, "y")
    cdef PyThreadState *gil = release_gil(cnp.PyArray_SIZE(ya))
    finish(gil, ndblas_axpy(al, &xv, &yv))
    return y


def axpby(alpha, x, beta, y):
    """y <- beta*y + alpha*x.

    Parameters
    ----------
    alpha : number
        With 0, `x` is not read.
    x : array of float32, float64, complex64 or complex128
        Broadcasts to the shape of `y`.
    beta : number
        With 0, `y` is written and not read.
    y : array of the dtype of x
        Updated in place. It may be `x` itself and shares nothing else with it.

    Returns
    -------
    y

    Examples
    --------
    >>> ndblas.axpby(1, np.array([1.0, 2.0]), 0.5, np.array([10.0, 20.0]))
    array([ 6., 12.])
    """
    cdef ndblas_scalar al, be
    cdef ndblas_view xv
    cdef ndblas_view_mut yv
    factor(&al, alpha, "alpha")
    factor(&be, beta, "beta")
    cdef Array xa = read(&xv, x, "x"), ya = write(&yv, y, "y")
    cdef PyThreadState *gil = release_gil(cnp.PyArray_SIZE(ya))
    finish(gil, ndblas_axpby(al, &xv, be, &yv))
    return y


def rot(x, y, double c, double s):
    """(x, y) <- (c*x + s*y, c*y - s*x).

    Parameters
    ----------
    x, y : arrays of one shape, of float32, float64, complex64 or complex128
        Both are rotated in place, and share nothing.
    c, s : float
        The cosine and the sine.

    Examples
    --------
    >>> x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    >>> ndblas.rot(x, y, 0, 1)
    >>> x, y
    (array([3., 4.]), array([-1., -2.]))
    """
    cdef ndblas_view_mut xv, yv
    cdef Array xa = write(&xv, x, "x"), ya = write(&yv, y, "y")
    cdef PyThreadState *gil = release_gil(cnp.PyArray_SIZE(ya))
    finish(gil, ndblas_rot(&xv, &yv, c, s))


def dot(x, y):
    """sum x*y, over all elements.

    Parameters
    ----------
    x, y : arrays of one of float32, float64, complex64 and complex128
        They broadcast to one another.

    Returns
    -------
    float or complex
        float32 is summed in float64. The bits do not depend on the number of threads.

    See Also
    --------
    vdot : conjugates x.

    Examples
    --------
    >>> ndblas.dot(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([10.0, 1.0]))
    46.0
    """
    cdef ndblas_view xv, yv
    cdef ndblas_scalar result
    cdef Array xa = read(&xv, x, "x"), ya = read(&yv, y, "y")
    cdef PyThreadState *gil = release_gil(max(cnp.PyArray_SIZE(xa), cnp.PyArray_SIZE(ya)))
    finish(gil, ndblas_dotu(&xv, &yv, &result))
    return number(result, &xv)


def vdot(x, y):
    """sum conj(x)*y, over all elements.

    Parameters
    ----------
    x, y : arrays of one of float32, float64, complex64 and complex128
        They broadcast to one another.

    Returns
    -------
    float or complex
        float32 is summed in float64. The bits do not depend on the number of threads.

    Examples
    --------
    >>> ndblas.vdot(np.array([1j, 2.0]), np.array([1j, 3.0]))
    (7+0j)
    """
    cdef ndblas_view xv, yv
    cdef ndblas_scalar result
    cdef Array xa = read(&xv, x, "x"), ya = read(&yv, y, "y")
    cdef PyThreadState *gil = release_gil(max(cnp.PyArray_SIZE(xa), cnp.PyArray_SIZE(ya)))
    finish(gil, ndblas_dotc(&xv, &yv, &result))
    return number(result, &xv)


def nrm2(x):
    """sqrt(sum abs(x)**2), over all elements, without overflow or underflow on the way.

    Parameters
    ----------
    x : array of float32, float64, complex64 or complex128

    Returns
    -------
    float
        NaN where there is one, else infinity where there is one.

    Examples
    --------
    >>> ndblas.nrm2(np.array([[3.0, 0.0], [0.0, 4.0]]))
    5.0
    >>> bool(np.isfinite(ndblas.nrm2(np.array([1e200, 1e200]))))
    True
    """
    cdef ndblas_view xv
    cdef double result
    cdef Array xa = read(&xv, x, "x")
    cdef PyThreadState *gil = release_gil(cnp.PyArray_SIZE(xa))
    finish(gil, ndblas_nrm2(&xv, &result))
    return result


def asum(x):
    """sum abs(x.real) + abs(x.imag), over all elements.

    Parameters
    ----------
    x : array of float32, float64, complex64 or complex128

    Returns
    -------
    float

    Examples
    --------
    >>> ndblas.asum(np.array([3 - 4j, -1]))
    8.0
    """
    cdef ndblas_view xv
    cdef double result
    cdef Array xa = read(&xv, x, "x")
    cdef PyThreadState *gil = release_gil(cnp.PyArray_SIZE(xa))
    finish(gil, ndblas_asum(&xv, &result))
    return result


def iamax(x):
    """The flat row-major index of the first NaN, or else of the first greatest abs(x.real) + abs(x.imag).

    Parameters
    ----------
    x : array of float32, float64, complex64 or complex128

    Returns
    -------
    int
        -1 for an empty array.

    Examples
    --------
    >>> x = np.array([[1.0, -5.0], [3.0, 5.0]])
    >>> ndblas.iamax(x), np.unravel_index(ndblas.iamax(x.T), (2, 2))
    (1, (np.int64(1), np.int64(0)))
    """
    cdef ndblas_view xv
    cdef Py_ssize_t result
    cdef Array xa = read(&xv, x, "x")
    cdef PyThreadState *gil = release_gil(cnp.PyArray_SIZE(xa))
    finish(gil, ndblas_iamax(&xv, &result))
    return result


# ---- fused ----

def mul_add(a, b, c, *, alpha=1.0, beta=1.0):
    """c <- beta*c + alpha*(a*b), element by element: by default ``c += a*b``, in one pass and without a temporary.

    Parameters
    ----------
    a, b : arrays of float32, float64, complex64 or complex128
        They broadcast to the shape of `c`.
    c : array of their dtype
        Updated in place. It may be `a`, `b` or both, and shares nothing else with them.
    alpha : number
        With 0, `a` and `b` are not read.
    beta : number
        With 0, `c` is written and not read.

    Returns
    -------
    c

    Examples
    --------
    >>> a = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> c = np.ones((2, 2))
    >>> ndblas.mul_add(a, np.array([10.0, 100.0]), c)
    array([[ 11., 201.],
           [ 31., 401.]])
    >>> ndblas.mul_add(a, a, a, beta=0)    # a *= a
    array([[ 1.,  4.],
           [ 9., 16.]])
    """
    cdef ndblas_scalar al, be
    cdef ndblas_view av, bv
    cdef ndblas_view_mut cv
    factor(&al, alpha, "alpha")
    factor(&be, beta, "beta")
    cdef Array aa = read(&av, a, "a"), ba = read(&bv, b, "b"), ca = write(&cv, c, "c")
    cdef PyThreadState *gil = release_gil(cnp.PyArray_SIZE(ca))
    finish(gil, ndblas_mul_add(al, &av, &bv, be, &cv))
    return c


# ---- permute ----

def permute(a, perm=None, out=None, *, alpha=1.0, beta=0.0):
    """out <- beta*out + alpha*np.transpose(a, perm).

    Parameters
    ----------
    a : array
        Of any of the twelve dtypes with alpha = 1 and beta = 0, else of float32, float64, complex64 or complex128.
    perm : sequence of int, optional
        Axis d of `out` is axis ``perm[d]`` of `a`. Without it the axes are reversed.
    out : array of the dtype of a, optional
        Updated in place, in any layout. It shares nothing with `a`, or is the same cells index by index. Without it, a
        new row-major array.
    alpha : number
        With 0, `a` is not read.
    beta : number
        With 0, `out` is written and not read.

    Returns
    -------
    out

    See Also
    --------
    permute_in_place : in the memory of a.

    Examples
    --------
    A transposed activation is stored, and its gradient back, without another array:

    >>> x = np.arange(24.0).reshape(2, 3, 2, 2)    # as a layer makes it
    >>> y = np.empty((3, 2, 2, 2))                 # as the next one wants it
    >>> _ = ndblas.permute(x, (1, 0, 2, 3), out=y)
    >>> bool((y == x.transpose(1, 0, 2, 3)).all())
    True
    >>> dx = np.zeros_like(x)
    >>> _ = ndblas.permute(y, (1, 0, 2, 3), out=dx, beta=1)    # dx += y.transpose(1, 0, 2, 3)
    >>> bool((dx == x).all())
    True
    """
    cdef ndblas_scalar al, be
    cdef ndblas_view av
    cdef ndblas_view_mut ov
    cdef int32_t[MAX_NDIM] axes
    cdef Py_ssize_t[MAX_NDIM] shape
    cdef int d
    factor(&al, alpha, "alpha")
    factor(&be, beta, "beta")
    cdef Array aa = read(&av, a, "a")
    read_perm(axes, perm, av.ndim, "a")
    if out is None:
        if be.re != 0 or be.im != 0:
            no_output(be)
        for d in range(av.ndim):
            shape[d] = av.shape[axes[d]]
        out = fresh(av.ndim, shape, aa)
    cdef Array oa = write(&ov, out, "out")
    cdef PyThreadState *gil = release_gil(cnp.PyArray_SIZE(oa))
    finish(gil, ndblas_permute(al, &av, axes, be, &ov))
    return out


def permute_in_place(a, perm=None):
    """a <- np.transpose(a, perm), in its own memory.

    Parameters
    ----------
    a : array of any of the twelve dtypes
        Either row-major and contiguous, and then its memory holds the transposed array row-major; or in any layout, with
        a shape that `perm` keeps, and then its elements are transposed. Other layouts are refused.
    perm : sequence of int, optional
        As for `permute`.

    Returns
    -------
    array
        The transposed array, a view of the memory of `a`. `a` itself keeps its shape: use the result in its stead.

    Notes
    -----
    Extra memory is bounded by a few rows or 512 KiB a thread.

    Examples
    --------
    >>> a = np.arange(6).reshape(2, 3)
    >>> b = ndblas.permute_in_place(a)
    >>> b
    array([[0, 3],
           [1, 4],
           [2, 5]])
    >>> np.shares_memory(a, b)
    True
    """
    cdef ndblas_view_mut av
    cdef int32_t[MAX_NDIM] axes
    cdef int d
    cdef bint same = True
    cdef Array aa = write(&av, a, "a")
    read_perm(axes, perm, av.ndim, "a")
    for d in range(av.ndim):
        same = same and av.shape[d] == av.shape[axes[d]]
    cdef PyThreadState *gil = release_gil(cnp.PyArray_SIZE(aa))
    finish(gil, ndblas_permute_in_place(&av, axes))
    return aa if same else aa.reshape([av.shape[axes[d]] for d in range(av.ndim)])


# ---- indexed ----

def gather(a, index, int axis, out=None, *, mode="raise", alpha=1.0, beta=0.0):
    """out[.., l, ..] <- beta*out + alpha*a[.., index[.., l, ..], ..] along axis, as NumPy's take_along_axis.

    Parameters
    ----------
    a : array
        Of any of the twelve dtypes with alpha = 1 and beta = 0, else of float32, float64, complex64 or complex128. Of any
        extent on the axis; off the axis it broadcasts.
    index : array of an integer dtype, or sequence of int
        Broadcasts to `out`. It is read as it is: no index tensor is made, and what does not depend on a trailing axis
        moves whole rows.
    axis : int
        An axis of the rank to which `a`, `index` and `out` are left-padded with axes of length 1.
    out : array of the dtype of a, optional
        Updated in place. It shares nothing with `a` or `index`. Without it, a new row-major array.
    mode : {'raise', 'wrap', 'clip', 'drop'}
        What an index out of range is: an error, taken modulo the extent, the nearest in range, or read as zero. Under
        'raise' and 'drop' negative indices count from the end.
    alpha : number
        With 0, neither `a` nor `index` is read.
    beta : number
        With 0, `out` is written and not read.

    Returns
    -------
    out

    Raises
    ------
    IndexError
        With the position, the value and the extent; nothing has been written then.

    See Also
    --------
    scatter_add : its adjoint.
    take : a whole subarray for each index, as NumPy's take.
    gather_nd : with an index on each of several axes.

    Examples
    --------
    ``c[i,l,k] = a[i, b[i,l], k]``:

    >>> a = np.arange(12.0).reshape(2, 3, 2)
    >>> b = np.array([[2, 0], [1, -1]])
    >>> ndblas.gather(a, b[:, :, None], axis=1)
    array([[[ 4.,  5.],
            [ 0.,  1.]],
    <BLANKLINE>
           [[ 8.,  9.],
            [10., 11.]]])
    """
    cdef ndblas_scalar al, be
    cdef ndblas_view av, iv
    cdef ndblas_view_mut ov
    cdef Py_ssize_t[MAX_NDIM] shape
    cdef bint[MAX_NDIM] skip
    cdef int d, ndim
    cdef int32_t how = mode_of(mode)
    factor(&al, alpha, "alpha")
    factor(&be, beta, "beta")
    cdef Array aa = read(&av, a, "a"), ia = read_index(&iv, index, "index")
    if out is None:
        if be.re != 0 or be.im != 0:
            no_output(be)
        ndim = max(av.ndim, iv.ndim)
        if axis < -ndim or axis >= ndim:
            no_axis(axis, ndim)
        for d in range(ndim):
            shape[d] = 1
            skip[d] = d == (axis + ndim if axis < 0 else axis)
        broadcast(shape, ndim, &iv, NULL)
        broadcast(shape, ndim, &av, skip)
        out = fresh(ndim, shape, aa)
    cdef Array oa = write(&ov, out, "out")
    cdef PyThreadState *gil = release_gil(cnp.PyArray_SIZE(oa))
    finish(gil, ndblas_gather(al, &av, axis, &iv, how, be, &ov))
    return out


def take(a, indices, int axis, out=None, *, mode="raise", alpha=1.0, beta=0.0):
    """out <- beta*out + alpha*np.take(a, indices, axis): the subarray of a for each index.

    Parameters
    ----------
    a : array
        As for `gather`.
    indices : array of an integer dtype, of any shape, or int, or sequence of int
    axis : int
        An axis of `a`.
    out : array of the dtype of a, optional
        Of shape ``a.shape[:axis] + indices.shape + a.shape[axis+1:]``. Without it, a new row-major array.
    mode, alpha, beta
        As for `gather`.

    Returns
    -------
    out

    Examples
    --------
    Rows of an embedding:

    >>> table = np.array([[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]])
    >>> ndblas.take(table, [[2, 0]], axis=0)
    array([[[2. , 2.5],
            [0. , 0.5]]])
    """
    cdef ndblas_scalar al, be
    cdef ndblas_view av, iv
    cdef ndblas_view_mut ov
    # One axis of a becomes the axes of the index; on all of them but the first a has length 1.
    cdef Py_ssize_t[MAX_TAKE_NDIM] a_shape, a_strides, i_shape, i_strides, o_shape, o_strides
    cdef int d, of, ndim, count, at
    cdef int32_t how = mode_of(mode)
    factor(&al, alpha, "alpha")
    factor(&be, beta, "beta")
    cdef Array aa = read(&av, a, "a"), ia = read_index(&iv, indices, "index")
    if axis < -av.ndim or axis >= av.ndim:
        no_axis(axis, av.ndim)
    at = axis + av.ndim if axis < 0 else axis
    count = max(iv.ndim, 1)
    ndim = av.ndim - 1 + count
    for d in range(ndim):
        a_shape[d], a_strides[d] = 1, 0
        i_shape[d], i_strides[d] = 1, 0
        if at <= d < at + iv.ndim:
            i_shape[d], i_strides[d] = iv.shape[d - at], iv.strides[d - at]
        if d <= at or d >= at + count:
            of = d if d <= at else d - count + 1
            a_shape[d], a_strides[d] = av.shape[of], av.strides[of]
        # for a fresh out
        o_shape[d] = i_shape[d] if at <= d < at + count else a_shape[d]
    if out is None:
        if be.re != 0 or be.im != 0:
            no_output(be)
        if iv.ndim == 0:
            for d in range(at, ndim - 1):
                o_shape[d] = o_shape[d + 1]
            out = fresh(ndim - 1, o_shape, aa)
        elif ndim > MAX_NDIM:
            raise ValueError(f"out would have {ndim} axes: a rank is 0 to {MAX_NDIM}")
        else:
            out = fresh(ndim, o_shape, aa)
    cdef Array oa = write(&ov, out, "out")
    if iv.ndim == 0 and ov.ndim == ndim - 1:
        # An axis of length 1, where the index has its only element.
        for d in range(ndim):
            if d == at:
                o_shape[d], o_strides[d] = 1, 0
            else:
                o_shape[d], o_strides[d] = ov.shape[d - (d > at)], ov.strides[d - (d > at)]
        ov.shape, ov.strides, ov.ndim = o_shape, o_strides, ndim
    av.shape, av.strides, av.ndim = a_shape, a_strides, ndim
    iv.shape, iv.strides, iv.ndim = i_shape, i_strides, ndim
    cdef PyThreadState *gil = release_gil(cnp.PyArray_SIZE(oa))
    finish(gil, ndblas_gather(al, &av, at, &iv, how, be, &ov))
    return out


def scatter_add(src, index, int axis, out, *, mode="raise", alpha=1.0):
    """out[.., index[.., l, ..], ..] += alpha*src[.., l, ..] along axis: the adjoint of gather.

    Parameters
    ----------
    src : array
        Of any of the twelve dtypes with alpha = 1 (integers wrap), else of float32, float64, complex64 or complex128.
    index : array of an integer dtype, or sequence of int
        `src` and `index` broadcast to their common shape.
    axis : int
        An axis of the rank to which `src`, `index` and `out` are left-padded with axes of length 1.
    out : array of the dtype of src
        Updated in place. It has exactly the extents of that common shape off the axis, and any extent on it. It shares
        nothing with `src` or `index`.
    mode : {'raise', 'wrap', 'clip', 'drop'}
        As for `gather`; under 'drop' what is out of range adds nothing.
    alpha : number
        With 0, nothing is read or written.

    Returns
    -------
    out

    Raises
    ------
    IndexError
        With the position, the value and the extent; nothing has been written then.

    Notes
    -----
    ``np.add.at`` does it one element at a time; here rows are added whole. Terms of one sum are added in row-major order,
    for any number of threads: the bits are those of the serial loop.

    Examples
    --------
    The gradient of ``c[i,l,k] = a[i, b[i,l], k]`` is ``da[i, b[i,l], k] += dc[i,l,k]``:

    >>> b = np.array([[2, 0], [1, 1]])
    >>> dc = np.arange(8.0).reshape(2, 2, 2)
    >>> ndblas.scatter_add(dc, b[:, :, None], axis=1, out=np.zeros((2, 3, 2)))
    array([[[ 2.,  3.],
            [ 0.,  0.],
            [ 0.,  1.]],
    <BLANKLINE>
           [[ 0.,  0.],
            [10., 12.],
            [ 0.,  0.]]])
    """
    cdef ndblas_scalar al
    cdef ndblas_view sv, iv
    cdef ndblas_view_mut ov
    cdef int32_t how = mode_of(mode)
    factor(&al, alpha, "alpha")
    cdef Array sa = read(&sv, src, "src"), ia = read_index(&iv, index, "index"), oa = write(&ov, out, "out")
    cdef PyThreadState *gil = release_gil(max(cnp.PyArray_SIZE(sa), cnp.PyArray_SIZE(ia)))
    finish(gil, ndblas_scatter_add(al, &sv, axis, &iv, how, &ov))
    return out


cdef list read_indices(ndblas_view *views, int32_t *axes, object indices, object axes_of):
    """Fills views and axes with the pairs of an index and an axis; returns the arrays which have to live as long."""
    cdef tuple index_tuple = tuple(indices), axis_tuple = tuple(axes_of)
    cdef Py_ssize_t k
    if len(index_tuple) != len(axis_tuple):
        raise ValueError(f"there are {len(index_tuple)} indices, but {len(axis_tuple)} axes")
    if len(index_tuple) > MAX_NDIM:
        raise ValueError(f"there are {len(index_tuple)} indices, but a rank is 0 to {MAX_NDIM}")
    arrays = []
    for k in range(len(index_tuple)):
        axes[k] = axis_tuple[k]
        arrays.append(read_index(&views[k], index_tuple[k], "index"))
    return arrays


def gather_nd(a, indices, axes, out=None, *, mode="raise", alpha=1.0, beta=0.0):
    """out[x] <- beta*out[x] + alpha*a[y], where y[axes[k]] = indices[k][x], and y[d] = x[d] on all other axes.

    Parameters
    ----------
    a : array
        As for `gather`. Of any extents on the indexed axes; on the others it broadcasts.
    indices : sequence of arrays of integer dtypes
        Each broadcasts to `out` on all axes.
    axes : sequence of int
        The axis of each index, each at most once, of the rank to which `a`, `out` and all indices are left-padded with
        axes of length 1.
    out : array of the dtype of a, optional
        Updated in place. Without it, a new row-major array.
    mode : {'raise', 'wrap', 'clip', 'drop'}
        As for `gather`, one for all. Under 'drop' an element reads as zero if one of its indices is out of range.
    alpha, beta : number
        As for `gather`.

    Returns
    -------
    out

    See Also
    --------
    scatter_add_nd : its adjoint.

    Examples
    --------
    ``out[j] = a[rows[j], columns[j]]``:

    >>> a = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> ndblas.gather_nd(a, ([1, 0, 1], [2, 0, -2]), (0, 1))
    array([[6., 1., 5.]])
    """
    cdef ndblas_scalar al, be
    cdef ndblas_view av
    cdef ndblas_view_mut ov
    cdef ndblas_view[MAX_NDIM] views
    cdef int32_t[MAX_NDIM] on
    cdef Py_ssize_t[MAX_NDIM] shape
    cdef bint[MAX_NDIM] skip
    cdef int d, k, n, ndim
    cdef int32_t how = mode_of(mode)
    factor(&al, alpha, "alpha")
    factor(&be, beta, "beta")
    cdef Array aa = read(&av, a, "a")
    cdef list arrays = read_indices(views, on, indices, axes)
    n = <int>len(arrays)
    if out is None:
        if be.re != 0 or be.im != 0:
            no_output(be)
        ndim = av.ndim
        for k in range(n):
            ndim = max(ndim, views[k].ndim)
        for d in range(ndim):
            shape[d] = 1
            skip[d] = False
        for k in range(n):
            if on[k] < -ndim or on[k] >= ndim:
                no_axis(on[k], ndim)
            skip[on[k] + ndim if on[k] < 0 else on[k]] = True
            broadcast(shape, ndim, &views[k], NULL)
        broadcast(shape, ndim, &av, skip)
        out = fresh(ndim, shape, aa)
    cdef Array oa = write(&ov, out, "out")
    cdef PyThreadState *gil = release_gil(cnp.PyArray_SIZE(oa))
    finish(gil, ndblas_gather_nd(al, &av, n, on, views, how, be, &ov))
    return out


def scatter_add_nd(src, indices, axes, out, *, mode="raise", alpha=1.0):
    """out[y] += alpha*src[x], where y[axes[k]] = indices[k][x], and y[d] = x[d] on all other axes: the adjoint of
    gather_nd.

    Parameters
    ----------
    src : array
        As for `scatter_add`.
    indices : sequence of arrays of integer dtypes
        `src` and all indices broadcast to their common shape.
    axes : sequence of int
        The axis of each index, each at most once, of the rank to which `src`, `out` and all indices are left-padded with
        axes of length 1.
    out : array of the dtype of src
        Updated in place. It has exactly the extents of that common shape off the indexed axes, and any extents on them.
    mode : {'raise', 'wrap', 'clip', 'drop'}
        As for `gather`. Under 'drop' a term is dropped if one of its indices is out of range.
    alpha : number
        With 0, nothing is read or written.

    Returns
    -------
    out

    Examples
    --------
    A histogram of points in the plane:

    >>> x, y = [0, 1, 1], [2, 0, 0]
    >>> ndblas.scatter_add_nd(np.array(1), (x, y), (0, 1), np.zeros((2, 3), int))
    array([[0, 0, 1],
           [2, 0, 0]])
    """
    cdef ndblas_scalar al
    cdef ndblas_view sv
    cdef ndblas_view_mut ov
    cdef ndblas_view[MAX_NDIM] views
    cdef int32_t[MAX_NDIM] on
    cdef int k
    cdef Py_ssize_t work
    cdef int32_t how = mode_of(mode)
    factor(&al, alpha, "alpha")
    cdef Array sa = read(&sv, src, "src"), oa
    cdef list arrays = read_indices(views, on, indices, axes)
    oa = write(&ov, out, "out")
    work = cnp.PyArray_SIZE(sa)
    for k in range(<int>len(arrays)):
        work = max(work, cnp.PyArray_SIZE(<Array>arrays[k]))
    cdef PyThreadState *gil = release_gil(work)
    finish(gil, ndblas_scatter_add_nd(al, &sv, <int32_t>len(arrays), on, views, how, &ov))
    return out


# ---- runtime ----

def set_num_threads(int n):
    """Sets the number of threads for the whole process; less than 1 takes the default back.

    Results do not depend on it. The default is ``NDBLAS_NUM_THREADS``, else ``OMP_NUM_THREADS``, else the CPUs that this
    process may use.

    Examples
    --------
    >>> ndblas.set_num_threads(2)
    >>> ndblas.get_num_threads()
    2
    >>> ndblas.set_num_threads(0)
    """
    ndblas_set_num_threads(n)


def get_num_threads():
    """The number of threads that a call from the calling thread may use.

    Returns
    -------
    int
    """
    return ndblas_get_num_threads()


def _set_num_threads_local(int n):
    """Sets the number of threads for calls from the calling thread only; less than 1 takes it back."""
    ndblas_set_num_threads_local(n)


def config():
    """One line: the version, the BLAS behind it, the instruction set in use.

    Returns
    -------
    str
    """
    return ndblas_config().decode()


def _version():
    return ndblas_version().decode()
