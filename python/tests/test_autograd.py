"""Each vector-Jacobian product by finite differences and, where the routine is linear, by the adjoint identity."""

import ndblas
import numpy as np
import pytest
from layouts import laid, values
from ndblas import autograd as ad


@pytest.fixture(params=["f8", "c16"])
def dtype(request):
    return request.param


@pytest.fixture(params=range(4))
def rng(request):
    return np.random.default_rng(request.param)


def inner(u, v):
    """Re <u, v>, of arrays or of tuples of them."""
    pairs = zip(u, v) if isinstance(u, tuple) else [(u, v)]
    return sum(np.vdot(a, b).real for a, b in pairs)


def check(f, inputs, g, gradients, linear=True):
    """The derivative of Re <g, f(inputs)> in a random direction is Re <gradients, direction>. A central difference of a
    polynomial of degree 2 is exact but for rounding, so the step can be large."""
    rng = np.random.default_rng(7)
    gradients = gradients if isinstance(gradients, tuple) else (gradients,)
    assert [x.shape for x in inputs] == [np.shape(x) for x in gradients]
    assert all(np.asarray(x).dtype == y.dtype for x, y in zip(gradients, inputs))
    directions = [values(rng, x.shape, x.dtype) for x in inputs]
    h = 1e-5 if not linear else 0.5
    ahead = inner(g, f(*(x + h * d for x, d in zip(inputs, directions))))
    behind = inner(g, f(*(x - h * d for x, d in zip(inputs, directions))))
    expected = inner(gradients, tuple(directions))
    scale = 1 + sum(np.abs(x).sum() for x in gradients)
    assert abs((ahead - behind) / (2 * h) - expected) <= (1e-12 if linear else 1e-7) * scale


def adjoint(f, x, g, gradient):
    """<g, f(x)> = <gradient, x> for a linear f, with the imaginary part."""
    left, right = np.vdot(g, f(x)), np.vdot(gradient, x)
    assert abs(left - right) <= 1e-12 * (1 + np.abs(g).sum() * np.abs(x).max(initial=0))


def factors(dtype):
    return (0.5 - 2j, 1.5 + 1j) if dtype == "c16" else (0.5, -1.5)


SHAPES = [((3, 4), (3, 4)), ((4,), (3, 4)), ((3, 1), (3, 4)), ((), (2, 3)), ((1, 5, 1), (2, 5, 3)), ((2,), (50, 2))]


@pytest.mark.parametrize("shape, full", SHAPES)
def test_level_1(rng, dtype, shape, full):
    alpha, beta = factors(dtype)
    x, y, g = (laid(rng, values(rng, s, dtype)) for s in (shape, full, full))
    check(lambda x: ndblas.copy(x, np.empty(full, dtype)), [x], g, ad.copy_vjp(g, x))
    adjoint(lambda x: ndblas.copy(x, np.empty(full, dtype)), x, g, ad.copy_vjp(g, x.shape))
    check(lambda y: ndblas.scal(alpha, ndblas.copy(y)), [y], g, ad.scal_vjp(g, alpha))
    check(lambda x, y: ndblas.axpy(alpha, x, ndblas.copy(y)), [x, y], g, ad.axpy_vjp(g, alpha, x))
    check(lambda x, y: ndblas.axpby(alpha, x, beta, ndblas.copy(y)), [x, y], g, ad.axpby_vjp(g, alpha, x, beta))
    assert ad.axpy_vjp(g, alpha, x)[1] is g


def test_pairs(rng, dtype):
    x, y, gx, gy = (laid(rng, values(rng, (3, 4), dtype)) for _ in range(4))

    def rot(x, y):
        x, y = ndblas.copy(x), ndblas.copy(y)
        ndblas.rot(x, y, 0.6, 0.8)
        return x, y

    def swap(x, y):
        x, y = ndblas.copy(x), ndblas.copy(y)
        ndblas.swap(x, y)
        return x, y

    check(rot, [x, y], (gx, gy), ad.rot_vjp(gx, gy, 0.6, 0.8))
    check(swap, [x, y], (gx, gy), ad.swap_vjp(gx, gy))


@pytest.mark.parametrize("shape, full", SHAPES)
def test_sums(rng, dtype, shape, full):
    x, y = laid(rng, values(rng, shape, dtype)), laid(rng, values(rng, full, dtype))
    g = factors(dtype)[0]
    check(lambda x, y: ndblas.dot(x, y), [x, y], g, ad.dot_vjp(g, x, y))
    check(lambda x, y: ndblas.vdot(x, y), [x, y], g, ad.vdot_vjp(g, x, y))
    check(lambda y: ndblas.nrm2(y), [y], 0.7, ad.nrm2_vjp(0.7, y), linear=False)
    check(lambda y: ndblas.asum(y), [y], 0.7, ad.asum_vjp(0.7, y), linear=False)


def test_the_norm_where_it_has_no_gradient(dtype):
    assert not ad.nrm2_vjp(1.0, np.zeros(3, dtype)).any()
    assert np.allclose(ad.nrm2_vjp(1.0, np.array([3e-310, 4e-310])), [0.6, 0.8])


