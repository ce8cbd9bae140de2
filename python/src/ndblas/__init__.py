"""Level-1 BLAS, fused multiply-add, permute, gather and scatter-add on strided N-d arrays.

Every operand is used as it lies: a transpose, a slice, a reversed or a broadcast array is not copied first, and each
routine is one pass, ``out <- beta*out + alpha*f(inputs)``, into memory that you give.

=============  ==============================================================================================
level 1        `fill` `copy` `swap` `scal` `axpy` `axpby` `rot` `dot` `vdot` `nrm2` `asum` `iamax`
fused          `mul_add`
permute        `permute` `permute_in_place`
indexed        `gather` `take` `scatter_add` `gather_nd` `scatter_add_nd`
gradients      `ndblas.autograd`
threads        `set_num_threads` `get_num_threads` `threads`
building       `get_include` `get_library`, and ``cimport ndblas``
=============  ==============================================================================================

An operand is a `numpy.ndarray`, or any object that lends its memory by the buffer protocol or, on the CPU, by DLPack. All
operands of a call have one dtype (indices aside), inputs broadcast by NumPy's rule, and nothing is converted. What is
wrong raises before anything is written:

==============  =============================================================================================
`TypeError`     dtypes that differ, have no such operation, or are byte-swapped; what is no array
`ValueError`    shapes that do not fit; read-only outputs; outputs that overlap an input without being it
`IndexError`    an index out of range, with its position, value and extent
`AxisError`     `numpy.exceptions.AxisError`: an axis or a permutation that the operand does not have
==============  =============================================================================================

The GIL is released during the pass, but for arrays so small that this would take longer than the call.
"""

from __future__ import annotations

import contextlib
import pathlib
import sys
import threading
from types import TracebackType

from . import _core, _threadpoolctl, autograd
from ._core import (
    asum,
    axpby,
    axpy,
    config,
    copy,
    dot,
    fill,
    gather,
    gather_nd,
    get_num_threads,
    iamax,
    mul_add,
    nrm2,
    permute,
    permute_in_place,
    rot,
    scal,
    scatter_add,
    scatter_add_nd,
    set_num_threads,
    swap,
    take,
    vdot,
)

__version__: str = _core._version()

__all__ = [
    "asum",
    "autograd",
    "axpby",
    "axpy",
    "config",
    "copy",
    "dot",
    "fill",
    "gather",
    "gather_nd",
    "get_include",
    "get_library",
    "get_num_threads",
    "iamax",
    "mul_add",
    "nrm2",
    "permute",
    "permute_in_place",
    "rot",
    "scal",
    "scatter_add",
    "scatter_add_nd",
    "set_num_threads",
    "swap",
    "take",
    "threads",
    "vdot",
]


class _Local(threading.local):
    # What `threads` has set for this thread; 0 is nothing.
    threads = 0


_local = _Local()


class threads(contextlib.ContextDecorator):
    """A context manager, or a decorator: the number of threads for calls from this thread.

    Other threads and the process keep theirs. Contexts nest.

    Parameters
    ----------
    n : int
        Less than 1 is the number of the process.

    Examples
    --------
    >>> with ndblas.threads(1):
    ...     ndblas.get_num_threads()
    1
    """

    def __init__(self, n: int) -> None:
        self._n = max(int(n), 0)
        self._before: list[int] = []

    def __enter__(self) -> threads:
        self._before.append(_local.threads)
        self._set(self._n)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._set(self._before.pop())

    @staticmethod
    def _set(n: int) -> None:
        _local.threads = n
        _core._set_num_threads_local(n)


def get_include() -> str:
    """The folder of ``ndblas.h``, for ``include_dirs`` of an extension that uses ``cimport ndblas`` or the C ABI.

    Examples
    --------
    >>> import os
    >>> os.path.exists(os.path.join(ndblas.get_include(), "ndblas.h"))
    True
    """
    return str(pathlib.Path(__file__).parent / "include")


def get_library() -> str:
    """The shared library, for ``extra_objects`` of an extension.

    The library is the one that this package uses, and with it the threads and their number. Give the extension its folder
    as ``runtime_library_dirs`` too, or import ndblas before it.

    Examples
    --------
    >>> import os
    >>> os.path.basename(ndblas.get_library()).split(".")[0]
    'libndblas'
    """
    suffix = "dylib" if sys.platform == "darwin" else "so"
    return str(pathlib.Path(__file__).parent / "lib" / f"libndblas.{suffix}")


_threadpoolctl.register()
