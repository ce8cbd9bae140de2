"""Figures side by side: this library, NumPy, SciPy's BLAS, numexpr, numba, torch and MKL where they are installed, and the
Rust crates ndarray, strided-perm and transpose. Each peer runs in a process of its own, one after the other, on one
thread and one core; that is repeated in rounds, and the median of the rounds counts. A peer whose first result is wrong
ends the run. Writes a report in Markdown with plots.

usage: report.py [--out FOLDER] [--rounds N] [--seconds S] [--only WORD]... [--quick] [--no-build]
       report.py --worker PEER CASES SECONDS          (what it runs for each Python peer)

NDBLAS_SO names the shared library to time; without it, `cargo build --release` makes it."""

import argparse
import ctypes
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
OURS = "ndblas"
OURS_RUST = "ndblas (Rust)"
PYTHON = [OURS, "numpy", "scipy", "numexpr", "numba", "torch", "mkl"]
RUST = {OURS_RUST: "ndblas", "ndarray": "ndarray", "strided-perm": "strided-perm", "transpose": "transpose"}

LEVEL1 = ["axpy", "mul_add", "dot", "nrm2"]
# Shapes and permutations as NumPy has them, all of benchmarks that others publish: matrices, batches and reversals of
# strided-rs, cases of HPTT's (by their number), images of several libraries, heads of attention, awkward ones.
PERMUTES = [
    ("f64", (256, 256), (1, 0)), ("f64", (1000, 1000), (1, 0)), ("f64", (1024, 1024), (1, 0)), ("f64", (4000, 4000), (1, 0)),
    ("f64", (4096, 4096), (1, 0)), ("f32", (7264, 7264), (1, 0)), ("f32", (1216, 43408), (1, 0)),
    ("f64", (1000000, 4), (1, 0)), ("f64", (4, 1000000), (1, 0)),
    ("f64", (256, 256, 256), (1, 2, 0)), ("f64", (256, 256, 256), (0, 2, 1)), ("f64", (16, 16384, 16), (2, 1, 0)),
    ("f64", (16, 16, 16, 16, 32, 32), (3, 2, 4, 1, 5, 0)), ("f64", (2,) * 20, tuple(range(19, -1, -1))),
    ("f64", (8, 8, 8, 8), (3, 2, 1, 0)), ("f64", (32, 32, 32, 32), (3, 2, 1, 0)), ("f64", (64, 64, 64, 64), (3, 2, 1, 0)),
    ("f64", (64, 64, 64, 64), (2, 3, 0, 1)),
    ("f32", (384, 384, 368), (1, 0, 2)), ("f32", (355, 384, 384), (0, 2, 1)), ("f32", (384, 355, 384), (2, 1, 0)),
    ("f32", (75, 96, 75, 96), (3, 0, 2, 1)), ("f32", (48, 28, 28, 48, 32), (1, 3, 2, 0, 4)),
    ("f32", (48, 28, 28, 28, 48), (4, 3, 2, 1, 0)), ("f32", (15, 15, 15, 32, 15, 32), (2, 0, 4, 1, 5, 3)),
    ("f64", (1366, 800, 3), (2, 0, 1)), ("u8", (2160, 3840, 3), (2, 0, 1)), ("u8", (3, 2160, 3840), (1, 2, 0)),
    ("f32", (64, 2048, 7, 7), (0, 2, 3, 1)), ("f32", (8, 2048, 32, 128), (0, 2, 1, 3)),
]
# I, N, L, K of c[i,l,k] = a[i, b[i,l], k], of published benchmarks and of grids over them: graphs, rows of a table, sorted
# neighbours' features, single elements out of tables in the caches and beyond, short and long rows, batches.
GATHERS = [
    (1, 135361, 200000, 128), (1, 10000, 10000, 5), (1, 32768, 32768, 1), (1, 1048576, 1048576, 1), (1, 1024, 4194304, 1),
    (1, 4194304, 4194304, 1), (1, 65536, 2097152, 2), (1, 65536, 1398101, 3), (1, 4194304, 524288, 8),
    (1, 1024, 262144, 64), (1, 65536, 32768, 512), (65536, 64, 4, 1), (1024, 8192, 8192, 1), (256, 1024, 1024, 64),
    (100, 100, 100, 100), (1000, 1000, 1000, 8), (16, 65536, 65536, 3),
]
SCATTERS = [
    (1, 135361, 200000, 128), (1, 100, 1305301, 1), (1, 10, 1000, 64), (1, 10, 100000, 64), (1, 100, 1000000, 64),
    (1, 64, 4194304, 1), (1, 4096, 4194304, 1), (1, 262144, 4194304, 1), (1, 4194304, 4194304, 1), (1, 4096, 1048576, 4),
    (1, 4194304, 1048576, 4), (1, 262144, 262144, 16), (1, 4096, 65536, 256), (1, 1024, 4096, 1),
    (100, 100, 100, 100), (1000, 1000, 1000, 8), (16, 65536, 65536, 3),
]


