#!/bin/sh
# The tests under what finds faults of memory: AddressSanitizer with its leak check (Rust and C, with
# UndefinedBehaviorSanitizer for the C side), ThreadSanitizer (the tests of threads), Valgrind (the C programs), and the
# AArch64 build with its NEON kernels under qemu. Each part that a machine cannot run is skipped with a line that says why.
# Without a BLAS: what is looked at are the built-in kernels. `tests/report.sh` has the form of the lines.
# usage: tests/sanitize.sh [address] [thread] [valgrind] [aarch64]     (all of them without arguments)
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/report.sh
parts="${*:-address thread valgrind aarch64}"
out=$PWD/target/sanitize
mkdir -p "$out"
have() { command -v "$1" >/dev/null 2>&1; }
skip() { echo "skip $*"; }
host=$(rustc -vV | sed -n 's/^host: //p')
warn='-Wall -Wextra -pedantic -Werror'
# Under a sanitizer everything is slow, and the overrides of the instruction set repeat it all. Lists of large cases follow
# the number of random ones.
export NDBLAS_TEST_RERUN=1 PROPTEST_CASES="${PROPTEST_CASES:-32}"

# Cargo's tests, whose result lines are shown.
cargo_tests() {
    name=$1 log=$out/$1.log
    shift
    if "$@" >"$log" 2>&1 </dev/null; then
        awk '/^test result: / { n += $4 } END { print "     " n " tests" }' "$log"
        echo "ok   $name"
    else
        echo "FAIL $name: $*"
        tail -n 60 "$log" | sed 's/^/     | /'
        failures=1
    fi
}

# The C programs that stand alone, with flags; one that loads the library by itself has nothing to be linked to.
programs() { ls tests/c/*.c c_examples/*.c | grep -v -e header_c -e dlopen -e openmp -e digits_cnn; }

for part in $parts; do
    case $part in
    address)
        # RUSTC_BOOTSTRAP lets a stable compiler take -Z, and the standard library it comes with is not instrumented.
        export RUSTC_BOOTSTRAP=1 ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1
        dir=target/address
        cargo_tests "rust, address" env RUSTFLAGS="-Zsanitizer=address" cargo test --no-fail-fast --target "$host" \
            --target-dir $dir --no-default-features --features ndarray ${SANITIZE_TESTS:---tests}
        # A compiler whose runtime of the sanitizers is here; both speak the same version of their interface as Rust's.
        sanitized='-fsanitize=address,undefined -fno-sanitize-recover=all'
        compiler=
        for cc in clang gcc; do
            have $cc || continue
            echo 'int main(void) { return 0; }' | $cc $sanitized -x c -o "$out/probe" - 2>/dev/null && compiler=$cc && break
        done
        if [ -n "$compiler" ]; then
            check "static library, address" env RUSTFLAGS="-Zsanitizer=address" cargo build --target "$host" \
                --target-dir $dir --no-default-features --features ndarray
            for source in $(programs); do
                program=$out/address-$(basename "$source" .c)
                check "compile $source, $compiler, address and undefined" $compiler -std=c99 $warn -O1 -g -pthread \
                    $sanitized -Iinclude -o "$program" "$source" "$dir/$host/debug/libndblas.a" -ldl -lm
                [ -x "$program" ] && check "run $source, address and undefined" limited "$program"
            done
        else
            skip "C under AddressSanitizer and UBSan: no compiler with their runtime (Debian: libclang-rt-14-dev)"
        fi
        unset RUSTC_BOOTSTRAP
        ;;
    thread)
        # A standard library that is not instrumented hides its locks, and everything guarded by them is reported: it is
        # built too, from the component rust-src. Fences are not known: the library's own Arc does without them then, and
        # crossbeam, which rayon-core has its queues from, when told so.
        if [ -d "$(rustc --print sysroot)/lib/rustlib/src/rust/library" ]; then
            export RUSTC_BOOTSTRAP=1
            export TSAN_OPTIONS=exitcode=66
            flags="-Zsanitizer=thread --cfg crossbeam_sanitize_thread"
            cargo_tests "rust, thread" env RUSTFLAGS="$flags" NDBLAS_STRESS_CALLS=2000 cargo test -Zbuild-std --no-fail-fast \
                --target "$host" --target-dir target/thread --no-default-features --features ndarray --test threads --test stress
            unset RUSTC_BOOTSTRAP
        else
            skip "ThreadSanitizer: the standard library has to be built with it (rustup component add rust-src)"
        fi
        ;;
    valgrind)
        if have valgrind; then
            dir=$PWD/target/no-blas/debug
            check "library for valgrind" cargo build --target-dir target/no-blas --no-default-features --features ndarray
            for source in $(programs); do
                program=$out/valgrind-$(basename "$source" .c)
                check "compile $source" cc -std=c99 $warn -O1 -g -pthread -Iinclude -o "$program" "$source" -L"$dir" \
                    -lndblas -lm
                # A forked child cannot free what its parent's threads hold.
                case $source in *threads*) leaks=no ;; *) leaks=full ;; esac
                # What the library holds for its thread is still reachable at the end, and is no leak.
                [ -x "$program" ] && check "run $source, valgrind" with_library "$dir" valgrind -q --error-exitcode=9 \
                    --leak-check=$leaks --errors-for-leak-kinds=definite "$program"
            done
        else
            skip "Valgrind: it is not here (Debian: apt install valgrind)"
        fi
        ;;
    aarch64)
        triple=aarch64-unknown-linux-gnu
        qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static)
        if [ "$(uname -m)" = aarch64 ]; then
            skip "AArch64 under qemu: this machine is one, and \`make test\` is enough"
        elif [ -z "$qemu" ] || ! have aarch64-linux-gnu-gcc; then
            skip "AArch64: needs qemu-user and gcc-aarch64-linux-gnu (Debian's names)"
        elif ! rustc=$(sh tests/aarch64.sh "$out/aarch64"); then
            skip "AArch64: no standard library of Rust for it (\`rustup target add $triple\`)"
        else
            # The libraries of C where Debian's cross compiler has them.
            export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
            export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="$qemu -L /usr/aarch64-linux-gnu"
            cargo_tests "rust, aarch64" env RUSTC="$rustc" NDBLAS_FUZZ_INPUTS=500 PROPTEST_CASES=8 cargo test --no-fail-fast \
                --target $triple --target-dir target/aarch64 --no-default-features \
                ${SANITIZE_TESTS:---test level1 --test fused --test permute --test indexed --test blas_names --test fuzz}
        fi
        ;;
    *)
        echo "usage: tests/sanitize.sh [address] [thread] [valgrind] [aarch64]" >&2
        exit 2
        ;;
    esac
done
exit $failures
