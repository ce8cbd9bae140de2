"""threadpoolctl's view of the library: it counts as a BLAS, and `threadpool_limits` limits it with the others."""

from __future__ import annotations

import ctypes


def register() -> None:
    try:
        import threadpoolctl  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError:
        return
    if not hasattr(threadpoolctl, "register"):  # before 3.2
        return

    class NdblasController(threadpoolctl.LibController):  # type: ignore[misc,unused-ignore]
        user_api = "blas"
        internal_api = "ndblas"
        filename_prefixes = ("libndblas",)
        check_symbols = ("ndblas_get_num_threads", "ndblas_set_num_threads", "ndblas_version")

        def get_num_threads(self) -> int:
            return int(self.dynlib.ndblas_get_num_threads())

        def set_num_threads(self, num_threads: int) -> None:
            self.dynlib.ndblas_set_num_threads(ctypes.c_int32(num_threads))

        def get_version(self) -> str:
            version = self.dynlib.ndblas_version
            version.restype = ctypes.c_char_p
            return bytes(version()).decode()

    threadpoolctl.register(NdblasController)