@pytest.mark.parametrize("shape, full", SHAPES)
def test_mul_add(rng, dtype, shape, full):
    alpha, beta = factors(dtype)
    a, b, c, g = (laid(rng, values(rng, s, dtype)) for s in (shape, full, full, full))

    def f(a, b, c):
        return ndblas.mul_add(a, b, ndblas.copy(c), alpha=alpha, beta=beta)

    check(f, [a, b, c], g, ad.mul_add_vjp(g, a, b, alpha=alpha, beta=beta))
    check(lambda b, a, c: f(b, a, c), [b, a, c], g, ad.mul_add_vjp(g, b, a, alpha=alpha, beta=beta))
    check(lambda a, b, c: ndblas.mul_add(a, b, ndblas.copy(c)), [a, b, c], g, ad.mul_add_vjp(g, a, b))
    assert ad.mul_add_vjp(g, a, b)[2] is g
    adjoint(lambda a: ndblas.mul_add(a, b, np.empty(full, dtype), beta=0), a, g, ad.mul_add_vjp(g, a, b)[0])


@pytest.mark.parametrize("perm", [None, (2, 0, 1), (-1, 0, 1), (0, 2, 1)])
def test_permute(rng, dtype, perm):
    alpha = factors(dtype)[0]
    a = laid(rng, values(rng, (2, 3, 4), dtype))
    g = laid(rng, values(rng, a.transpose(perm).shape, dtype))
    check(lambda a: ndblas.permute(a, perm, alpha=alpha), [a], g, ad.permute_vjp(g, perm, alpha=alpha))
    adjoint(lambda a: ndblas.permute(a, perm), a, g, ad.permute_vjp(g, perm))
    out = np.ones(a.shape, dtype)
    assert np.allclose(ad.permute_vjp(g, perm, out, beta=1), 1 + ad.permute_vjp(g, perm))
    there = ndblas.permute_in_place(np.ascontiguousarray(a), perm)
    assert np.array_equal(ad.permute_in_place_vjp(there, perm), a)


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip", "drop"])
@pytest.mark.parametrize(
    "shape, index_shape, axis",
    [((3, 5, 4), (3, 6, 1), 1), ((5,), (7,), 0), ((3, 5, 4), (1, 6, 1), -2), ((1, 5, 1), (3, 6, 4), 1), ((5, 4), (2, 3, 4), 1)],
)
def test_gather_and_scatter_add(rng, dtype, mode, shape, index_shape, axis):
    alpha = factors(dtype)[0]
    low, high = (-5, 5) if mode == "raise" else (-12, 12)
    extent = shape[axis - len(index_shape) if axis >= 0 else axis]
    index = rng.integers(-extent, extent, index_shape) if mode == "raise" else rng.integers(low, high, index_shape)
    a = laid(rng, values(rng, shape, dtype))

    def gather(a):
        return ndblas.gather(a, index, axis, mode=mode, alpha=alpha)

    g = laid(rng, values(rng, gather(a).shape, dtype))
    gradient = ad.gather_vjp(g, a, index, axis, mode=mode, alpha=alpha)
    check(gather, [a], g, gradient)
    adjoint(gather, a, g, gradient)
    assert np.allclose(ad.gather_vjp(g, a.shape, index, axis, mode=mode, alpha=alpha, out=np.ones_like(a)), 1 + gradient)

    def scatter(src):
        return ndblas.scatter_add(src, index, axis, np.zeros(target, dtype), mode=mode, alpha=alpha)

    for src_shape in (g.shape, index_shape, g.shape[-1:], ()):
        target = np.array(np.broadcast_shapes(src_shape, index_shape))
        target[axis] = extent
        src, h = laid(rng, values(rng, src_shape, dtype)), laid(rng, values(rng, target, dtype))
        gradient = ad.scatter_add_vjp(h, src, index, axis, mode=mode, alpha=alpha)
        check(scatter, [src], h, gradient)
        adjoint(scatter, src, h, gradient)


@pytest.mark.parametrize("indices", [2, [0, 3, 3], np.array([[0, -1], [2, 2], [1, 0]]), np.zeros((2, 0), int)])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_take(rng, dtype, indices, axis):
    a = laid(rng, values(rng, (4, 5, 4), dtype))
    g = values(rng, np.take(a, indices, axis).shape, dtype)
    gradient = ad.take_vjp(g, a, indices, axis)
    check(lambda a: ndblas.take(a, indices, axis), [a], g, gradient)
    adjoint(lambda a: ndblas.take(a, indices, axis), a, g, gradient)
    assert np.allclose(ad.take_vjp(g, a.shape, indices, axis, out=np.ones_like(a)), 1 + gradient)


@pytest.mark.parametrize("shape", [(3, 5, 4, 2), (1, 5, 4, 1)])
def test_nd(rng, dtype, shape):
    b, d = rng.integers(-5, 5, (3, 6, 1, 1)), rng.integers(0, 4, (6, 1, 1))
    a = laid(rng, values(rng, shape, dtype))

    def gather(a):
        return ndblas.gather_nd(a, (b, d), (1, 2), np.empty((3, 6, 1, 2), dtype))

    g = laid(rng, values(rng, (3, 6, 1, 2), dtype))
    check(gather, [a], g, ad.gather_nd_vjp(g, a, (b, d), (1, 2)))
    adjoint(gather, a, g, ad.gather_nd_vjp(g, a, (b, d), (1, 2)))

    def scatter(src):
        return ndblas.scatter_add_nd(src, (b, d), (1, 2), np.zeros((3, 5, 4, 2), dtype))

    h = laid(rng, values(rng, (3, 5, 4, 2), dtype))
    for src_shape in ((3, 6, 1, 2), (2,)):
        src = laid(rng, values(rng, src_shape, dtype))
        if src_shape == (2,):
            adjoint(scatter, src, h, ad.scatter_add_nd_vjp(h, src, (b, d), (1, 2)))
        check(scatter, [src], h, ad.scatter_add_nd_vjp(h, src, (b, d), (1, 2)))
