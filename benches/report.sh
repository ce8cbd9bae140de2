#!/bin/sh
# Makes a Python with the peers that PyPI has, and lets it write the report. PEERS adds packages, as in PEERS="torch mkl".
# usage: benches/report.sh [arguments of benches/peers/report.py]
set -eu
cd "$(dirname "$0")/.."
venv=target/peers/venv
[ -x $venv/bin/python ] || python3 -m venv $venv
$venv/bin/pip install -q --disable-pip-version-check numpy scipy numexpr numba matplotlib ${PEERS:-}
exec $venv/bin/python benches/peers/report.py "$@"
