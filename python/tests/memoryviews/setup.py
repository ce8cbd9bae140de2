import os

import ndblas
from Cython.Build import cythonize
from setuptools import Extension, setup

module = Extension(
    "ndblas_test_memoryviews",
    ["ndblas_test_memoryviews.pyx"],
    include_dirs=[ndblas.get_include()],
    extra_objects=[ndblas.get_library()],
    runtime_library_dirs=[os.path.dirname(ndblas.get_library())],
    extra_compile_args=["-O0", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Wno-unused-function", "-Werror"],
)
setup(ext_modules=cythonize([module], language_level=3), py_modules=[])
