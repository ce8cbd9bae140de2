# Sourced by the shell tests: `check NAME command...` runs one and prints `ok NAME` or `FAIL NAME` with what it said.
# tests/all.sh counts these lines. A script ends with `exit $failures`.
failures=0
check() {
    name=$1
    shift
    if output=$("$@" 2>&1 </dev/null); then
        echo "ok   $name"
    else
        code=$?
        echo "FAIL $name (exit $code): $*"
        printf '%s\n' "$output" | sed 's/^/     | /'
        failures=1
    fi
}

refuses() { if "$@"; then echo "it should have failed: $*"; return 1; fi; }

# A hang is a failure; macOS has no timeout.
limited() { if command -v timeout >/dev/null 2>&1; then timeout 300 "$@"; else "$@"; fi; }

# Runs a program against the shared library in a folder.
with_library() {
    dir=$1
    shift
    (cd "$dir") || return 1
    LD_LIBRARY_PATH=$dir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} DYLD_LIBRARY_PATH=$dir limited "$@"
}