def cases(quick):
    sizes = range(0, 26, 5) if quick else range(26)
    lines = [f"{op} {1 << p}" for op in LEVEL1 for p in sizes]
    some = PERMUTES[::4] if quick else PERMUTES
    lines += [f"permute {t} {','.join(map(str, s))} {','.join(map(str, p))}" for t, s, p in some]
    for op, dims in (("gather", GATHERS), ("scatter_add", SCATTERS)):
        lines += [f"{op} {','.join(map(str, d))}" for d in (dims[::4] if quick else dims)]
    return lines


# What a worker does


def median_time(call, seconds):
    call()
    start = time.perf_counter()
    call()
    once = time.perf_counter() - start
    calls = min(max(int(seconds / 9 / max(once, 1e-9)), 1), 1000000)
    times = []
    for _ in range(3 if once > seconds / 3 else 7):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - start) / calls)
    return statistics.median(times)


ALPHA = 1e-9  # so small that y stays finite over a million calls


class Peer:
    """A peer's routines return a callable for a case, or None where it has no such routine. That of a sum returns it."""

    def level1(self, op, x, z, y): return None
    def value(self, returned): return returned
    def permute(self, a, perm, out): return None
    def gather(self, a, b, c): return None
    def scatter_add(self, a, b, c): return None


class Memcpy(Peer):
    def permute(self, a, perm, out):
        copy = ctypes.CDLL(None).memcpy
        to, of, n = ctypes.c_void_p(out.ctypes.data), ctypes.c_void_p(a.ctypes.data), ctypes.c_size_t(a.nbytes)
        return lambda arrays=(a, out): copy(to, of, n)  # which live as long as the call


class Ndblas(Peer):
    """The C ABI by ctypes, with descriptors made once; of each call some 0.3 us are Python's."""

    def __init__(self):
        self.lib = ctypes.CDLL(os.environ["NDBLAS_SO"])
        self.lib.ndblas_set_num_threads(1)
        size = ctypes.c_ssize_t

        class View(ctypes.Structure):
            _fields_ = [("data", ctypes.c_void_p), ("shape", ctypes.POINTER(size)), ("strides", ctypes.POINTER(size)),
                        ("ndim", ctypes.c_int32), ("dtype", ctypes.c_int32)]

        class Scalar(ctypes.Structure):
            _fields_ = [("re", ctypes.c_double), ("im", ctypes.c_double)]

        dtypes = {"float32": 1, "float64": 2, "int64": 8, "uint8": 9}
        self.scalar = Scalar

        def view(a):
            axes = size * max(a.ndim, 1)
            made = View(a.ctypes.data, axes(*a.shape), axes(*a.strides), a.ndim, dtypes[a.dtype.name])
            self.kept.append((a, made))
            return ctypes.byref(made)
        self.kept, self.view = [], view

    def call(self, name, *args):
        routine = getattr(self.lib, name)
        status = routine(*args)
        assert status == 0, f"{name} gave {status}"
        return lambda: routine(*args)

    def level1(self, op, x, z, y):
        v, small, one = self.view, self.scalar(ALPHA), self.scalar(1)
        if op == "axpy": return self.call("ndblas_axpy", small, v(x), v(y))
        if op == "mul_add": return self.call("ndblas_mul_add", small, v(x), v(z), one, v(y))
        self.result = self.scalar()
        if op == "dot": return self.call("ndblas_dotu", v(x), v(z), ctypes.byref(self.result))
        return self.call("ndblas_nrm2", v(x), ctypes.byref(self.result))

    def value(self, returned): return self.result.re

    def permute(self, a, perm, out):
        numbers = (ctypes.c_int32 * len(perm))(*perm)
        return self.call("ndblas_permute", self.scalar(1), self.view(a), numbers, self.scalar(0), self.view(out))

    def gather(self, a, b, c):
        axis, index = ctypes.c_int32(1), self.view(b[:, :, None])
        return self.call("ndblas_gather", self.scalar(1), self.view(a), axis, index, ctypes.c_int32(0), self.scalar(0),
                         self.view(c))

    def scatter_add(self, a, b, c):
        axis, index = ctypes.c_int32(1), self.view(b[:, :, None])
        return self.call("ndblas_scatter_add", self.scalar(1), self.view(c), axis, index, ctypes.c_int32(0), self.view(a))


