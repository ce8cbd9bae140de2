"""Every routine against NumPy, on arrays of every dtype in random layouts."""

import layouts
import ndblas
import numpy as np
import pytest
from layouts import DTYPES, FLOATS, INTS, Laid, close, input_for, laid, number, shape, values

ROUNDS = 25


@pytest.fixture(params=range(ROUNDS))
def rng(request):
    return np.random.default_rng(request.param)


def nan_filled(rng, shape, dtype):
    """An output that must not be read."""
    dtype = np.dtype(dtype)
    return Laid(rng, np.full(shape, np.nan if dtype.kind in "fc" else 77, dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_fill_copy_swap(rng, dtype):
    s = shape(rng)
    y, x = Laid(rng, values(rng, s, dtype)), input_for(rng, s, dtype)
    assert ndblas.copy(x, y.view) is y.view
    assert np.array_equal(y.view, np.broadcast_to(x, s))
    fresh = ndblas.copy(x)
    assert fresh.dtype == x.dtype and fresh.flags.c_contiguous and np.array_equal(fresh, x)

    other = Laid(rng, values(rng, s, dtype))
    a, b = y.view.copy(), other.view.copy()
    assert ndblas.swap(y.view, other.view) is None
    assert np.array_equal(y.view, b) and np.array_equal(other.view, a)

    assert ndblas.fill(3, y.view) is y.view
    assert (y.view == 3).all()
    assert y.unharmed() and other.unharmed()


@pytest.mark.parametrize("dtype", FLOATS)
def test_updates(rng, dtype):
    s = shape(rng)
    start, x, z = values(rng, s, dtype), input_for(rng, s, dtype), input_for(rng, s, dtype)
    alpha, beta = number(rng, dtype), number(rng, dtype)
    for expected, call in (
        (alpha * start, lambda y: ndblas.scal(alpha, y)),
        (start + alpha * x, lambda y: ndblas.axpy(alpha, x, y)),
        (beta * start + alpha * x, lambda y: ndblas.axpby(alpha, x, beta, y)),
        (start + x * z, lambda y: ndblas.mul_add(x, z, y)),
        (beta * start + alpha * (x * z), lambda y: ndblas.mul_add(x, z, y, alpha=alpha, beta=beta)),
    ):
        y = Laid(rng, start)
        assert call(y.view) is y.view
        assert close(y.view, expected, dtype)
        assert y.unharmed()
    y = nan_filled(rng, s, dtype)
    ndblas.mul_add(x, z, y.view, beta=0)
    assert close(y.view, np.broadcast_to(x * z, s), dtype)


@pytest.mark.parametrize("dtype", FLOATS)
def test_in_place(rng, dtype):
    y = Laid(rng, values(rng, shape(rng), dtype))
    start = y.view.copy()
    ndblas.mul_add(y.view, y.view, y.view)
    assert close(y.view, start + start * start, dtype)
    ndblas.axpy(1, y.view, y.view)
    assert close(y.view, 2 * (start + start * start), dtype)
    assert y.unharmed()


@pytest.mark.parametrize("dtype", FLOATS)
def test_rot(rng, dtype):
    s = shape(rng)
    x, y = Laid(rng, values(rng, s, dtype)), Laid(rng, values(rng, s, dtype))
    a, b = x.view.copy(), y.view.copy()
    assert ndblas.rot(x.view, y.view, 0.6, 0.8) is None
    assert close(x.view, 0.6 * a + 0.8 * b, dtype) and close(y.view, 0.6 * b - 0.8 * a, dtype)
    assert x.unharmed() and y.unharmed()


@pytest.mark.parametrize("dtype", FLOATS)
def test_reductions(rng, dtype):
    s = shape(rng)
    x, y = input_for(rng, s, dtype), laid(rng, values(rng, s, dtype))
    wide = "c16" if np.dtype(dtype).kind == "c" else "f8"
    u, v = np.broadcast_to(x, s).astype(wide), y.astype(wide)
    tolerance = layouts.TOLERANCE[dtype] * (1 + np.abs(u * v).sum())
    for got, expected in (
        (ndblas.dot(x, y), (u * v).sum()),
        (ndblas.vdot(x, y), (u.conj() * v).sum()),
    ):
        assert type(got) is (complex if np.dtype(dtype).kind == "c" else float)
        assert abs(got - expected) <= tolerance
    assert np.isclose(ndblas.nrm2(y), np.sqrt((abs(v) ** 2).sum()), rtol=1e-6)
    parts = abs(v.real) + abs(v.imag)
    assert np.isclose(ndblas.asum(y), parts.sum(), rtol=1e-6)
    assert ndblas.iamax(y) == (int(parts.argmax()) if y.size else -1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_permute(rng, dtype):
    s = shape(rng)
    perm = tuple(int(d) for d in rng.permutation(len(s)))
    a = laid(rng, values(rng, s, dtype))
    out = nan_filled(rng, tuple(s[d] for d in perm), dtype)
    assert ndblas.permute(a, perm, out.view) is out.view
    assert np.array_equal(out.view, a.transpose(perm)) and out.unharmed()
    fresh = ndblas.permute(a, [d - len(s) for d in perm])
    assert fresh.flags.c_contiguous and np.array_equal(fresh, a.transpose(perm))
    assert np.array_equal(ndblas.permute(a), a.T)

    dense = np.array(a, order="C")
    moved = ndblas.permute_in_place(dense, perm)
    assert np.array_equal(moved, a.transpose(perm)) and (moved.size == 0 or np.shares_memory(moved, dense))


@pytest.mark.parametrize("dtype", FLOATS)
def test_permute_scaled(rng, dtype):
    s = shape(rng)
    perm = tuple(int(d) for d in rng.permutation(len(s)))
    alpha, beta = number(rng, dtype), number(rng, dtype)
    a, out = laid(rng, values(rng, s, dtype)), Laid(rng, values(rng, tuple(s[d] for d in perm), dtype))
    expected = beta * out.view + alpha * a.transpose(perm)
    ndblas.permute(a, perm, out.view, alpha=alpha, beta=beta)
    assert close(out.view, expected, dtype) and out.unharmed()


def test_permute_in_place_of_a_square_view(rng):
    m = Laid(rng, values(rng, (9, 9), "f8"))
    start = m.view.copy()
    assert ndblas.permute_in_place(m.view) is m.view
    assert np.array_equal(m.view, start.T) and m.unharmed()


def indexed(rng, dtype):
    """Operands of gather: the source, an index that broadcasts, the axis, and what take_along_axis has to get."""
    s = shape(rng, int(rng.integers(1, 5)), [1, 2, 3, 5, 17])
    axis = int(rng.integers(0, len(s)))
    extent = int(rng.integers(1, 9))
    a = laid(rng, values(rng, (*s[:axis], extent, *s[axis + 1 :]), dtype))
    index_shape = tuple(n if d == axis or rng.random() < 0.5 else 1 for d, n in enumerate(s))
    index_dtype = rng.choice(INTS)
    low = -extent if index_dtype[0] == "i" else 0
    index = laid(rng, rng.integers(low, extent, index_shape).astype(index_dtype))
    return a, index, axis, np.broadcast_to(index, s).astype(np.intp)


@pytest.mark.parametrize("dtype", DTYPES)
def test_gather(rng, dtype):
    a, index, axis, full = indexed(rng, dtype)
    expected = np.take_along_axis(a, full, axis)
    out = nan_filled(rng, full.shape, dtype)
    assert ndblas.gather(a, index, axis, out.view) is out.view
    assert np.array_equal(out.view, expected) and out.unharmed()
    fresh = ndblas.gather(a, index, axis - a.ndim)
    assert fresh.dtype == a.dtype and np.array_equal(fresh, expected)
    if dtype in FLOATS:
        alpha, beta = number(rng, dtype), number(rng, dtype)
        out = Laid(rng, values(rng, full.shape, dtype))
        expected = beta * out.view + alpha * expected
        ndblas.gather(a, index, axis, out.view, alpha=alpha, beta=beta)
        assert close(out.view, expected, dtype) and out.unharmed()


@pytest.mark.parametrize("dtype", DTYPES)
def test_scatter_add(rng, dtype):
    a, index, axis, full = indexed(rng, dtype)
    src = laid(rng, values(rng, full.shape, dtype))
    out = Laid(rng, a)
    expected = a.copy()
    at = list(np.ogrid[tuple(slice(n) for n in full.shape)])
    at[axis] = full
    with np.errstate(all="ignore"):
        np.add.at(expected, tuple(at), src)
    assert ndblas.scatter_add(src, index, axis, out.view) is out.view
    assert close(out.view, expected, dtype) and out.unharmed()


@pytest.mark.parametrize("dtype", DTYPES)
def test_take(rng, dtype):
    a, _, axis, _ = indexed(rng, dtype)
    indices = rng.integers(-a.shape[axis], a.shape[axis], shape(rng, int(rng.integers(0, 4)), [0, 1, 2, 5]))
    expected = np.take(a, indices, axis)
    assert np.array_equal(ndblas.take(a, indices, axis), expected)
    assert ndblas.take(a, indices, axis).shape == expected.shape
    out = nan_filled(rng, expected.shape, dtype)
    ndblas.take(a, indices, axis - a.ndim, out.view)
    assert np.array_equal(out.view, expected) and out.unharmed()


def indexed_nd(rng, dtype):
    """Operands of gather_nd: the source, indices that broadcast, their axes, and what NumPy's advanced indexing has to get."""
    s = shape(rng, int(rng.integers(1, 5)), [1, 2, 3, 5, 9])
    axes = [int(d) for d in rng.permutation(len(s))[: rng.integers(1, len(s) + 1)]]
    extents, indices, at = list(s), [], list(np.ogrid[tuple(slice(n) for n in s)])
    for d in axes:
        extents[d] = int(rng.integers(1, 7))
        index_dtype = rng.choice(INTS)
        low = -extents[d] if index_dtype[0] == "i" else 0
        index_shape = tuple(n if rng.random() < 0.6 else 1 for n in s)
        indices.append(laid(rng, rng.integers(low, extents[d], index_shape).astype(index_dtype)))
        at[d] = np.broadcast_to(indices[-1], s).astype(np.intp)
    a = laid(rng, values(rng, tuple(extents), dtype))
    signed = [d - len(s) if rng.random() < 0.5 else d for d in axes]
    return a, indices, signed, s, tuple(at)


@pytest.mark.parametrize("dtype", DTYPES)
def test_gather_nd_and_scatter_add_nd(rng, dtype):
    a, indices, axes, grid, at = indexed_nd(rng, dtype)
    expected = a[at]
    out = nan_filled(rng, grid, dtype)
    assert ndblas.gather_nd(a, indices, axes, out.view) is out.view
    assert np.array_equal(out.view, expected) and out.unharmed()

    src, out = laid(rng, values(rng, grid, dtype)), Laid(rng, a)
    total = a.copy()
    with np.errstate(all="ignore"):
        np.add.at(total, at, src)
    assert ndblas.scatter_add_nd(src, indices, axes, out.view) is out.view
    assert close(out.view, total, dtype) and out.unharmed()


def test_indices_on_axes_between():
    # c[i,j,k] = a[i, b[i,j], d[i,j], k]
    a = np.arange(4.0 * 5 * 3 * 2).reshape(4, 5, 3, 2)
    b, d = np.arange(-5, 3).reshape(4, 2) % 5 - 5, np.arange(8, dtype="u2").reshape(4, 2) % 3
    got = ndblas.gather_nd(a, (b[:, :, None, None], d[:, :, None, None]), (1, 2))
    assert np.array_equal(got[:, :, 0], a[np.arange(4)[:, None], b, d])


def test_modes():
    a, index = np.arange(5.0), np.array([-7, -1, 0, 4, 5, 12])
    for mode, expected in (
        ("wrap", a[index % 5]),
        ("clip", a[index.clip(0, 4)]),
        ("drop", np.array([0.0, 4, 0, 4, 0, 0])),
    ):
        assert np.array_equal(ndblas.gather(a, index, 0, mode=mode), expected)
        assert np.array_equal(ndblas.take(a, index, 0, mode=mode), expected)
        assert np.array_equal(ndblas.gather_nd(a, [index], [0], mode=mode), expected)
    counts = ndblas.scatter_add(np.ones(()), index, 0, np.zeros(5), mode="drop")
    assert np.array_equal(counts, [1, 0, 0, 0, 2])


def test_an_index_may_be_a_list_or_a_number():
    a = np.arange(6.0).reshape(3, 2)
    assert np.array_equal(ndblas.take(a, [2, 0], 0), a[[2, 0]])
    assert np.array_equal(ndblas.take(a, 1, 1), a[:, 1])
    assert ndblas.take(a, [], 0).shape == (0, 2)
    out = np.empty(3)
    assert ndblas.take(a, -1, 1, out) is out and np.array_equal(out, a[:, -1])


def test_numbers():
    y = np.ones(2)
    for two in (2, 2.0, 2 + 0j, np.float32(2), np.int64(2), np.complex64(2), np.array(2), np.array(2.0)):
        assert np.array_equal(ndblas.scal(two, y.copy()), [2, 2])
    z = np.ones(2, "c16")
    assert np.array_equal(ndblas.scal(2 - 1j, z), [2 - 1j, 2 - 1j])
    big = 2**62 + 1
    with pytest.raises(ValueError, match=f"alpha = {big} is not a double exactly"):
        ndblas.fill(big, np.zeros(2, int))
    assert (ndblas.copy(np.array(big), np.zeros(2, int)) == big).all()
    assert (ndblas.fill(2**63, np.zeros(2, "u8")) == 2**63).all()


def test_ranks():
    deep = np.ones((1,) * 64)
    assert ndblas.axpy(1, deep, deep.copy()).sum() == 2
    with pytest.raises(ValueError, match="a rank is 0 to 64"):
        ndblas.take(deep, [[0]], 0)


def test_empty_and_large():
    assert ndblas.dot(np.empty((0, 3)), np.empty((0, 3))) == 0
    x, y = np.ones((600, 700)), np.zeros((700, 600))
    assert ndblas.axpy(2, x.T, y).sum() == 2 * x.size
