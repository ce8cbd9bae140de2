"""What is refused, how it says so, and that nothing has been written then."""

import re

import ndblas
import numpy as np
import pytest
from numpy.exceptions import AxisError


def refused(error, words, call, *outputs):
    """The call raises, all the words are in its message, and the outputs are as they were."""
    before = [np.array(y, copy=True) for y in outputs]
    with pytest.raises(error) as caught:
        call()
    for word in words:
        assert word in str(caught.value), f"{word!r} is not in {str(caught.value)!r}"
    for y, old in zip(outputs, before):
        assert np.array_equal(y, old)


X, Y = np.arange(4.0), np.arange(4.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda y: ndblas.fill(1, y),
        lambda y: ndblas.copy(X, y),
        lambda y: ndblas.swap(y, Y),
        lambda y: ndblas.scal(2, y),
        lambda y: ndblas.axpy(1, X, y),
        lambda y: ndblas.axpby(1, X, 1, y),
        lambda y: ndblas.rot(y, Y, 1, 0),
        lambda y: ndblas.mul_add(X, X, y),
        lambda y: ndblas.permute(X, None, y),
        lambda y: ndblas.permute_in_place(y),
        lambda y: ndblas.gather(X, [0, 1, 2, 3], 0, y),
        lambda y: ndblas.take(X, [0, 1, 2, 3], 0, y),
        lambda y: ndblas.scatter_add(X, [0, 1, 2, 3], 0, y),
        lambda y: ndblas.gather_nd(X, [[0, 1, 2, 3]], [0], y),
        lambda y: ndblas.scatter_add_nd(X, [[0, 1, 2, 3]], [0], y),
    ],
)
def test_outputs(call):
    """No routine writes through a hidden copy: what would need one is refused, with the other side named."""
    locked = np.zeros(4)
    locked.flags.writeable = False
    refused(ValueError, ["is read-only"], lambda: call(locked), locked)
    swapped = np.zeros(4, np.dtype("f8").newbyteorder())
    refused(TypeError, [swapped.dtype.str, "byte-swapped", np.dtype("f8").str], lambda: call(swapped), swapped)
    refused(TypeError, ["list", "an array is needed"], lambda: call([0.0] * 4))
    refused(ValueError, ["overlaps itself"], lambda: call(np.lib.stride_tricks.as_strided(np.zeros(4), (4,), (0,))))
    masked = np.ma.zeros(4)
    refused(TypeError, ["masked"], lambda: call(masked), masked)
    for dtype in ("bool", "f2", "O", "m8[s]", "S3"):
        refused(TypeError, [str(np.dtype(dtype)), "float64"], lambda: call(np.zeros(4, dtype)))


@pytest.mark.parametrize(
    "call",
    [
        lambda x, y: ndblas.copy(x, y),
        lambda x, y: ndblas.swap(x, y),
        lambda x, y: ndblas.axpy(1, x, y),
        lambda x, y: ndblas.axpby(1, x, 1, y),
        lambda x, y: ndblas.rot(x, y, 1, 0),
        lambda x, y: ndblas.mul_add(x, x, y),
        lambda x, y: ndblas.dot(x, y),
        lambda x, y: ndblas.vdot(x, y),
        lambda x, y: ndblas.permute(x, None, y),
        lambda x, y: ndblas.gather(x, [0, 1, 2, 3], 0, y),
        lambda x, y: ndblas.take(x, [0, 1, 2, 3], 0, y),
        lambda x, y: ndblas.scatter_add(x, [0, 1, 2, 3], 0, y),
        lambda x, y: ndblas.gather_nd(x, [[0, 1, 2, 3]], [0], y),
        lambda x, y: ndblas.scatter_add_nd(x, [[0, 1, 2, 3]], [0], y),
    ],
)
def test_dtypes_that_differ(call):
    x, y = np.ones(4, "f4"), np.ones(4)
    refused(TypeError, ["dtype float32", "dtype float64"], lambda: call(x, y), x, y)


@pytest.mark.parametrize("name", ["scal", "asum", "nrm2", "iamax"])
def test_integers_have_no_arithmetic(name):
    y = np.ones(3, int)
    refused(TypeError, ["no arithmetic"], lambda: getattr(ndblas, name)(*([2] if name == "scal" else []), y), y)


def test_factors():
    y = np.ones(3)
    refused(ValueError, ["alpha", "imaginary"], lambda: ndblas.scal(1j, y), y)
    refused(TypeError, ["alpha", "str", "number"], lambda: ndblas.scal("2", y), y)
    refused(ValueError, ["alpha", "cannot hold"], lambda: ndblas.fill(0.5, np.ones(3, int)))
    refused(ValueError, ["alpha", "cannot hold"], lambda: ndblas.fill(300, np.ones(3, "u1")))
    refused(ValueError, ["beta is 2.0", "no out"], lambda: ndblas.permute(y, beta=2))
    refused(ValueError, ["beta is 1.0", "no out"], lambda: ndblas.gather(y, [0], 0, beta=1))