class Numpy(Peer):
    """As users write it: `y += a*x` makes a temporary; sums by `@`; np.take_along_axis; np.add.at."""

    def level1(self, op, x, z, y):
        import numpy as np
        if op == "axpy":
            def call(): y.__iadd__(ALPHA * x)
        elif op == "mul_add":
            def call(): y.__iadd__(ALPHA * (x * z))
        elif op == "dot":
            def call(): return x @ z
        else:
            def call(): return np.linalg.norm(x)
        return call

    def permute(self, a, perm, out):
        import numpy as np
        return lambda: np.copyto(out, a.transpose(perm))

    def gather(self, a, b, c):
        import numpy as np
        if len(a) == 1:
            return lambda: np.take(a[0], b[0], axis=0, out=c[0], mode="clip")
        rows = np.arange(len(a))[:, None]
        return lambda: np.copyto(c, a[rows, b])

    def scatter_add(self, a, b, c):
        import numpy as np
        rows = np.arange(len(a))[:, None]
        return lambda: np.add.at(a, (rows, b), c)


class Scipy(Peer):
    """scipy.linalg.blas, which comes with an OpenBLAS of its own."""

    def level1(self, op, x, z, y):
        from scipy.linalg import blas
        if op == "axpy": return lambda: blas.daxpy(x, y, a=ALPHA)
        if op == "dot": return lambda: blas.ddot(x, z)
        if op == "nrm2": return lambda: blas.dnrm2(x)


class Numexpr(Peer):
    def level1(self, op, x, z, y):
        import numexpr as ne
        ne.set_num_threads(1)
        names = {"a": ALPHA, "x": x, "y": y, "z": z}
        if op == "axpy": return lambda: ne.evaluate("y + a*x", names, out=y)
        if op == "mul_add": return lambda: ne.evaluate("y + a*(x*z)", names, out=y)
        if op == "dot": return lambda: ne.evaluate("sum(x*z)", names)
        return lambda: math.sqrt(ne.evaluate("sum(x*x)", names))


class Numba(Peer):
    """Loops in machine code, with fastmath for sums, so that they are vectorised."""

    def level1(self, op, x, z, y):
        import numba
        if op == "axpy":
            @numba.njit(fastmath=True)
            def f(a, x, z, y):
                for i in range(x.size): y[i] += a * x[i]
        elif op == "mul_add":
            @numba.njit(fastmath=True)
            def f(a, x, z, y):
                for i in range(x.size): y[i] += a * (x[i] * z[i])
        elif op == "dot":
            @numba.njit(fastmath=True)
            def f(a, x, z, y):
                s = 0.0
                for i in range(x.size): s += x[i] * z[i]
                return s
        else:
            @numba.njit(fastmath=True)
            def f(a, x, z, y):
                s = 0.0
                for i in range(x.size): s += x[i] * x[i]
                return math.sqrt(s)
        f = self.__dict__.setdefault(op, f)
        return lambda: f(ALPHA, x, z, y)

    def permute(self, a, perm, out):
        import numba
        if perm != (1, 0):
            return None

        @numba.njit
        def f(a, out):
            for i in range(out.shape[0]):
                for j in range(out.shape[1]): out[i, j] = a[j, i]
        f = self.__dict__.setdefault("transposing", f)
        return lambda: f(a, out)

    def gather(self, a, b, c):
        import numba

        @numba.njit
        def f(a, b, c):
            for i in range(b.shape[0]):
                for l in range(b.shape[1]):
                    w = b[i, l]
                    for k in range(a.shape[2]): c[i, l, k] = a[i, w, k]
        f = self.__dict__.setdefault("gathering", f)
        return lambda: f(a, b, c)

    def scatter_add(self, a, b, c):
        import numba

        @numba.njit
        def f(a, b, c):
            for i in range(b.shape[0]):
                for l in range(b.shape[1]):
                    w = b[i, l]
                    for k in range(a.shape[2]): a[i, w, k] += c[i, l, k]
        f = self.__dict__.setdefault("adding", f)
        return lambda: f(a, b, c)


