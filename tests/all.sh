#!/bin/sh
# Every test there is: Rust, the header, C, C++ and the installation, with OpenBLAS and without, and Python. Goes on after
# a failure, and closes with one line that counts.
# usage: tests/all.sh [auto|openblas|none]
set -u
cd "$(dirname "$0")/.." || exit 1
blas=$(sh tests/setup.sh "${1:-auto}") || exit 1
mkdir -p target
log=target/tests.log
passed=0 failed=0 skipped=0
broken=

# step NAME command...: counts the lines of cargo's, of pytest's and of tests/report.sh's form.
step() {
    name=$1
    shift
    echo "== $name: $*"
    before=$(date +%s)
    { "$@" 2>&1 </dev/null; echo $? >target/tests.code; } | tee $log
    code=$(cat target/tests.code)
    echo "-- $name: $(($(date +%s) - before)) s"
    set -- $(awk '
        /^test result: / { ok += $4; bad += $6; skip += $8 }
        /^ok   / { ok++ }
        /^FAIL / { bad++ }
        /^skip / { skip++ }
        /^[0-9]+ [a-z]+.* in [0-9.]+s/ {
            for (i = 1; i < NF; i++) {
                if ($(i + 1) ~ /^passed/) ok += $i
                if ($(i + 1) ~ /^(failed|error)/) bad += $i
                if ($(i + 1) ~ /^skipped/) skip += $i
            }
        }
        END { print ok + 0, bad + 0, skip + 0 }' $log)
    # A step that broke off before it could count a failure is one.
    [ "$code" -ne 0 ] && [ "$2" -eq 0 ] && set -- "$1" 1 "$3"
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
    [ "$2" -ne 0 ] && broken="$broken  $name"
}

# A folder for the set without BLAS, as in the Makefile. What is the same in both sets runs for one alone: cbindgen, and the
# examples of the documentation.
no_blas_features=ndarray no_blas_tests=--tests
if [ "$blas" = openblas ]; then
    step "Rust, OpenBLAS" cargo test --no-fail-fast --target-dir target --features header,ndarray
    step "install, OpenBLAS" sh tests/install.sh openblas
    # Where `cargo test` leaves the shared library.
    libraries="$PWD/target/debug/deps $PWD/target/stage-openblas/lib"
    # Compiling for release takes minutes, and one set shows that it works.
    quick=quick
else
    echo "skip everything with OpenBLAS, as it is not here"
    skipped=$((skipped + 1))
    libraries=$PWD/target/stage-none/lib
    quick=
    no_blas_features=header,ndarray no_blas_tests=
fi
step "Rust, no BLAS" cargo test --no-fail-fast --target-dir target/no-blas --no-default-features \
    --features $no_blas_features $no_blas_tests
step "build, no BLAS" cargo build --target-dir target/no-blas --no-default-features --features $no_blas_features
step "install, no BLAS" sh tests/install.sh none $quick
step "C and C++" sh tests/c.sh $libraries "$PWD/target/no-blas/debug"
# The wheel links the library as it was built last.
step "Python" sh tests/python.sh "$PWD/target/no-blas" --features $no_blas_features

echo
[ -z "$broken" ] || echo "FAILED:$broken"
summary="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || summary="$summary, $skipped skipped"
echo "$summary"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