def test_shapes():
    y = np.zeros((2, 3))
    refused(ValueError, ["(2,)", "(2, 3)"], lambda: ndblas.copy(np.ones(2), y), y)
    refused(ValueError, ["(2,)", "(2, 3)", "c"], lambda: ndblas.mul_add(np.ones(3), np.ones(2), y), y)
    refused(ValueError, ["(2,)", "(3,)"], lambda: ndblas.swap(np.ones(2), np.ones(3)))
    refused(ValueError, ["(2, 3)", "(3, 2)"], lambda: ndblas.permute(y, None, np.ones((2, 3))))
    refused(ValueError, ["(3, 3)"], lambda: ndblas.scatter_add(y, [[0]], 1, np.ones((3, 3))))


def test_overlap():
    y = np.arange(6.0)
    refused(ValueError, ["overlaps"], lambda: ndblas.copy(y[:-1], y[1:]), y)
    refused(ValueError, ["overlaps"], lambda: ndblas.axpy(1, y[::-1], y), y)
    refused(ValueError, ["overlaps"], lambda: ndblas.gather(y, [0] * 6, 0, y), y)
    index = np.zeros(6, int)
    refused(ValueError, ["overlaps", "index"], lambda: ndblas.gather(np.arange(6), index, 0, index), index)
    # What interleaves and never meets is no overlap.
    ndblas.copy(y[::2], y[1::2])
    assert np.array_equal(y, [0, 0, 2, 2, 4, 4])


def test_an_index_out_of_range():
    a, out = np.zeros((2, 3, 4)), np.ones((2, 2, 4))
    index = np.array([[0, 1], [2, 3]])
    for call in (
        lambda: ndblas.gather(a, index[:, :, None], 1, out),
        lambda: ndblas.gather_nd(a, [index[:, :, None]], [1], out),
        lambda: ndblas.scatter_add(np.ones((2, 2, 4)), index[:, :, None], 1, a),
        lambda: ndblas.scatter_add_nd(np.ones((2, 2, 4)), [index[:, :, None]], [1], a),
    ):
        refused(IndexError, ["(1, 1, 0)", "is 3", "axis 1", "extent is 3"], call, a, out)
    refused(IndexError, ["(1,)", "is -4", "extent is 3"], lambda: ndblas.take(np.zeros(3), [0, -4], 0))
    refused(TypeError, ["float64", "integer"], lambda: ndblas.gather(np.zeros(3), np.zeros(3), 0))
    refused(TypeError, ["bool"], lambda: ndblas.gather(np.zeros(3), np.array([True]), 0))


def test_axes():
    a = np.zeros((2, 3))
    for call in (
        lambda: ndblas.gather(a, [0], 2),
        lambda: ndblas.gather(a, [[0]], -3, np.zeros((2, 1))),
        lambda: ndblas.take(a, [0], 2),
        lambda: ndblas.scatter_add(a, [[0]], 5, a.copy()),
        lambda: ndblas.gather_nd(a, [[0]], [2]),
    ):
        refused(AxisError, ["axis", "out of range for rank 2"], call)
    refused(AxisError, ["axis 1", "twice"], lambda: ndblas.gather_nd(a, [[0], [0]], [1, -1]))
    for perm in ((0,), (0, 0), (0, 2), (0, 1, 2), (-3, 0)):
        for call in (lambda: ndblas.permute(a, perm), lambda: ndblas.permute_in_place(a, perm)):
            refused(AxisError, ["no permutation of the 2 axes of a", "perm ("], call, a)
    refused(ValueError, ["2 indices", "1 axes"], lambda: ndblas.gather_nd(a, [[0], [0]], [1]))


def test_layout():
    a = np.zeros((4, 6))[:, ::2]
    refused(ValueError, ["(4, 3)", "(48, 16)"], lambda: ndblas.permute_in_place(a), a)


def test_mode():
    refused(ValueError, ["'wrong'", "'raise', 'wrap', 'clip' or 'drop'"], lambda: ndblas.gather(X, [0], 0, mode="wrong"))


def test_the_message_of_a_thread_is_its_own():
    import threading

    texts = {}

    def run(n):
        for _ in range(200):
            try:
                ndblas.copy(np.ones(n), np.zeros(1))
            except ValueError as error:
                texts.setdefault(n, set()).add(str(error))

    some = [threading.Thread(target=run, args=(n,)) for n in (2, 3, 5, 7)]
    for thread in some:
        thread.start()
    for thread in some:
        thread.join()
    assert {n: {re.search(r"\((\d+),\)", t)[1] for t in s} for n, s in texts.items()} == {n: {str(n)} for n in (2, 3, 5, 7)}
