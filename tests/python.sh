#!/bin/sh
# The Python package: its wheel, a second package that is built against it, and the tests and examples, all in a virtual
# environment in target/python. Takes the crate as cargo has built it in a folder, with the same features.
# usage: tests/python.sh TARGET_DIR [CARGO_ARGUMENT...]
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/report.sh
cargo_dir=$1
shift
work=$PWD/target/python
py=$work/venv/bin/python
mkdir -p "$work"

# Where everything has to be there, as in CI, what is missing is a failure.
without() {
    if [ -n "${CI:-}" ]; then echo "FAIL Python: $*"; exit 1; fi
    echo "skip Python: $*"
    exit 0
}
command -v python3 >/dev/null 2>&1 || without "no python3"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || without "$(python3 --version) is older than 3.10"
[ -x "$py" ] || python3 -m venv "$work/venv" >"$work/venv.log" 2>&1 || {
    rm -rf "$work/venv"
    without "python3 makes no virtual environment (Debian: apt install python3-venv)"
}
"$py" -c 'import os, sysconfig, sys; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
    without "no Python.h (Debian: apt install python3-dev)"
pip() { "$py" -m pip --disable-pip-version-check --quiet "$@"; }

# What the wheel is built with, what its tests want, and what judges it.
requirements=$("$py" - <<'EOF'
import re
text = open("python/pyproject.toml").read()
for name in ("requires", "test"):
    print(*re.findall(r'"([^"]+)"', re.search(rf"^{name} = \[(.*?)\]$", text, re.M)[1]), sep="\n")
EOF
) || exit 1
printf '%s\nninja\nbuild\n' "$requirements" >"$work/requirements.txt"
[ "$(uname -s)" = Linux ] && printf 'auditwheel\npatchelf\n' >>"$work/requirements.txt"
pip install -r "$work/requirements.txt" >"$work/pip.log" 2>&1 || {
    tail -n 3 "$work/pip.log"
    without "the packages it is built and tested with cannot be had (target/python/pip.log)"
}
# The build tools of the environment are found by their names.
PATH=$work/venv/bin:$PATH
export PATH

rm -rf "$work/dist" "$work/accepted" "$work/sdist"
arguments=
for argument in "$@"; do arguments="$arguments${arguments:+,}'$argument'"; done
wheel() {
    pip wheel --no-build-isolation --no-deps -w "$work/dist" ./python -Cbuild-dir="$work/build" \
        -Csetup-args="-Dcargo_target_dir=$cargo_dir" -Csetup-args="-Dcargo_args=[$arguments]"
}
check "wheel" wheel
[ $failures -eq 0 ] || exit 1
built=$(echo "$work"/dist/ndblas-*.whl)

if command -v auditwheel >/dev/null 2>&1; then
    accepted() {
        auditwheel repair -w "$work/accepted" "$1" && [ "$(find "$work/accepted" -name '*linux_*' ! -name '*-linux_*')" ]
    }
    check "auditwheel accepts it" accepted "$built"
    [ $failures -eq 0 ] && built=$(echo "$work"/accepted/ndblas-*.whl)
fi

# A source distribution has the crate in it.
sdist() {
    "$py" -m build --sdist --no-isolation -o "$work/sdist" python && tar -tzf "$work"/sdist/*.tar.gz >"$work/sdist/list" &&
        for part in rust/Cargo.toml rust/Cargo.lock rust/src/lib.rs rust/include/ndblas.h src/ndblas/_core.pyx LICENSE-MIT; do
            grep -q "/$part\$" "$work/sdist/list" || { echo "no $part"; return 1; }
        done
}
check "source distribution" sdist

check "install the wheel" pip install --force-reinstall --no-deps "$built"
# Packages that cimport it, copied so that nothing is built into the source tree.
for package in examples/digits_layer tests/memoryviews; do
    rm -rf "$work/package"
    cp -R "python/$package" "$work/package"
    check "a package that cimports ndblas, $package" pip install --no-build-isolation --no-deps --force-reinstall "$work/package"
done
"$py" -m pytest -c python/pyproject.toml --rootdir python -p no:cacheprovider python/tests || failures=1
exit $failures
