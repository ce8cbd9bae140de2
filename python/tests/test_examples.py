"""The examples run, and show what they are to show."""

import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"
sys.path.insert(0, str(EXAMPLES))


def output(script, *args):
    run = subprocess.run([sys.executable, EXAMPLES / script, *args], capture_output=True, text=True, cwd=EXAMPLES)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_memory():
    """No routine needs a megabyte where NumPy needs an array."""
    pytest.importorskip("resource")
    lines = output("memory.py", "160").splitlines()
    rows = {line[:40].strip(): [float(word) for word in line[40:].split()] for line in lines[2:]}
    operand = 8 * 160**3 / 1e6
    assert len(rows) == 5
    for case, (numpys, ours) in rows.items():
        assert ours < 1, (case, ours)
        if "np.add.at" not in case:
            assert numpys > 0.9 * operand, (case, numpys)


def test_dask():
    pytest.importorskip("dask.distributed")
    assert "bit for bit: True" in output("dask_blocks.py")


def test_cython_network():
    pytest.importorskip("digits_layer", reason="the example is not installed")
    assert "differ by at most" in output("digits_layer/train.py")


def test_speed():
    assert output("speed.py", "--quick").count("\n") == 17
