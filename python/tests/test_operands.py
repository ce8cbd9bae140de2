"""What counts as an array besides numpy.ndarray."""

import array
import ctypes

import ndblas
import numpy as np
import pytest


class Lender:
    """Lends an array by DLPack alone, as tensors of other libraries do."""

    def __init__(self, a, device=None):
        self._a, self._device = a, device

    def __dlpack__(self, **how):
        return self._a.__dlpack__(**how)

    def __dlpack_device__(self):
        return self._device or self._a.__dlpack_device__()


def test_buffers():
    y = array.array("d", [1, 2, 3, 4])
    assert ndblas.scal(2, y) is y and y.tolist() == [2, 4, 6, 8]
    assert ndblas.dot(memoryview(y)[::2], (ctypes.c_double * 2)(1, 10)) == 62
    square = memoryview(y).cast("B").cast("d", (2, 2))
    assert np.array_equal(ndblas.permute(square), [[2, 6], [4, 8]])
    raw = bytearray(3)
    assert ndblas.copy(b"abc", raw) is raw and raw == b"abc"
    with pytest.raises(ValueError, match="y is read-only"):
        ndblas.fill(0, b"abc")
    assert ndblas.dot(np.float64(3), np.float64(4)) == 12
    with pytest.raises(ValueError, match="y is read-only"):
        ndblas.fill(0, np.float64(3))
    assert ndblas.take(y, array.array("b", [-1, 0]), 0).tolist() == [8, 2]


def test_dlpack():
    a = np.arange(6.0).reshape(2, 3)
    lent = Lender(a)
    assert ndblas.scal(2, lent) is lent and a[1, 2] == 10
    assert np.array_equal(ndblas.permute(Lender(a.T)), a)
    assert np.array_equal(ndblas.gather(lent, Lender(np.array([[2], [0]])), 1), [[4], [6]])
    with pytest.raises(TypeError, match="x is on a device .*type 2.*CPU"):
        ndblas.asum(Lender(a, device=(2, 0)))


def test_views_of_ndarray(tmp_path):
    class Subclass(np.ndarray):
        pass

    m = np.array([[1.0, 2.0], [3.0, 4.0]]).view(Subclass)
    assert ndblas.axpy(1, m, np.zeros((2, 2))).tolist() == [[1, 2], [3, 4]]
    assert ndblas.scal(2, m) is m and m[1, 1] == 8
    on_disk = np.lib.format.open_memmap(tmp_path / "a.npy", "w+", "f8", (3,))
    assert ndblas.fill(7, on_disk) is on_disk and on_disk.sum() == 21
    record = np.zeros(3, [("n", "i1"), ("x", "f8")])
    ndblas.fill(2.5, record["x"])
    assert record["x"].tolist() == [2.5] * 3 and not record["n"].any()
    z = np.zeros(2, complex)
    ndblas.fill(1, z.imag)
    assert z.tolist() == [1j, 1j]


@pytest.mark.parametrize("x", [[1.0], 1.0, None, "abc", {1: 2}])
def test_no_arrays(x):
    with pytest.raises(TypeError, match=f"x is of type {type(x).__name__}, but an array is needed"):
        ndblas.asum(x)
