"""Where the Rust crate is, and what the build of the wheel does with it.

    crate.py root                       its folder: the one around this, or rust/ in a source distribution
    crate.py version                    its version
    crate.py build OUT DIR ARGS...      its static library, without a BLAS, built by cargo in DIR and copied to OUT
    crate.py dist                       copies it into the source distribution (a `meson dist` script)
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent.parent
# What cargo needs of it: Cargo.toml names the benchmarks.
PARTS = ["Cargo.toml", "Cargo.lock", "build.rs", "src", "benches", "include", "README.md", "LICENSE-APACHE", "LICENSE-MIT"]


def root() -> pathlib.Path:
    for folder in (HERE / "rust", HERE.parent):
        if (folder / "Cargo.toml").exists():
            return folder
    sys.exit("ndblas: the Rust crate is neither in rust/ nor around the folder of the Python package")


def version() -> str:
    return re.search(r'^version *= *"(.*)"', (root() / "Cargo.toml").read_text(), re.M)[1]


def build(out: str, folder: str, *args: str) -> None:
    # Where rustup puts cargo, for a shell that has not been started anew since.
    path = os.pathsep.join([os.environ.get("PATH", ""), os.path.expanduser("~/.cargo/bin")])
    cargo = shutil.which(os.environ.get("CARGO", "cargo"), path=path)
    if cargo is None:
        sys.exit("ndblas: no cargo, Rust's build tool, which builds the library: get it from https://rustup.rs")
    named = args[args.index("--profile") + 1] if "--profile" in args else "release" if "--release" in args else "dev"
    profile = {"dev": "debug", "test": "debug", "bench": "release"}.get(named, named)
    command = [cargo, "build", "--lib", "--no-default-features", "--target-dir", folder, *args]
    subprocess.run(command, cwd=root(), check=True, env={**os.environ, "PATH": path})
    triple = os.environ.get("CARGO_BUILD_TARGET", "")
    shutil.copyfile(pathlib.Path(folder, triple, profile, "libndblas.a"), out)


def dist() -> None:
    to = pathlib.Path(os.environ["MESON_DIST_ROOT"])
    for part in PARTS:
        source, target = root() / part, to / "rust" / part
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copyfile(source, target)


if __name__ == "__main__":
    verb, *arguments = sys.argv[1:]
    answer = {"root": root, "version": version, "build": build, "dist": dist}[verb](*arguments)
    if answer is not None:
        print(answer)
