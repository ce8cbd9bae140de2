"""Gather and multiply-add over arrays larger than a worker's memory, chunk by chunk on a local Dask cluster.

    r[i,l,k] = a[i, b[i,l], k] + w[i,l,k]*v[k]

Each worker is held to `LIMIT` bytes, and the arrays are several times that. Whatever runs the chunks (processes here, machines
with another cluster address), each is one call of ndblas on arrays that the worker has. The result is compared with
NumPy's, bit for bit.
"""

import resource
import sys

import dask
import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster

import ndblas

LIMIT, CHUNK, CHUNKS = 400_000_000, 4, 60
J, L, K = 500, 500, 1000


def with_ndblas(a: np.ndarray, b: np.ndarray, w: np.ndarray, v: np.ndarray) -> np.ndarray:
    r = ndblas.gather(a, b, axis=1)
    return ndblas.mul_add(w, v, r)


def with_numpy(a: np.ndarray, b: np.ndarray, w: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.take_along_axis(a, b, axis=1) + w * v


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main() -> None:
    rng = da.random.default_rng(1)
    rows = CHUNK * CHUNKS
    a = rng.random((rows, J, K), chunks=(CHUNK, J, K))
    b = rng.integers(-J, J, (rows, L, 1), chunks=(CHUNK, L, 1))
    w = rng.random((rows, L, K), chunks=(CHUNK, L, K))
    v = np.linspace(-1, 1, K)
    ours, numpys = (
        da.map_blocks(f, a, b, w, v=v, dtype=a.dtype, chunks=(CHUNK, L, K)) for f in (with_ndblas, with_numpy)
    )
    print(f"a, w and r of {a.nbytes / 1e6:.0f} MB each in {CHUNKS} chunks; two workers of {LIMIT / 1e6:.0f} MB")
    with LocalCluster(
        n_workers=2, threads_per_worker=1, memory_limit=LIMIT, dashboard_address=None
    ) as cluster, Client(cluster) as client:
        equal, total = dask.compute((ours == numpys).all(), ours.sum())
        peaks = client.run(peak)
    print(f"the sum is {total:.6f}; equal to NumPy's, bit for bit: {bool(equal)}")
    print("the workers' peaks:", ", ".join(f"{p / 1e6:.0f} MB" for p in peaks.values()))
    if not equal or len(peaks) != 2 or max(peaks.values()) >= min(LIMIT, a.nbytes):
        sys.exit("that is not as it should be")


if __name__ == "__main__":
    main()
