"""``python -m ndblas``: what a bug report needs."""

from __future__ import annotations

import platform
import sys

import numpy as np

import ndblas


def main() -> None:
    _, blas, isa = ndblas.config().split("; ")
    for name, value in (
        ("ndblas", ndblas.__version__),
        ("BLAS", blas.removeprefix("BLAS: ")),
        ("instruction set", isa.removeprefix("instruction set: ")),
        ("threads", str(ndblas.get_num_threads())),
        ("library", ndblas.get_library()),
        ("headers", ndblas.get_include()),
        ("NumPy", np.__version__),
        ("Python", f"{platform.python_version()} on {platform.machine()} {sys.platform}"),
    ):
        print(f"{name:<16} {value}")


if __name__ == "__main__":
    main()
