#!/bin/sh
# Installs into a prefix and into a DESTDIR, and builds and runs a user's program by pkg-config (shared, static) and CMake.
# The installation of the first stays, in target/stage-<blas>, for tests/c.sh.
# `quick` tries the steps with a library that is not optimised.
# usage: tests/install.sh openblas|none [quick]
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/report.sh
blas=$1
root=$PWD
stage=$root/target/stage-$blas
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
rm -rf "$stage"
cc=${CC:-cc}
version=$(sed -n 's/^version *= *"\(.*\)"/\1/p' Cargo.toml | head -n 1)
case $(uname -s) in Darwin) linux=false ;; *) linux=true ;; esac

# Not with the variables of a `make test` around it.
unset MAKEFLAGS
folder=
if [ "${2:-}" = quick ]; then
    export CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_DEBUG=false
    # Never where a later `make install` would find it.
    folder=build=target/install-quick
fi
installs() { ${MAKE:-make} -s install BLAS="$blas" $folder "$@"; }
check "install $blas PREFIX" installs DESTDIR= PREFIX="$stage"
# LIBDIR absolute and INCLUDEDIR below PREFIX, as distributions have them.
dest_dirs="PREFIX=/usr LIBDIR=/usr/lib/some-triplet INCLUDEDIR=include/sub"
check "install $blas DESTDIR" installs DESTDIR="$work/dest" $dest_dirs
# Nothing else can work without it.
[ $failures -eq 0 ] || exit 1

soname_is() { readelf -d "$1" | grep -qF "Library soname: [$2]"; }
needs() { readelf -d "$1" | grep -F "Shared library: [$2"; }
if $linux; then
    check "soname $blas" soname_is "$stage/lib/libndblas.so.$version" libndblas.so.0
    if [ "$blas" = openblas ]; then
        check "links OpenBLAS" needs "$stage/lib/libndblas.so.$version" libopenblas
    else
        check "links no BLAS" refuses needs "$stage/lib/libndblas.so.$version" libopenblas
    fi
fi

export PKG_CONFIG_PATH="$stage/lib/pkgconfig"
packaged() { pkg-config "$@" ndblas; }
is_version() { [ "$(packaged --modversion)" = "$version" ]; }

shared_program() {
    $cc -std=c99 -o "$work/shared" tests/install.c $(packaged --cflags --libs) && with_library "$stage/lib" "$work/shared"
}

# With both libraries in one folder a linker takes the shared one, so the static one is named by its file.
static_program() {
    static=$(packaged --static --libs | sed 's/-lndblas/-l:libndblas.a/')
    $cc -std=c99 -o "$work/static" tests/install.c $(packaged --cflags) $static && "$work/static" && refuses needs "$work/static" libndblas
}

fully_static_program() {
    $cc -std=c99 -static -o "$work/fully" tests/install.c $(packaged --static --cflags --libs) && "$work/fully"
}

sysroot_program() (
    export PKG_CONFIG_PATH="$work/dest/usr/lib/some-triplet/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$work/dest"
    $cc -std=c99 -o "$work/sysroot" tests/install.c $(packaged --cflags --libs) &&
        with_library "$work/dest/usr/lib/some-triplet" "$work/sysroot"
)

if command -v pkg-config >/dev/null 2>&1; then
    check "pkg-config version $blas" is_version
    check "pkg-config shared $blas" shared_program
    if $linux; then
        check "the program asks for the soname $blas" needs "$work/shared" libndblas.so.0
        check "pkg-config static $blas" static_program
        # A static OpenBLAS needs a static Fortran runtime besides, which few machines have.
        [ "$blas" = none ] && check "pkg-config fully static $blas" fully_static_program
    fi
    check "pkg-config DESTDIR $blas" sysroot_program
else
    echo "skip pkg-config $blas: not installed"
fi

mkdir "$work/project"
cp tests/install.c "$work/project/main.c"
cat >"$work/project/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.10)
project(uses_ndblas C)
find_package(ndblas ${WANTED} REQUIRED)
find_package(ndblas REQUIRED) # a second time, as a subproject would
add_executable(shared main.c)
target_link_libraries(shared ndblas::ndblas)
add_executable(static main.c)
target_link_libraries(static ndblas::ndblas_static)
EOF

cmake_finds() { rm -rf "$work/cmake"; cmake -S "$work/project" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$1" -DWANTED="$2"; }
cmake_programs() {
    cmake_finds "$1" "$2" && cmake --build "$work/cmake" && "$work/cmake/shared" && "$work/cmake/static"
}
# LIBDIR outside PREFIX.
apart() {
    installs DESTDIR= PREFIX="$work/a" LIBDIR="$work/b/lib" && cmake_programs "$work/b" "$version"
}
# As after unpacking a binary package elsewhere.
moved() { cp -R "$stage" "$work/moved" && cmake_programs "$work/moved" 0.1; }

if command -v cmake >/dev/null 2>&1; then
    check "CMake $blas" cmake_programs "$stage" "$version"
    check "CMake moved $blas" moved
    check "CMake, LIBDIR elsewhere $blas" apart
    check "CMake refuses another version $blas" refuses cmake_finds "$stage" 1.0
else
    echo "skip CMake $blas: not installed"
fi

uninstalls() {
    ${MAKE:-make} -s uninstall BLAS="$blas" DESTDIR="$work/dest" $dest_dirs &&
        left=$(find "$work/dest" ! -type d) && { [ -z "$left" ] || { echo "left: $left"; false; }; }
}
check "uninstall $blas" uninstalls
exit $failures
