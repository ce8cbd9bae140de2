"""A package built against ours (tests/memoryviews): its descriptors are those of the arrays, its errors ours, and the
library the same."""

import ndblas
import numpy as np
import pytest
from layouts import DTYPES, laid, values

cython = pytest.importorskip("ndblas_test_memoryviews", reason="tests/memoryviews is not installed")
NUMBERS = {"f4": 1, "f8": 2, "c8": 3, "c16": 4, "i1": 5, "i2": 6, "i4": 7, "i8": 8, "u1": 9, "u2": 10, "u4": 11, "u8": 12}


def descriptor(a):
    return a.ctypes.data, a.shape, a.strides, NUMBERS[a.dtype.str[1:]]


@pytest.mark.parametrize("dtype", DTYPES)
def test_element_types(dtype):
    a = np.zeros((6, 8), dtype)[::-2, 1::3]
    assert cython.element(a) == descriptor(a)


@pytest.mark.parametrize("ndim", range(1, 8))
def test_ranks(ndim):
    a = laid(np.random.default_rng(ndim), np.ones((2,) * ndim))
    assert cython.rank(a) == descriptor(a)
    empty = np.zeros((0,) * ndim)
    address, shape, _, number = cython.rank(empty)
    assert (address, shape, number) == (empty.ctypes.data, empty.shape, NUMBERS["f8"])


def test_contiguous():
    a, b = np.zeros((2, 3, 4), "f4"), np.zeros((3, 4), "c16", order="F")
    assert cython.row_major(a) == descriptor(a)
    assert cython.column_major(b) == descriptor(b)


def test_read_only():
    x, i, j, z = arrays = np.zeros((3, 4))[:, ::2], np.arange(3), np.zeros(5, "u1"), np.zeros((2, 2), "c8")
    for a in arrays:
        a.flags.writeable = False
    assert cython.read_only(*arrays) == [descriptor(a) for a in arrays]


def test_native_names():
    arrays = [np.zeros(3, np.dtype(c)) for c in ("h", "i", "l", "q", "H", "I", "L", "Q", "p", "P", "b", "B")]
    told = cython.natives(*arrays)
    assert [t[:3] for t in told] == [descriptor(a)[:3] for a in arrays]
    signed, unsigned = ({1: 5, 2: 6, 4: 7, 8: 8}, {1: 9, 2: 10, 4: 11, 8: 12})
    assert [t[3] for t in told] == [(signed if a.dtype.kind == "i" else unsigned)[a.itemsize] for a in arrays]


def test_slices():
    a = np.zeros((3, 4, 5))
    row, fresh, c = cython.parts(a, 2)
    assert row == descriptor(a[2, ::-1])
    # The stride of a new axis is free.
    assert fresh[1] == (3, 1) and fresh[0] == a[:, 2, 1].ctypes.data and fresh[2][0] == a.strides[0]
    assert c == ((2, 3), (24, 8), 2)


def test_errors():
    x, y = values(np.random.default_rng(1), (3, 4), "f8"), np.zeros((3, 4))
    cython.status(x, y)
    assert np.array_equal(x, y)
    with pytest.raises(ValueError, match=r"x of shape \(3, 4\) does not broadcast to the shape \(2, 4\) of y"):
        cython.status(x, y[:2])
    with pytest.raises(ValueError, match="x is NULL"):
        cython.status(x, y, none=True)
    with pytest.raises(IndexError, match=r"index\(1,\) is 3, out of range for axis 0 of a, whose extent is 3"):
        cython.gathered(np.zeros(3), np.array([0, 3]), np.zeros(2))
    with pytest.raises(ValueError, match="axis 1 is out of range for rank 1"):
        cython.gathered(np.zeros(3), np.array([0, 2]), np.zeros(2), 1)


def test_the_library_is_one():
    """Settings made in Python hold for the other package's calls."""
    ndblas.set_num_threads(7)
    try:
        assert cython.threads() == 7
        with ndblas.threads(2):
            assert cython.threads() == 2
    finally:
        ndblas.set_num_threads(0)