class Torch(Peer):
    def __init__(self):
        import torch
        torch.set_num_threads(1)
        self.torch, self.of = torch, torch.from_numpy

    def level1(self, op, x, z, y):
        x, z, y, torch = self.of(x), self.of(z), self.of(y), self.torch
        if op == "axpy": return lambda: y.add_(x, alpha=ALPHA)
        if op == "mul_add": return lambda: y.addcmul_(x, z, value=ALPHA)
        if op == "dot": return lambda: torch.dot(x, z)
        return lambda: torch.linalg.vector_norm(x)

    def permute(self, a, perm, out):
        a, out = self.of(a), self.of(out)
        return lambda: out.copy_(a.permute(perm))

    def gather(self, a, b, c):
        a, b, c, torch = self.of(a), self.of(b), self.of(c), self.torch
        if len(a) == 1:
            return lambda: torch.index_select(a[0], 0, b[0], out=c[0])
        index = b[:, :, None].expand(c.shape)
        return lambda: torch.gather(a, 1, index, out=c)

    def scatter_add(self, a, b, c):
        a, b, c = self.of(a), self.of(b), self.of(c)
        if len(a) == 1:
            return lambda: a[0].index_add_(0, b[0], c[0])
        index = b[:, :, None].expand(c.shape)
        return lambda: a.scatter_add_(1, index, c)


class Mkl(Peer):
    """CBLAS of Intel's libmkl_rt by ctypes."""

    def __init__(self):
        import glob
        for folder in [sys.prefix + "/lib", "/opt/intel/oneapi/mkl/latest/lib"]:
            for path in sorted(glob.glob(folder + "/libmkl_rt.so*")):
                self.lib = ctypes.CDLL(path)
                self.lib.MKL_Set_Num_Threads(1)
                return
        raise ImportError("no libmkl_rt")

    def level1(self, op, x, z, y):
        lib, n, one, a = self.lib, ctypes.c_int(x.size), ctypes.c_int(1), ctypes.c_double(ALPHA)
        px, pz, py = (ctypes.c_void_p(v.ctypes.data) for v in (x, z, y))
        if op == "axpy": return lambda: lib.cblas_daxpy(n, a, px, one, py, one)
        lib.cblas_ddot.restype = lib.cblas_dnrm2.restype = ctypes.c_double
        if op == "dot": return lambda: lib.cblas_ddot(n, px, one, pz, one)
        if op == "nrm2": return lambda: lib.cblas_dnrm2(n, px, one)


CLASSES = {OURS: Ndblas, "numpy": Numpy, "scipy": Scipy, "numexpr": Numexpr, "numba": Numba, "torch": Torch, "mkl": Mkl,
           "memcpy": Memcpy}


def prepared(peer, case, pool):
    """The peer's call for a case, or None. Its first result has been compared: a figure of a wrong one is none."""
    import numpy as np
    op, *words = case.split()
    if op in LEVEL1:
        n = int(words[0])
        x, z, y = (pool[k << 25:][:n] for k in range(3))
        if (call := peer.level1(op, x, z, y)) is None:
            return None
        before = y.copy()
        returned = call()
        if op in ("dot", "nrm2"):
            want = np.sum(x * z) if op == "dot" else np.sum(x * x) ** .5
            np.testing.assert_allclose(peer.value(returned), want, rtol=1e-10, err_msg=case)
        else:
            # What is added is a billionth of y, and shows in a few digits.
            want = ALPHA * (x if op == "axpy" else x * z)
            np.testing.assert_allclose(y - before, want, rtol=0, atol=1e-15, err_msg=case)
    elif op == "permute":
        dtype, shape, perm = words[0], *(tuple(int(v) for v in w.split(",")) for w in words[1:])
        a = pool[:math.prod(shape)].reshape(shape)
        a = (a * 256).astype("u1") if dtype == "u8" else a.astype(dtype.replace("f", "float"))
        out = np.zeros([shape[d] for d in perm], a.dtype)
        if (call := peer.permute(a, perm, out)) is None:
            return None
        call()
        want = a.reshape(out.shape) if isinstance(peer, Memcpy) else a.transpose(perm)
        assert np.array_equal(out, want), f"{case}: wrong values"
    else:
        i, n, l, k = (int(v) for v in words[0].split(","))
        a, c = pool[:i * n * k].reshape(i, n, k).copy(), pool[1 << 25:][:i * l * k].reshape(i, l, k).copy()
        b, rows = np.random.default_rng(0).integers(0, n, (i, l)), np.arange(i)[:, None]
        if (call := getattr(peer, op)(a, b, c)) is None:
            return None
        if op == "gather":
            call()
            assert np.array_equal(c, a[rows, b]), f"{case}: wrong values"
        else:
            want = a.copy()
            np.add.at(want, (rows, b), c)
            call()
            np.testing.assert_allclose(a, want, rtol=1e-9, err_msg=case)
    return call


