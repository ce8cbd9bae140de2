"""The examples in docstrings and documents run, and the type stubs are those of the module."""

import doctest
import inspect
import pathlib
import re
import subprocess
import sys

import ndblas
import numpy as np
import pytest
from ndblas import autograd

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTED = [(ndblas, name) for name in ndblas.__all__ if name != "autograd"] + [(autograd, name) for name in autograd.__all__]


@pytest.mark.parametrize("module, name", DOCUMENTED, ids=lambda x: getattr(x, "__name__", x))
def test_docstring(module, name):
    thing = getattr(module, name)
    assert thing.__doc__ and thing.__doc__.split("\n")[0].strip()
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(thing), {"np": np, "ndblas": ndblas}, name, None, 0)
    said = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert not said, "".join(said)


def test_all_routines_have_parameters_and_examples():
    for name in ndblas.__all__:
        thing = getattr(ndblas, name)
        if inspect.isroutine(thing) and "alpha" in str(inspect.signature(thing)):
            for section in ("Parameters", "Returns", "Examples"):
                assert f"{section}\n" in thing.__doc__, (name, section)


@pytest.mark.parametrize("path", ["docs/python.md", "README.md", "python/README.md"])
def test_document(path, monkeypatch, tmp_path):
    """The blocks of Python of a document, one after the other."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / path).read_text(), re.M | re.S)
    assert blocks
    space = {}
    for block in blocks:
        exec(compile(block, path, "exec"), space)


def test_cython_blocks(tmp_path):
    """The first block of Cython is a module."""
    pytest.importorskip("Cython")
    block = re.search(r"^```cython\n(.*?)^```", (ROOT / "docs/python.md").read_text(), re.M | re.S)[1]
    (tmp_path / "layer.pyx").write_text(block)
    run = subprocess.run([sys.executable, "-m", "cython", "-3", "-Werror", tmp_path / "layer.pyx"], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_stubs():
    pytest.importorskip("mypy")
    run = subprocess.run([sys.executable, "-m", "mypy.stubtest", "ndblas"], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_types():
    pytest.importorskip("mypy")
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "-p", "ndblas"], capture_output=True, text=True, cwd=ROOT / "python" / "tests"
    )
    assert run.returncode == 0, run.stdout + run.stderr
