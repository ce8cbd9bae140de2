"""Arrays in layouts drawn at random, and what must not change around them."""

import numpy as np

FLOATS = ["f4", "f8", "c8", "c16"]
INTS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
DTYPES = FLOATS + INTS
TOLERANCE = {"f4": 1e-5, "c8": 1e-5, "f8": 1e-12, "c16": 1e-12}
EXTENTS = [0, 1, 2, 3, 5, 17]


def shape(rng, ndim=None, extents=EXTENTS):
    ndim = rng.integers(0, 5) if ndim is None else ndim
    # Empty ones now and then, not most of the time.
    weights = [0.04 if n == 0 else 1 for n in extents]
    return tuple(int(n) for n in rng.choice(extents, ndim, p=np.array(weights) / sum(weights)))


def values(rng, shape, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    x = rng.normal(size=shape)
    return np.asarray(x + 1j * rng.normal(size=shape) if dtype.kind == "c" else x).astype(dtype)


def number(rng, dtype):
    z = rng.choice([0.0, 1.0, -1.0, 0.5, 2.25])
    return complex(z, rng.choice([0.0, 0.75])) if np.dtype(dtype).kind == "c" else float(z)


class Laid:
    """`view` equals the values, and lies in `memory` with random order of axes, gaps, signs and alignment."""

    def __init__(self, rng, values):
        item = values.dtype.itemsize
        step, low, strides = item, 0, [0] * values.ndim
        for d in rng.permutation(values.ndim):
            # Gaps that are no multiple of the item are as good.
            strides[d] = int(step * rng.integers(1, 3) + rng.choice([0, 0, 1]))
            step = strides[d] * max(values.shape[d], 1)
            if rng.random() < 0.4:
                strides[d] = -strides[d]
                low += strides[d] * max(values.shape[d] - 1, 0)
        self.memory = rng.integers(0, 256, step + 2 * item + 64, np.uint8)
        offset = -low + int(rng.integers(0, 32))
        self.view = np.ndarray(values.shape, values.dtype, self.memory.data, offset, tuple(strides))
        self.view[...] = values
        self._before = self.memory.copy()
        self._offset, self._strides = offset, tuple(strides)

    def unharmed(self):
        """Whether nothing but the view's own cells has changed."""
        after = self.memory.copy()
        for memory in (after, self._before):
            np.ndarray(self.view.shape, self.view.dtype, memory.data, self._offset, self._strides)[...] = 0
        return bool((after == self._before).all())


def laid(rng, values):
    return Laid(rng, values).view


def broadcastable(rng, shape):
    """A shape that broadcasts to it."""
    some = tuple(1 if rng.random() < 0.25 else n for n in shape)
    return some[int(rng.integers(0, len(some) + 1)) :] if rng.random() < 0.3 else some


def input_for(rng, shape, dtype):
    """An input that broadcasts to the shape, by NumPy's rule or by strides of zero."""
    x = laid(rng, values(rng, broadcastable(rng, shape), dtype))
    return np.broadcast_to(x, shape) if rng.random() < 0.3 else x


def close(got, expected, dtype):
    dtype = np.dtype(dtype).str[1:]
    if dtype in TOLERANCE:
        return np.allclose(got, expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
    return np.array_equal(got, expected)
