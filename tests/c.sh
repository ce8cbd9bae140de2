#!/bin/sh
# The header in every language standard, then every C and C++ program: compiled by each compiler that is here, linked to
# the first library and run against each.
# usage: tests/c.sh LIBDIR...
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/report.sh
out=target/c-tests
rm -rf $out
mkdir -p $out
warn='-Wall -Wextra -pedantic -Werror'

present() { for c in "$@"; do command -v "$c" >/dev/null 2>&1 && echo "$c"; done; }
c_compilers=$(present gcc clang)
cxx_compilers=$(present g++ clang++)
: "${c_compilers:=${CC:-cc}}" "${cxx_compilers:=${CXX:-c++}}"

# An older compiler does not know the newest standards.
knows() { echo | "$1" "-std=$2" -x "$3" -fsyntax-only - 2>/dev/null; }

# Alone in its file, as a header must stand on its own.
header_in() {
    compiler=$1 std=$2 language=$3 header=$4
    knows "$compiler" "$std" "$language" || return 0
    printf '#include "%s"\n#include "%s"\n' "$header" "$header" >$out/header
    check "$header $compiler $std" "$compiler" "-std=$std" $warn -x "$language" -fsyntax-only -Iinclude $out/header
}

for compiler in $c_compilers; do
    for std in c99 c11 c17 c2x; do header_in "$compiler" $std c ndblas.h; done
done
for compiler in $cxx_compilers; do
    for std in c++11 c++14 c++17 c++20; do header_in "$compiler" $std c++ ndblas.h; done
    [ -f include/ndblas.hpp ] || continue
    for std in c++17 c++20 c++2b; do header_in "$compiler" $std c++ ndblas.hpp; done
done

first=$1 digits=

# Compiles one source in one standard, and runs it against each library. What loads the library by itself is not linked
# to it.
program() {
    source=$1 compiler=$2 std=$3 language=$4
    knows "$compiler" "$std" "$language" || return 0
    program=$out/$(echo "$source" | tr / -).$compiler.$std
    # clang's OpenMP is a package of its own.
    openmp=
    case $source in *openmp*) [ "$compiler" = gcc ] || return 0; openmp=-fopenmp ;; esac
    check "compile $source $compiler $std" "$compiler" "-std=$std" $warn -O2 -g -pthread $openmp -Iinclude -o "$program" "$source" \
        -L"$first" -Wl,--as-needed -lndblas -lm
    [ -x "$program" ] || return 0
    # The training of the network gets its own lines below.
    [ "$source" = c_examples/digits_cnn.c ] && { digits=${digits:-$program}; return 0; }
    shift 4
    for library in "$@"; do check "run $source $compiler $std $library" with_library "$library" "$program"; done
}

for source in tests/c/*.c c_examples/*.c; do
    [ -f "$source" ] || continue
    for compiler in $c_compilers; do program "$source" "$compiler" c99 c "$@"; done
done
# Newer standards bring std::span and std::mdspan.
for source in tests/c/*.cpp c_examples/*.cpp; do
    [ -f "$source" ] || continue
    for compiler in $cxx_compilers; do
        for std in c++17 c++2b; do program "$source" "$compiler" $std c++ "$@"; done
    done
done

# The main job, on its real input and on none and on broken ones.
if [ -n "$digits" ]; then
    data=c_examples/data/digits.csv
    sed '7s/,/,x/' $data >$out/malformed.csv
    head -n 3 $data | cut -d, -f1-20 >$out/short.csv
    : >$out/empty.csv
    refuses_input() {
        with_library "$first" "$digits" "$1" >$out/refusal 2>&1
        code=$?
        cat $out/refusal
        [ $code -eq 1 ] && [ -s $out/refusal ]
    }
    # It exits with 1 by itself when it learns too little.
    for library in "$@"; do check "train digits_cnn $library" with_library "$library" "$digits" $data; done
    for bad in missing malformed short empty; do
        check "digits_cnn refuses a $bad file" refuses_input $out/$bad.csv
    done
fi
exit $failures
