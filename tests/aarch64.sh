#!/bin/sh
# Prints the path of a rustc which has the standard library for aarch64-unknown-linux-gnu: the one in use, if rustup has
# added it; else Debian's, unpacked below a folder without installing anything. Fails where neither is to be had.
# usage: tests/aarch64.sh FOLDER
set -eu
triple=aarch64-unknown-linux-gnu
if [ -d "$(rustc --print sysroot)/lib/rustlib/$triple/lib" ]; then
    command -v rustc
    exit
fi
command -v apt-get >/dev/null 2>&1 && command -v dpkg >/dev/null 2>&1 || exit 1
mkdir -p "$1"
dir=$(cd "$1" && pwd)
if [ ! -x "$dir/rustc" ]; then
    # Lists of both architectures, in a place of their own.
    mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" "$dir/debs"
    set -- -qq -o APT::Architecture=amd64 -o APT::Architectures=amd64,arm64 -o "Dir::State::Lists=$dir/lists" \
        -o "Dir::Cache=$dir/cache" -o APT::Sandbox::User=root
    apt-get "$@" update >&2
    library=$(apt-cache "$@" depends libstd-rust-web-dev | grep -o 'libstd-rust-web-[0-9][0-9.]*' | head -n 1)
    llvm=$(apt-cache "$@" depends "$library" | grep -o 'libllvm[0-9][0-9]*' | head -n 1)
    cd "$dir/debs"
    apt-get "$@" download rustc-web libstd-rust-web-dev:amd64 libstd-rust-web-dev:arm64 "$library" "$llvm" >&2
    for package in *.deb; do dpkg -x "$package" "$dir/root"; done
    cat >"$dir/rustc" <<EOF
#!/bin/sh
LD_LIBRARY_PATH=$dir/root/usr/lib/x86_64-linux-gnu exec $dir/root/usr/bin/rustc --sysroot $dir/root/usr "\$@"
EOF
    chmod +x "$dir/rustc"
fi
"$dir/rustc" --version >&2
echo "$dir/rustc"
