"""What a call costs from Python on small arrays, and how long large ones take, in NumPy and in ndblas on one thread.

    python speed.py [--quick]       the least of several repetitions of each
"""

import sys
import timeit
from collections.abc import Callable

import numpy as np

import ndblas

QUICK = "--quick" in sys.argv


def seconds(call: Callable[[], object], number: int, repeat: int = 9) -> float:
    number, repeat = (1, 1) if QUICK else (number, repeat)
    return min(timeit.repeat(call, number=number, repeat=repeat)) / number


def small() -> None:
    rng = np.random.default_rng(1)
    a, b, c = rng.random((3, 4, 8))
    x, y, out = a[0], b[0], np.empty((8, 4))
    index, rows = np.array([[0], [2]]), np.empty((2, 8))
    flat, row, column = index[:, 0].copy(), np.array([0, 2]), np.array([1, 5])
    x4, y4 = rng.random((2, 3, 2, 2)), np.empty((3, 2, 2, 2))
    full = np.broadcast_to(index, (2, 8))
    cases: list[tuple[str, Callable[[], object], Callable[[], object]]] = [
        ("y += 2*x", lambda: np.add(y, 2 * x, y), lambda: ndblas.axpy(2.0, x, y)),
        ("dot", lambda: np.dot(x, y), lambda: ndblas.dot(x, y)),
        ("c += a*b", lambda: np.add(c, a * b, c), lambda: ndblas.mul_add(a, b, c)),
        ("out[...] = a.T", lambda: np.copyto(out, a.T), lambda: ndblas.permute(a, (1, 0), out)),
        (
            "y = x.transpose(1,0,2,3)",
            lambda: np.copyto(y4, x4.transpose(1, 0, 2, 3)),
            lambda: ndblas.permute(x4, (1, 0, 2, 3), y4),
        ),
        ("take_along_axis", lambda: np.take_along_axis(a, full, 0), lambda: ndblas.gather(a, index, 0, rows)),
        ("take", lambda: np.take(a, flat, 0), lambda: ndblas.take(a, flat, 0, rows)),
        ("add.at", lambda: np.add.at(c, flat, rows), lambda: ndblas.scatter_add(rows, index, 0, c)),
        ("a[row, column]", lambda: a[row, column], lambda: ndblas.gather_nd(a, (row, column), (0, 1))),
    ]
    print(f"{'a call on 32 elements or less, ns':<36}{'NumPy':>10}{'ndblas':>10}")
    for name, numpys, ours in cases:
        print(f"{name:<36}{1e9 * seconds(numpys, 10000):>10.0f}{1e9 * seconds(ours, 10000):>10.0f}")


def large() -> None:
    n = 20 if QUICK else 200
    rng = np.random.default_rng(1)
    a, b, c = rng.random((3, n, n, n))
    index = rng.integers(0, n, (n, n))
    x, y = a.reshape(n, n, n // 4, 4), c.reshape(n, n, n // 4, 4)
    i, k = np.arange(n)[:, None, None], np.arange(n)
    cases: list[tuple[str, Callable[[], object], Callable[[], object]]] = [
        ("c += a*b", lambda: np.add(c, a * b, c), lambda: ndblas.mul_add(a, b, c)),
        (
            "c[i,l,k] = a[i, b[i,l], k]",
            lambda: np.copyto(c, a[i, index[:, :, None], k]),
            lambda: ndblas.gather(a, index[:, :, None], 1, c),
        ),
        (
            "its gradient",
            lambda: np.add.at(c, (i, index[:, :, None], k), a),
            lambda: ndblas.scatter_add(a, index[:, :, None], 1, c),
        ),
        (
            "y = x.transpose(1,0,2,3)",
            lambda: np.copyto(y, x.transpose(1, 0, 2, 3)),
            lambda: ndblas.permute(x, (1, 0, 2, 3), y),
        ),
        ("c[...] = a.transpose(2,1,0)", lambda: np.copyto(c, a.T), lambda: ndblas.permute(a, None, c)),
    ]
    print(f"{f'arrays of {8 * n**3 / 1e6:.0f} MB, ms':<36}{'NumPy':>10}{'ndblas':>10}")
    with ndblas.threads(1):
        for name, numpys, ours in cases:
            print(f"{name:<36}{1e3 * seconds(numpys, 1, 5):>10.1f}{1e3 * seconds(ours, 1, 5):>10.1f}")


if __name__ == "__main__":
    print(ndblas.config())
    small()
    large()
