"""How a Cython package builds against ndblas: its headers, its library, and `cimport ndblas`, which Cython finds by itself."""

import os

import ndblas
from Cython.Build import cythonize
from setuptools import Extension, setup

layer = Extension(
    "digits_layer",
    ["digits_layer.pyx"],
    include_dirs=[ndblas.get_include()],
    extra_objects=[ndblas.get_library()],
    runtime_library_dirs=[os.path.dirname(ndblas.get_library())],
)
setup(ext_modules=cythonize([layer], language_level=3), py_modules=[])
