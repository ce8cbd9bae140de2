#!/bin/sh
# Looks for what a build needs and, for OpenBLAS, installs it from the system's packages where that asks no question.
# Says what it finds and does on stderr; prints `openblas` or `none`, the BLAS to build with, on stdout.
# usage: tests/setup.sh [auto|openblas|none]
set -u
want=${1:-auto}
cc=${CC:-cc}
cd "$(dirname "$0")/.." || exit 1

say() { echo "ndblas: $*" >&2; }
stop() { say "$*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

case $want in auto|openblas|none) ;; *) stop "BLAS is auto, openblas or none, not '$want'." ;; esac

have cargo || stop "no cargo, Rust's build tool. Get it as https://rustup.rs says:
        curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh
        or from the system's packages (Fedora: dnf install cargo; Alpine: apk add cargo; macOS: brew install rust),
        then run this again."
need=$(sed -n 's/^rust-version *= *"\(.*\)"/\1/p' Cargo.toml)
is=$(cargo --version | sed 's/^cargo \([0-9]*\.[0-9]*\).*/\1/')
[ -n "$is" ] || stop "cargo does not run: $(cargo --version 2>&1)"
if [ -n "$need" ] && [ "${is%%.*}" -eq "${need%%.*}" ] && [ "${is#*.}" -lt "$(echo "${need#*.}" | cut -d. -f1)" ]; then
    stop "cargo $is is too old, $need is needed: \`rustup update\`, or rustup from https://rustup.rs in place of the
        system's package."
fi

have "$cc" || stop "no C compiler ('$cc' does not run), which Rust needs to link and the examples need to compile.
        Debian, Ubuntu: apt install gcc libc6-dev; Fedora: dnf install gcc; Arch: pacman -S gcc;
        Alpine: apk add build-base; macOS: xcode-select --install. Then run this again, or name one with CC=."

[ "$want" = none ] && { echo none; exit 0; }

# Does a program that calls OpenBLAS link? The same two places as build.rs: pkg-config, then the compiler's own.
openblas_links() {
    probe=$(mktemp -d) || exit 1
    flags="$(pkg-config --libs openblas 2>/dev/null)"
    if [ -z "$flags" ]; then
        flags=-lopenblas
        have brew && flags="-L$(brew --prefix openblas 2>/dev/null)/lib $flags"
    fi
    printf 'void cblas_daxpy(void);\nint main(void) { cblas_daxpy(); return 0; }\n' >"$probe/probe.c"
    "$cc" -o "$probe/probe" "$probe/probe.c" $flags >"$probe/log" 2>&1
    linked=$?
    rm -rf "$probe"
    return $linked
}

# Prints a prefix for a command that needs root's rights; fails without them. No prompt can be answered: sudo serves only
# where it asks no password.
root_by() {
    [ "$(id -u)" -eq 0 ] && return 0
    have sudo && sudo -n true 2>/dev/null && echo "sudo -n"
}

# The package and the command that installs it, by the package manager that is here.
install_openblas() {
    if have apt-get; then
        apt="env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=60 -o Acquire::Retries=1"
        set -- libopenblas-dev $apt install -y --no-install-recommends
    elif have dnf; then set -- openblas-devel dnf install -y
    elif have pacman; then set -- openblas pacman -S --noconfirm --needed
    elif have apk; then set -- openblas-dev apk add --no-interactive
    elif have brew; then
        # Homebrew refuses to run as root.
        say "installing openblas with Homebrew"
        HOMEBREW_NO_AUTO_UPDATE=1 NONINTERACTIVE=1 brew install openblas </dev/null >&2
        return
    else
        say "no package manager is known here."
        return 1
    fi
    package=$1
    shift
    root=$(root_by) || { say "its package is $package, which only root can install."; return 1; }
    limit=; have timeout && limit="timeout 600"
    say "installing the package $package"
    $root $limit "$@" "$package" </dev/null >&2 && return
    # The list of packages may be missing or old.
    [ -n "${apt:-}" ] && $root $limit $apt update </dev/null >&2 && $root $limit "$@" "$package" </dev/null >&2
}

openblas_links && { echo openblas; exit 0; }
say "OpenBLAS is not here (its development files)."
if install_openblas && openblas_links; then
    say "OpenBLAS is installed."
    echo openblas
elif [ "$want" = openblas ]; then
    stop "could not install OpenBLAS: install it by hand (Debian: libopenblas-dev, Fedora: openblas-devel,
        Homebrew: openblas), or use BLAS=none."
else
    say "building WITHOUT a BLAS. Nothing is missing then: the built-in kernels serve every routine."
    echo none
fi