def worker(name, file, seconds):
    import numpy as np
    try:
        peer = CLASSES[name]()
        if name in ("numba", "numexpr", "scipy"):
            __import__(name)
    except (ImportError, OSError) as why:
        print(f"{name}: {why}", file=sys.stderr)
        sys.exit(3)
    pool = np.random.default_rng(0).random(3 << 25)
    for case in open(file).read().splitlines():
        call = prepared(peer, case, pool)
        if call:
            print(f"{case}\t{median_time(call, seconds):e}", flush=True)
        if isinstance(peer, Ndblas):
            peer.kept.clear()


# The report


def machine():
    model = platform.processor()
    if os.path.exists("/proc/cpuinfo"):
        names = [l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")]
        model = names[0] if names else model
    return f"{model}, {os.cpu_count()} CPUs, {platform.system()} {platform.release().split('-')[0]}"


def versions(python):
    code = ("import importlib.metadata as m\nfor n in 'numpy scipy numexpr numba torch mkl'.split():\n"
            " try: print(n, m.version(n))\n except Exception: pass")
    found = subprocess.run([python, "-c", code], capture_output=True, text=True).stdout.split("\n")
    lock = open(os.path.join(HERE, "Cargo.lock")).read().split("[[package]]")
    for name in ("ndarray", "strided-perm", "transpose"):
        for entry in lock:
            if f'name = "{name}"' in entry:
                found.append(f"{name} {entry.split('version = ')[1].split(chr(10))[0].strip(chr(34))}")
    return ", ".join(v for v in found if v)


def measure(args, lines, python):
    file = os.path.join(args.out, "cases.txt")
    with open(file, "w") as f:
        f.write("\n".join(lines) + "\n")
    env = dict(os.environ, NDBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1",
               NUMEXPR_NUM_THREADS="1", NUMBA_NUM_THREADS="1", NUMEXPR_MAX_THREADS="1")
    def pin():
        """One core for all, where the system lets one be asked for."""
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rust = os.path.join(ROOT, "target/peers/release/ndblas-peers")
    commands = {p: [python, os.path.abspath(__file__), "--worker", p, file, str(args.seconds)] for p in PYTHON + ["memcpy"]}
    commands |= {p: [rust, name, file, str(args.seconds)] for p, name in RUST.items()}
    results, missing = {}, {}
    for turn in range(args.rounds):
        for peer, command in commands.items():
            if peer in missing:
                continue
            start = time.perf_counter()
            run = subprocess.run(command, capture_output=True, text=True, env=env, preexec_fn=pin)
            if run.returncode == 3:
                missing[peer] = run.stderr.strip()
                continue
            if run.returncode:
                raise SystemExit(f"{peer} failed:\n{run.stderr[-3000:]}")
            for line in run.stdout.splitlines():
                case, seconds = line.split("\t")
                results.setdefault(case, {}).setdefault(peer, []).append(float(seconds))
            print(f"round {turn + 1}: {peer}, {time.perf_counter() - start:.0f} s", flush=True)
    return {c: {p: statistics.median(t) for p, t in r.items()} for c, r in results.items()}, missing


def ms(seconds):
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def ours(times, peer):
    """Our time called from the peer's language."""
    return times.get(OURS_RUST if peer in RUST else OURS)


def table(results, names, label, peers):
    """A row a case: times, the fastest in bold; then geometric means of ratios, over the cases that both have."""
    rows = ["| " + " | ".join([label] + peers) + " |", "|" + "---|" * (len(peers) + 1)]
    for case, name in names.items():
        times = results.get(case, {})
        best = min((times[p] for p in peers if p in times and p != "memcpy"), default=0)
        cells = [(f"**{ms(times[p])}**" if times[p] == best else ms(times[p])) if p in times else "" for p in peers]
        rows.append("| " + " | ".join([name] + cells) + " |")
    def summary(label, ratio):
        cells = []
        for peer in peers:
            ratios = [ratio(results[c], peer) for c in names if peer in results.get(c, {})]
            ratios = [r for r in ratios if r]
            cells.append(f"{geomean(ratios):.2f} ({len(ratios)})" if ratios else "")
        rows.append("| " + " | ".join([label] + cells) + " |")
    summary("geomean of time / ours (cases)", lambda t, peer: ours(t, peer) and t[peer] / ours(t, peer))
    if "memcpy" in peers:
        summary("geomean of memcpy / time (cases)", lambda t, peer: t.get("memcpy") and t["memcpy"] / t[peer])
    return "\n".join(rows)


def plot(args, results, lines):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    style = dict(zip(PYTHON + list(RUST), plt.get_cmap("tab20").colors[::2] + ((0, 0, 0),)))
    style[OURS_RUST] = plt.get_cmap("tab20").colors[1]
    figure, axes = plt.subplots(2, 2, figsize=(13, 9), constrained_layout=True)
    for axis, op in zip(axes.flat, LEVEL1):
        for peer in style:
            points = [(int(c.split()[1]), r[peer]) for c, r in results.items() if c.split()[0] == op and peer in r]
            if points:
                n, seconds = zip(*sorted(points))
                wide = 2.5 if peer in (OURS, OURS_RUST) else 1.2
                axis.loglog(n, seconds, color=style[peer], lw=wide, marker=".", label=peer, base=2)
                axis.set_yscale("log", base=10)
        axis.set(title=f"{op}, f64", xlabel="n", ylabel="seconds a call")
        axis.grid(alpha=.3)
        if axis.lines:
            axis.legend(fontsize=8)
    figure.savefig(os.path.join(args.out, "level1.png"), dpi=90)
    plt.close(figure)
    bars(args, "permute.png", results, [c for c in lines if c.startswith("permute")], style, lambda t, peer: t.get("memcpy"),
         "permutes: time of memcpy / time of the permute (more is faster)", "fraction of memcpy")
    bars(args, "indexed.png", results, [c for c in lines if c.split()[0] in ("gather", "scatter_add")], style, ours,
         "gather and scatter_add: time of ours / time of the peer (beyond 1 the peer wins)", "ours / peer")


def bars(args, file, results, cases, style, reference, title, xlabel):
    """For each case a bar a peer: the time of the reference over the peer's."""
    import matplotlib.pyplot as plt
    cases = [c for c in cases if c in results]
    if not cases:
        return
    peers = [p for p in style if any(p in results[c] for c in cases)]
    figure, axis = plt.subplots(figsize=(13, 1 + .13 * len(peers) * len(cases)), constrained_layout=True)
    for k, peer in enumerate(peers):
        bar = {i: reference(results[c], peer) / results[c][peer] for i, c in enumerate(cases)
               if peer in results[c] and reference(results[c], peer)}
        axis.barh([i + .85 * k / len(peers) for i in bar], bar.values(), height=.8 / len(peers), color=style[peer], label=peer)
    axis.set_yticks([i + .4 for i in range(len(cases))], [name_of(c) for c in cases], fontsize=8)
    axis.set_ylim(len(cases), -.2)
    axis.axvline(1, color="k", lw=.8)
    axis.set(title=title, xlabel=xlabel)
    axis.legend(fontsize=8)
    figure.savefig(os.path.join(args.out, file), dpi=90)
    plt.close(figure)


def name_of(case):
    op, *words = case.split()
    if op == "permute":
        shape, perm = words[1], words[2]
        if shape.count(",") > 8:  # one of twos
            shape, perm = f"2^{shape.count(',') + 1}", "reversed"
        return f"{words[0]} ({shape}) by ({perm})"
    return f"{op} {words[0]}"


def write(args, results, missing, lines, python, config, took):
    def present(cases, peers):
        return [p for p in peers if any(p in results.get(c, {}) for c in cases)]
    text = ["# Figures side by side", "",
            f"One run of `make bench` on {machine()}: {config}. Peers: {versions(python)}. One thread, one core, "
            f"each peer in a process of its own, in turn, {args.rounds} rounds; of each process the median of samples, and of "
            f"these the median. {took:.0f} s in all.", "",
            "Python's peers and `ndblas` are called from Python (ours and MKL by ctypes; of a short call most is Python's own), the "
            "Rust crates and `ndblas (Rust)` from Rust; the last lines of a table compare each with ours in the same language "
            "(above 1, ours is faster) and, for permutes, with a memcpy. In bold the fastest of a line. Each peer's first "
            "result of each case was compared with the right one before it was timed."]
    if missing:
        text += ["", "Not installed here: " + ", ".join(sorted(missing)) + "."]
    losses = []
    for case, times in results.items():
        for peers, mine in ((PYTHON, OURS), (RUST, OURS_RUST)):
            best = min((p for p in peers if p in times), key=times.get, default=mine)
            if mine in times and times[best] < .95 * times[mine]:
                slower = times[mine] / times[best]
                losses.append((slower, f"{name_of(case)}: {best} {ms(times[best])}, {mine} {ms(times[mine])}, "
                                       f"{slower:.2f} times as long"))
    text += ["", "## Where a peer wins", ""]
    text += [f"- {line}" for _, line in sorted(losses, reverse=True)] or ["Nowhere by more than 5 %."]
    text += ["", "## Level 1 and the fused multiply-add", "", "![time over n](level1.png)", ""]
    for op in LEVEL1:
        names = {c: f"2^{int(c.split()[1]).bit_length() - 1}" for c in lines if c.split()[0] == op}
        text += [f"### {op}, f64", "", table(results, names, "n", present(names, PYTHON + list(RUST))), ""]
    names = {c: name_of(c) for c in lines if c.startswith("permute")}
    text += ["## Permutes", "", "![fraction of memcpy](permute.png)", "",
             table(results, names, "permute", present(names, ["memcpy"] + PYTHON + list(RUST))), ""]
    names = {c: name_of(c) for c in lines if c.split()[0] in ("gather", "scatter_add")}
    text += ["## Gather and scatter-add", "", "I, N, L, K of `c[i,l,k] = a[i, b[i,l], k]` and of its adjoint; f64, indices i64 "
             "at random.", "", "![ours over peers](indexed.png)", "",
             table(results, names, "I,N,L,K", present(names, PYTHON + list(RUST))), ""]
    with open(os.path.join(args.out, "figures.md"), "w") as f:
        f.write("\n".join(text))
    with open(os.path.join(args.out, "figures.json"), "w") as f:
        json.dump(results, f, indent=1)


def main():
    if sys.argv[1:2] == ["--worker"]:
        return worker(sys.argv[2], sys.argv[3], float(sys.argv[4]))
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--out", default=os.path.join(ROOT, "docs/figures"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=.02, help="for a case, about")
    parser.add_argument("--only", action="append", help="cases that contain this word")
    parser.add_argument("--no-build", action="store_true", help="the Rust peers as they were built last")
    parser.add_argument("--quick", action="store_true", help="fewer cases")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    cargo = os.environ.get("CARGO", "cargo")
    if "NDBLAS_SO" not in os.environ:
        subprocess.run([cargo, "build", "--release", "--target-dir", "target"], cwd=ROOT, check=True)
        name = "libndblas.dylib" if sys.platform == "darwin" else "libndblas.so"
        os.environ["NDBLAS_SO"] = os.path.join(ROOT, "target/release", name)
    rust = os.path.join(ROOT, "target/peers/release/ndblas-peers")
    if not (args.no_build and os.path.exists(rust)):
        subprocess.run([cargo, "build", "--release", "--target-dir", os.path.join(ROOT, "target/peers")], cwd=HERE, check=True)
    lib = ctypes.CDLL(os.environ["NDBLAS_SO"])
    lib.ndblas_config.restype = ctypes.c_char_p
    lines = [c for c in cases(args.quick) if not args.only or any(word in c for word in args.only)]
    start = time.perf_counter()
    results, missing = measure(args, lines, sys.executable)
    plot(args, results, lines)
    write(args, results, missing, lines, sys.executable, lib.ndblas_config().decode(), time.perf_counter() - start)
    os.remove(os.path.join(args.out, "cases.txt"))
    print(f"{args.out}/figures.md")


main()
