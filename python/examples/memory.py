"""How far the memory of a process grows during an operation, in ndblas and in NumPy: printed as a table.

Each case runs in a process of its own, in which the operands are made first, without temporaries. What is printed is the
growth of its peak resident size over that: what the operating system had to give, whoever asked for it.

    python memory.py [N]            arrays of N x N x N doubles; 200 by default, 64 MB
"""

import resource
import subprocess
import sys

import numpy as np

import ndblas


def peak() -> int:
    """The highest resident size of this process so far, in bytes; since the last `restart` on Linux."""
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def restart() -> None:
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


class Operands:
    """Written to, so that the memory is there."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.a = np.full((n, n, n), 0.5)
        self.b = np.full((n, n, n), 0.25)
        self.c = np.full((n, n, n), 0.125)
        self.index = np.empty((n, n), np.int64)
        self.index[...] = np.arange(n)[::-1]
        self.x = self.a.reshape(n, n, n // 4, 4)
        self.y = self.c.reshape(n, n, n // 4, 4)
        self.i, self.k = np.ogrid[:n, :n]


# What it does, in NumPy: how NumPy does it, and how ndblas does. The order is that of the table.
CASES = {
    "c += a*b": (
        lambda o: np.add(o.c, o.a * o.b, out=o.c),
        lambda o: ndblas.mul_add(o.a, o.b, o.c),
    ),
    "c[i,l,k] = a[i, b[i,l], k]": (
        lambda o: np.copyto(o.c, o.a[o.i[:, :, None], o.index[:, :, None], o.k[None]]),
        lambda o: ndblas.gather(o.a, o.index[:, :, None], 1, o.c),
    ),
    "the same by np.take_along_axis": (
        lambda o: np.copyto(o.c, np.take_along_axis(o.a, o.index[:, :, None], 1)),
        lambda o: ndblas.gather(o.a, o.index[:, :, None], 1, o.c),
    ),
    "its gradient, np.add.at": (
        lambda o: np.add.at(o.c, (o.i[:, :, None], o.index[:, :, None], o.k[None]), o.a),
        lambda o: ndblas.scatter_add(o.a, o.index[:, :, None], 1, o.c),
    ),
    "y = ascontiguous(x.transpose(1,0,2,3))": (
        lambda o: np.copyto(o.y, np.ascontiguousarray(o.x.transpose(1, 0, 2, 3))),
        lambda o: ndblas.permute(o.x, (1, 0, 2, 3), o.y),
    ),
}


def growth(case: str, way: int, n: int) -> int:
    """The growth in bytes, in a process of its own."""
    run = subprocess.run(
        [sys.executable, __file__, "--measure", case, str(way), str(n)], check=True, capture_output=True, text=True
    )
    return int(run.stdout)


def measure(case: str, way: int, n: int) -> int:
    call = CASES[case][way]
    # What the first call of a routine loads is no part of it.
    call(Operands(8))
    operands = Operands(n)
    restart()
    before = peak()
    call(operands)
    return peak() - before


def main(n: int) -> None:
    print(f"operands of {8 * n**3 / 1e6:.0f} MB each; growth of the peak memory in MB")
    print(f"{'':<40}{'NumPy':>10}{'ndblas':>10}")
    for case in CASES:
        numpys, ours = (growth(case, way, n) / 1e6 for way in (0, 1))
        print(f"{case:<40}{numpys:>10.1f}{ours:>10.1f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(measure(sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
