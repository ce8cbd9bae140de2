"""Threads, processes, the GIL, and what the package says of itself."""

import multiprocessing
import pathlib
import subprocess
import sys
import threading
import time
from multiprocessing.shared_memory import SharedMemory

import ndblas
import numpy as np
import pytest


def elsewhere(f):
    """What f returns in another thread."""
    results = []
    thread = threading.Thread(target=lambda: results.append(f()))
    thread.start()
    thread.join()
    return results[0]


def test_threads():
    default = ndblas.get_num_threads()
    assert default >= 1
    ndblas.set_num_threads(3)
    try:
        assert ndblas.get_num_threads() == elsewhere(ndblas.get_num_threads) == 3
        with ndblas.threads(5) as five:
            assert ndblas.get_num_threads() == 5
            assert elsewhere(ndblas.get_num_threads) == 3
            with ndblas.threads(1):
                assert ndblas.get_num_threads() == 1
                with five:
                    assert ndblas.get_num_threads() == 5
                with ndblas.threads(0):
                    assert ndblas.get_num_threads() == 3
                assert ndblas.get_num_threads() == 1
            assert ndblas.get_num_threads() == 5
        assert ndblas.threads(7)(ndblas.get_num_threads)() == 7
        with pytest.raises(ZeroDivisionError), ndblas.threads(2):
            raise ZeroDivisionError
        assert ndblas.get_num_threads() == 3
    finally:
        ndblas.set_num_threads(0)
    assert ndblas.get_num_threads() == default


def test_results_do_not_depend_on_threads():
    rng = np.random.default_rng(1)
    a, b, c = (rng.normal(size=(40, 300, 100)) for _ in range(3))
    index = rng.integers(0, 300, (40, 300, 1))

    def everything():
        return (
            ndblas.mul_add(a, b, c.copy()),
            ndblas.permute(a, (2, 0, 1)),
            ndblas.gather(a, index, 1),
            ndblas.scatter_add(a, index, 1, c.copy()),
            np.array([ndblas.dot(a, b), ndblas.nrm2(a), ndblas.asum(a)]),
        )

    with ndblas.threads(1):
        expected = everything()
    for n in (2, 7):
        with ndblas.threads(n):
            for one, other in zip(everything(), expected):
                assert one.tobytes() == other.tobytes()


def test_threadpoolctl():
    threadpoolctl = pytest.importorskip("threadpoolctl")
    (ours,) = (one for one in threadpoolctl.threadpool_info() if one["internal_api"] == "ndblas")
    assert ours["filepath"] == str(pathlib.Path(ndblas.get_library()).resolve())
    assert ours["version"] == ndblas.__version__ and ours["num_threads"] == ndblas.get_num_threads()
    before = ndblas.get_num_threads()
    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        assert ndblas.get_num_threads() == 1
    assert ndblas.get_num_threads() == before


def test_the_gil_is_released():
    """While another thread is in a call that takes long, this one goes on."""

    def run(n):
        x = np.broadcast_to(np.float64(1), n)
        done = threading.Event()
        seconds = []

        def call():
            began = time.perf_counter()
            ndblas.asum(x)
            seconds.append(time.perf_counter() - began)
            done.set()

        thread = threading.Thread(target=call)
        rounds = 0
        thread.start()
        while not done.is_set():
            rounds += 1
            done.wait(0.001)
        thread.join()
        return seconds[0], rounds

    n = 100_000_000
    while (result := run(n))[0] < 0.5:
        n *= 2
    # With the GIL held it would be once before and once after.
    assert result[1] >= 5


def slab(name, shape, i):
    memory = SharedMemory(name)
    a, b, c = np.ndarray((3, *shape), buffer=memory.buf)
    ndblas.mul_add(a[i], b[i], c[i])
    ndblas.permute(a[i].reshape(50, -1), None, b[i].reshape(-1, 50))
    del a, b, c
    memory.close()


# Python warns of any fork of a process with threads.
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_processes(method):
    """Workers update their parts of one array, however they were started, with this process having computed before."""
    shape = (4, 50, 600)
    memory = SharedMemory(create=True, size=3 * 8 * int(np.prod(shape)))
    try:
        a, b, c = arrays = np.ndarray((3, *shape), buffer=memory.buf)
        arrays[...] = np.random.default_rng(1).normal(size=arrays.shape)
        expected, transposed = c + a * b, np.array([part.T for part in a]).reshape(shape)
        with ndblas.threads(2):
            ndblas.dot(a, b)
            with multiprocessing.get_context(method).Pool(2) as pool:
                pool.starmap(slab, [(memory.name, shape, i) for i in range(4)])
        assert np.array_equal(c, expected) and np.array_equal(b, transposed)
        del a, b, c, arrays
    finally:
        memory.close()
        memory.unlink()


def test_many_threads_at_once():
    a = np.random.default_rng(1).normal(size=(8, 200, 300))
    out = np.empty((8, 300, 200))
    threads = [threading.Thread(target=lambda i=i: [ndblas.permute(a[i], None, out[i]) for _ in range(20)]) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.array_equal(out, a.transpose(0, 2, 1))


def test_python_m():
    text = subprocess.run([sys.executable, "-m", "ndblas"], check=True, capture_output=True, text=True).stdout
    said = dict(line.split(None, 1) for line in text.replace("instruction set", "instructions").splitlines())
    assert said["ndblas"] == ndblas.__version__
    assert said["BLAS"] and said["instructions"] in ndblas.config()
    assert int(said["threads"]) == ndblas.get_num_threads()
    assert pathlib.Path(said["library"]).exists() and pathlib.Path(said["headers"], "ndblas.h").exists()


def test_version():
    assert ndblas.config().startswith(f"ndblas {ndblas.__version__}; ")
