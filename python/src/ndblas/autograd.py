r"""Vector-Jacobian products, as plain functions: what a layer, or an autodiff framework, needs of each routine.

For a routine ``f`` with result ``r``, ``f_vjp(g, ...)`` takes the gradient ``g`` of a loss by ``r`` and gives the gradients
by the array inputs of ``f``, a tuple where there are several. ``g`` comes first; what follows is what ``f`` had, of which
only that is asked for which the gradient depends on. Gradients have the shapes of the inputs: where an input was broadcast,
they are summed.

Complex gradients are those of the inner product :math:`\mathrm{Re}\,\langle u, v \rangle`, with :math:`\langle u, v \rangle
= \sum \bar u v`: for a linear ``f`` they are its adjoint, so that ``vdot(g, f(x)) == vdot(f_vjp(g), x)``.

Where a gradient is `g` itself, `g` is returned and not a copy. Everywhere else it is a new array; nothing else is
allocated that grows with the operands, but where a function's documentation says so.

=====================================  ===============================================================================
``y <- x``                             `copy_vjp`
``x <-> y``                            `swap_vjp`
``y <- alpha*y``                       `scal_vjp`
``y <- y + alpha*x``                   `axpy_vjp`
``y <- beta*y + alpha*x``              `axpby_vjp`
``x, y <- c*x + s*y, c*y - s*x``       `rot_vjp`
sums                                   `dot_vjp` `vdot_vjp` `nrm2_vjp` `asum_vjp`
``c <- beta*c + alpha*a*b``            `mul_add_vjp`
transpositions                         `permute_vjp` `permute_in_place_vjp`
indexed reads and sums                 `gather_vjp` `take_vjp` `scatter_add_vjp` `gather_nd_vjp` `scatter_add_nd_vjp`
=====================================  ===============================================================================

`fill` has no array input, and `iamax` no gradient. Numbers count as constants; the gradient by one is an inner product:
by ``alpha`` of ``axpy`` it is ``vdot(x, g)``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import _core

if TYPE_CHECKING:
    from ._core import _Mode as Mode

Array: TypeAlias = NDArray[Any]
Shape: TypeAlias = tuple[int, ...]
# An input of which only the shape counts.
ArrayOrShape: TypeAlias = Array | Sequence[int]

__all__ = [
    "asum_vjp",
    "axpby_vjp",
    "axpy_vjp",
    "copy_vjp",
    "dot_vjp",
    "gather_nd_vjp",
    "gather_vjp",
    "mul_add_vjp",
    "nrm2_vjp",
    "permute_in_place_vjp",
    "permute_vjp",
    "rot_vjp",
    "scal_vjp",
    "scatter_add_nd_vjp",
    "scatter_add_vjp",
    "swap_vjp",
    "take_vjp",
    "vdot_vjp",
]

_ZERO = np.zeros((), np.intp)


def _shape(x: ArrayOrShape) -> Shape:
    return x.shape if isinstance(x, np.ndarray) else tuple(x)


def _padded(shape: Shape, ndim: int) -> Shape:
    return (1,) * (ndim - len(shape)) + shape


def _conj(x: complex) -> complex:
    return x.conjugate() if isinstance(x, complex) else x


def _broadcast_axes(shape: Shape, to: Shape) -> list[int]:
    """The axes of `to` on which `shape`, left-padded, is repeated."""
    return [d for d, (n, m) in enumerate(zip(_padded(shape, len(to)), to)) if n == 1 and m != 1]


def _sum_to(g: Array, shape: Shape, alpha: complex = 1.0) -> Array:
    """alpha times g, summed over the axes on which an array of `shape` broadcasts to it: the adjoint of a broadcast.

    In one pass: a sum over axes is a scatter_add with the index 0 on each."""
    axes = _broadcast_axes(shape, g.shape)
    out = np.zeros(_padded(shape, g.ndim), g.dtype)
    return _core.scatter_add_nd(g, [_ZERO] * len(axes), axes, out, alpha=alpha).reshape(shape)


def _add_conj_product(a: Array, b: Array, out: Array, alpha: complex) -> None:
    """out += alpha * conj(a) * b, without an array for the conjugate: by the four real products where it is complex."""
    if not np.iscomplexobj(a):
        _core.mul_add(a, b, out, alpha=alpha)
        return
    z = complex(alpha)
    for part, factor in ((a.real, z), (a.imag, -1j * z)):
        # factor * part * (b.real + i b.imag)
        for other, unit in ((b.real, factor), (b.imag, 1j * factor)):
            if unit.real:
                _core.mul_add(part, other, out.real, alpha=unit.real)
            if unit.imag:
                _core.mul_add(part, other, out.imag, alpha=unit.imag)


def _conj_product_to(a: Array, b: Array, full: Shape, shape: Shape, alpha: complex = 1.0) -> Array:
    """alpha * conj(a) * b, broadcast to `full` and summed to `shape`, without an array of the shape `full`: slice by
    slice of the axes that are summed, or of those that stay, whichever are fewer."""
    axes = _broadcast_axes(shape, full)
    out = np.zeros(_padded(shape, len(full)), np.result_type(a, b))
    a, b = np.broadcast_to(a, full), np.broadcast_to(b, full)
    kept = [d for d in range(len(full)) if d not in axes]
    summed, staying = (math.prod(full[d] for d in some) for some in (axes, kept))

    def slices(of: list[int]) -> Iterable[tuple[Any, ...]]:
        for at in np.ndindex(*(full[d] for d in of)):
            places = dict(zip(of, at))
            yield tuple(slice(i, i + 1) if (i := places.get(d)) is not None else slice(None) for d in range(len(full)))

    if summed <= staying:
        for at in slices(axes):
            _add_conj_product(a[at], b[at], out, alpha)
    else:
        for at in slices(kept):
            out[at] = alpha * _core.vdot(a[at], b[at])
    return out.reshape(shape)


# ---- level 1 ----


def copy_vjp(g: Array, x: ArrayOrShape) -> Array:
    """The gradient of ``copy(x, y)`` by x: g, summed to the shape of x.

    Examples
    --------
    >>> ndblas.autograd.copy_vjp(np.ones((2, 3)), (3,))
    array([2., 2., 2.])
    """
    return _sum_to(g, _shape(x))


def swap_vjp(gx: Array, gy: Array) -> tuple[Array, Array]:
    """The gradients of ``swap(x, y)`` by x and y."""
    return gy, gx


def scal_vjp(g: Array, alpha: complex) -> Array:
    """The gradient of ``scal(alpha, y)`` by y: conj(alpha)*g."""
    return _sum_to(g, g.shape, _conj(alpha))


def axpy_vjp(g: Array, alpha: complex, x: ArrayOrShape) -> tuple[Array, Array]:
    """The gradients of ``axpy(alpha, x, y)`` by x and y: conj(alpha)*g, summed to the shape of x, and g itself.

    Examples
    --------
    >>> gx, gy = ndblas.autograd.axpy_vjp(np.ones((2, 3)), 0.5, (2, 1))
    >>> gx
    array([[1.5],
           [1.5]])
    """
    return _sum_to(g, _shape(x), _conj(alpha)), g


def axpby_vjp(g: Array, alpha: complex, x: ArrayOrShape, beta: complex) -> tuple[Array, Array]:
    """The gradients of ``axpby(alpha, x, beta, y)`` by x and y: conj(alpha)*g, summed to the shape of x, and
    conj(beta)*g."""
    return _sum_to(g, _shape(x), _conj(alpha)), scal_vjp(g, beta)


def rot_vjp(gx: Array, gy: Array, c: float, s: float) -> tuple[Array, Array]:
    """The gradients of ``rot(x, y, c, s)`` by x and y: the rotation back."""
    x, y = _core.copy(gx), _core.copy(gy)
    _core.rot(x, y, c, -s)
    return x, y


def dot_vjp(g: complex, x: Array, y: Array) -> tuple[Array, Array]:
    """The gradients of ``dot(x, y)`` by x and y: g*conj(y) and g*conj(x), each summed to its shape.

    Examples
    --------
    >>> ndblas.autograd.dot_vjp(2.0, np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    (array([6., 8.]), array([2., 4.]))
    """
    full = np.broadcast_shapes(x.shape, y.shape)
    one = np.ones((), x.dtype)
    return _conj_product_to(y, one, full, x.shape, g), _conj_product_to(x, one, full, y.shape, g)


def vdot_vjp(g: complex, x: Array, y: Array) -> tuple[Array, Array]:
    """The gradients of ``vdot(x, y)`` by x and y: conj(g)*y and g*x, each summed to its shape."""
    full = np.broadcast_shapes(x.shape, y.shape)
    one = np.ones((), x.dtype)
    return _conj_product_to(one, y, full, x.shape, _conj(g)), _conj_product_to(one, x, full, y.shape, g)


def nrm2_vjp(g: float, x: Array) -> Array:
    """The gradient of ``nrm2(x)`` by x: g*x/nrm2(x), and 0 where the norm is 0.

    Examples
    --------
    >>> ndblas.autograd.nrm2_vjp(1.0, np.array([3.0, 4.0]))
    array([0.6, 0.8])
    """
    norm = _core.nrm2(x)
    out = _core.copy(x)
    # Not the reciprocal, which overflows for the smallest norms.
    return _core.scal(g, np.divide(out, norm, out=out)) if norm else _core.fill(0, out)


def asum_vjp(g: float, x: Array) -> Array:
    """The gradient of ``asum(x)`` by x: g*sign(x), of the real and imaginary parts apart.

    Examples
    --------
    >>> ndblas.autograd.asum_vjp(2.0, np.array([3 - 4j, 0]))
    array([2.-2.j, 0.+0.j])
    """
    out = np.empty(x.shape, x.dtype)
    if np.iscomplexobj(x):
        np.sign(x.real, out=out.real)
        np.sign(x.imag, out=out.imag)
    else:
        np.sign(x, out=out)
    return _core.scal(g, out)


# ---- fused ----


def mul_add_vjp(
    g: Array, a: Array, b: Array, *, alpha: complex = 1.0, beta: complex = 1.0
) -> tuple[Array, Array, Array]:
    """The gradients of ``mul_add(a, b, c)`` by a, b and c: conj(alpha*b)*g and conj(alpha*a)*g, each summed to its shape,
    and conj(beta)*g, which is g itself for beta = 1.

    Examples
    --------
    >>> a, b = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([10.0, 100.0])
    >>> ga, gb, gc = ndblas.autograd.mul_add_vjp(np.ones((2, 2)), a, b)
    >>> gb
    array([4., 6.])
    """
    factor = _conj(alpha)
    ga = _conj_product_to(b, g, g.shape, a.shape, factor)
    gb = _conj_product_to(a, g, g.shape, b.shape, factor)
    return ga, gb, g if beta == 1 else scal_vjp(g, beta)


# ---- permute ----


def _inverse(perm: Iterable[int] | None, ndim: int) -> list[int] | None:
    return None if perm is None else [int(d) for d in np.argsort([p % ndim for p in perm])]


def permute_vjp(
    g: Array, perm: Iterable[int] | None = None, out: Array | None = None, *, alpha: complex = 1.0, beta: complex = 0.0
) -> Array:
    """The gradient of ``permute(a, perm, alpha=alpha)`` by a: conj(alpha)*g, permuted by the inverse.

    With `out`, ``out <- beta*out + `` it. The gradient by `out` of ``permute(.., beta=beta)`` is ``scal_vjp(g, beta)``.

    Examples
    --------
    >>> ndblas.autograd.permute_vjp(np.zeros((2, 3, 4)), (2, 0, 1)).shape
    (3, 4, 2)
    """
    inverse = _inverse(perm, g.ndim)
    if out is None:
        return _core.permute(g, inverse, alpha=_conj(alpha), beta=beta)
    return _core.permute(g, inverse, out, alpha=_conj(alpha), beta=beta)


def permute_in_place_vjp(g: Array, perm: Iterable[int] | None = None) -> Array:
    """The gradient of ``permute_in_place(a, perm)`` by a: g, permuted by the inverse in its own memory."""
    return _core.permute_in_place(g, _inverse(perm, g.ndim))


# ---- indexed ----


def _rank(*operands: Any) -> int:
    return max(np.ndim(x) for x in operands)


def _with_rank(x: Array, ndim: int) -> Array:
    return x[(None,) * (ndim - x.ndim)]


def gather_nd_vjp(
    g: Array,
    a: ArrayOrShape,
    indices: Iterable[Any],
    axes: Iterable[int],
    *,
    mode: Mode = "raise",
    alpha: complex = 1.0,
    out: Array | None = None,
) -> Array:
    """The gradient of ``gather_nd(a, indices, axes)`` by a: conj(alpha)*g, scatter-added into zeros or, where it is
    given, into `out`.

    Of `a` only the shape counts, which may stand in its place.

    Examples
    --------
    >>> ndblas.autograd.gather_nd_vjp(np.ones((1, 3)), (2, 2), ([0, 1, 1], [1, 0, 0]), (0, 1))
    array([[0., 1.],
           [2., 0.]])
    """
    out = np.zeros(_shape(a), g.dtype) if out is None else out
    indices = list(indices)
    ndim = _rank(g, out, *indices)
    on = [d % ndim for d in axes]
    # Where a was broadcast all of g is summed at the index 0.
    broadcast = [d for d in _broadcast_axes(out.shape, _padded(g.shape, ndim)) if d not in on]
    every = [*indices, *[_ZERO] * len(broadcast)]
    _core.scatter_add_nd(g, every, [*on, *broadcast], _with_rank(out, ndim), mode=mode, alpha=_conj(alpha))
    return out


def gather_vjp(
    g: Array,
    a: ArrayOrShape,
    index: Any,
    axis: int,
    *,
    mode: Mode = "raise",
    alpha: complex = 1.0,
    out: Array | None = None,
) -> Array:
    """The gradient of ``gather(a, index, axis)`` by a: conj(alpha)*g, scatter-added into zeros or, where it is given,
    into `out`.

    Of `a` only the shape counts, which may stand in its place.

    Examples
    --------
    >>> ndblas.autograd.gather_vjp(np.array([1.0, 2.0, 4.0]), (3,), [2, 0, 2], 0)
    array([2., 0., 5.])
    """
    return gather_nd_vjp(g, a, [index], [axis], mode=mode, alpha=alpha, out=out)


def take_vjp(
    g: Array,
    a: ArrayOrShape,
    indices: Any,
    axis: int,
    *,
    mode: Mode = "raise",
    alpha: complex = 1.0,
    out: Array | None = None,
) -> Array:
    """The gradient of ``take(a, indices, axis)`` by a: conj(alpha)*g, scatter-added into zeros or, where it is given,
    into `out`.

    Of `a` only the shape counts, which may stand in its place.

    Examples
    --------
    >>> ndblas.autograd.take_vjp(np.ones((2, 2, 3)), (4, 3), [[0, 1], [1, 1]], 0)
    array([[1., 1., 1.],
           [3., 3., 3.],
           [0., 0., 0.],
           [0., 0., 0.]])
    """
    out = np.zeros(_shape(a), g.dtype) if out is None else out
    at, m = axis % out.ndim, np.ndim(indices)
    if m == 0:
        g, indices, m = np.expand_dims(g, at), np.asarray(indices)[None], 1
    # The axis of out becomes the axes of the index; on all of them but the first it has length 1.
    index = np.asarray(indices)[(..., *(None,) * (out.ndim - 1 - at))]
    spread = out[(*(slice(None),) * (at + 1), *(None,) * (m - 1))]
    more = range(at + 1, at + m)
    _core.scatter_add_nd(g, [index, *[_ZERO] * len(more)], [at, *more], spread, mode=mode, alpha=_conj(alpha))
    return out


def scatter_add_nd_vjp(
    g: Array,
    src: ArrayOrShape,
    indices: Iterable[Any],
    axes: Iterable[int],
    *,
    mode: Mode = "raise",
    alpha: complex = 1.0,
) -> Array:
    """The gradient of ``scatter_add_nd(src, indices, axes, out)`` by src: conj(alpha)*g, gathered. That by out is g.

    Of `src` only the shape counts, which may stand in its place. Where src was broadcast, the gathered array is made before
    it is summed: it has the common shape of `src` and the indices.

    Examples
    --------
    >>> g = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> ndblas.autograd.scatter_add_nd_vjp(g, (3,), ([0, 1, 1], [1, 0, 0]), (0, 1))
    array([2., 3., 3.])
    """
    shape, indices = _shape(src), list(indices)
    full = np.broadcast_shapes(shape, *(np.shape(index) for index in indices))
    gathered = np.empty(_padded(full, g.ndim), g.dtype)
    _core.gather_nd(g, indices, axes, gathered, mode=mode, alpha=_conj(alpha))
    return gathered.reshape(shape) if math.prod(full) == math.prod(shape) else _sum_to(gathered, shape)


def scatter_add_vjp(
    g: Array, src: ArrayOrShape, index: Any, axis: int, *, mode: Mode = "raise", alpha: complex = 1.0
) -> Array:
    """The gradient of ``scatter_add(src, index, axis, out)`` by src: conj(alpha)*g, gathered. That by out is g.

    Of `src` only the shape counts, which may stand in its place. Where src was broadcast, the gathered array is made before
    it is summed: it has the common shape of `src` and the index.

    Examples
    --------
    >>> ndblas.autograd.scatter_add_vjp(np.array([1.0, 2.0, 3.0]), (4,), [2, 0, 2, 1], 0)
    array([3., 1., 3., 2.])
    """
    return scatter_add_nd_vjp(g, src, [index], [axis], mode=mode, alpha=alpha)
