# Builds, tests and installs ndblas for C, C++ and Cython users; Rust users need only cargo, and Python users
# `pip install ./python`. GNU make 3.81 or later.

PREFIX ?= /usr/local
LIBDIR ?= lib
INCLUDEDIR ?= include
# auto, openblas or none. demo, test and bench take `auto`; install takes OpenBLAS unless told `none`, so that the same
# command gives the same library on every machine.
BLAS ?= auto
# A Rust target triple for a cross build of `make install`, with CC set to its compiler.
TARGET ?=
CARGO ?= cargo
CARGO_FLAGS ?=

# Where rustup puts cargo, for a shell that has not been started anew since.
export PATH := $(PATH):$(HOME)/.cargo/bin
# The paths below are those of cargo's defaults.
unexport CARGO_TARGET_DIR CARGO_BUILD_TARGET_DIR CARGO_BUILD_TARGET

version := $(shell sed -n 's/^version *= *"\(.*\)"/\1/p' Cargo.toml | head -n 1)
description := $(shell sed -n 's/^description *= *"\(.*\)"/\1/p' Cargo.toml | head -n 1)
# Raised when a program built against the last version would break.
abi := 0
no_blas := --no-default-features

# Rust links C statically on musl unless told otherwise, and then makes no shared library.
ifneq ($(findstring musl,$(TARGET)$(wildcard /lib/ld-musl-*)),)
export RUSTFLAGS ?= -C target-feature=-crt-static
endif

.PHONY: help demo test stress sanitize fuzz bench criterion deny header lib install uninstall clean

help:
	@echo 'make demo       build, and train the convolutional network of c_examples/ on real digits (installs OpenBLAS'
	@echo '                if it can; BLAS=none does without)'
	@echo 'make test       every test: Rust, C, C++, install, with OpenBLAS and without; Python'
	@echo 'make install    PREFIX=$(PREFIX) DESTDIR= LIBDIR=$(LIBDIR) INCLUDEDIR=$(INCLUDEDIR) [BLAS=none]'
	@echo 'make uninstall  with the same variables'
	@echo 'make lib        build only what `make install` installs (then `sudo make install` needs no cargo)'
	@echo 'make stress     a million random calls from eight threads, each checked'
	@echo 'make sanitize   the tests under AddressSanitizer, UBSan, ThreadSanitizer, Valgrind, and qemu for AArch64'
	@echo 'make fuzz       each fuzz target for FUZZ_SECONDS=$(FUZZ_SECONDS) (needs cargo-fuzz)'
	@echo 'make bench      figures beside NumPy, SciPy, numexpr, numba and Rust crates: docs/figures/ (some 20 minutes;'
	@echo '                PEERS="mkl torch" installs these too)'
	@echo 'make criterion  the benchmarks of the crate alone'
	@echo 'make deny       advisories, licences, duplicates and sources of the dependencies (needs cargo-deny)'
	@echo 'make header     write include/ndblas.h anew from src/capi'
	@echo 'make clean      remove target/'

# A folder a feature set: a crate with a shared library has one place for its output, so that in one folder each change of
# set would build it anew, and the programs linked before would get the other library. $(1) is openblas or none.
cargo_dir = target$(if $(filter none,$(1)),/no-blas)

demo:
	@set -e; blas=$$(sh tests/setup.sh $(BLAS)); \
	if [ $$blas = none ]; then dir=$(call cargo_dir,none); flags='$(no_blas)'; else dir=$(call cargo_dir,); flags=; fi; \
	set -x; \
	$(CARGO) build --release --target-dir $$dir $$flags $(CARGO_FLAGS); \
	$(CC) -std=c99 -O2 -o $$dir/digits_cnn c_examples/digits_cnn.c -Iinclude -L$$dir/release -lndblas -lm \
		'-Wl,-rpath,$(CURDIR)/'$$dir/release; \
	$$dir/digits_cnn c_examples/data/digits.csv

test:
	@sh tests/all.sh $(BLAS)

# The built-in kernels: OpenBLAS has its own tests.
STRESS_CALLS ?= 1000000
stress:
	NDBLAS_STRESS_CALLS=$(STRESS_CALLS) $(CARGO) test --release --target-dir $(call cargo_dir,none) $(no_blas) \
		$(CARGO_FLAGS) --test stress -- --nocapture

sanitize:
	@sh tests/sanitize.sh $(PARTS)

# Inputs found go to target/fuzz; those worth keeping, by hand, to fuzz/corpus. cargo-fuzz wants -Z options, which
# RUSTC_BOOTSTRAP lets a stable compiler take.
FUZZ_SECONDS ?= 120
FUZZ_TARGETS ?= level1 permute indexed blas
fuzz:
	@set -e; for target in $(FUZZ_TARGETS); do \
		mkdir -p target/fuzz/$$target; \
		RUSTC_BOOTSTRAP=1 $(CARGO) fuzz run --target-dir target/fuzz-build $$target target/fuzz/$$target fuzz/corpus/$$target \
			-- -max_total_time=$(FUZZ_SECONDS) -max_len=200 -print_final_stats=1; \
	done

bench:
	@sh benches/report.sh

criterion:
	@blas=$$(sh tests/setup.sh $(BLAS)) || exit 1; \
	if [ $$blas = none ]; then $(CARGO) bench --target-dir $(call cargo_dir,none) $(no_blas) $(CARGO_FLAGS); \
	else $(CARGO) bench --target-dir $(call cargo_dir,) $(CARGO_FLAGS); fi

# Advisories come from a repository on GitHub.
DENY_CHECKS ?= advisories bans licenses sources
deny:
	$(CARGO) deny check $(DENY_CHECKS)

# No BLAS is needed to write a header. cargo names the folder where build.rs put it.
header:
	@dir=$$($(CARGO) check --lib --target-dir target $(no_blas) --features header --message-format json | \
		sed -n '/"build-script-executed"/s/.*"path+file:.*"out_dir":"\([^"]*\)".*/\1/p') && \
	test -n "$$dir" && cp "$$dir/ndblas.h" include/ndblas.h && echo 'include/ndblas.h is fresh'

clean:
	rm -rf target

# Install

blas := $(if $(filter none,$(BLAS)),none,openblas)
under_prefix = $(if $(filter /%,$(1)),$(abspath $(1)),$(prefix)/$(1))
prefix := $(abspath $(PREFIX))
libdir := $(call under_prefix,$(LIBDIR))
includedir := $(call under_prefix,$(INCLUDEDIR))
# The same paths by prefix=, where they lie below it, so that a tree can be moved.
by_prefix = $(patsubst $(prefix)/%,$(2)/%,$(1))
# What the CMake package finds from its own place, which is below LIBDIR.
cmake_prefix := $(if $(filter $(prefix)/%,$(libdir)),$${_ndblas_prefix},$(prefix))
to_lib := $(DESTDIR)$(libdir)
to_include := $(DESTDIR)$(includedir)

ifneq ($(findstring darwin,$(if $(TARGET),$(TARGET),$(shell uname -s | tr A-Z a-z))),)
shared := libndblas.$(version).dylib
soname := libndblas.$(abi).dylib
link := libndblas.dylib
link_arg := -Wl,-install_name,$(libdir)/$(soname),-current_version,$(version),-compatibility_version,$(abi)
cmake_soname := $(libdir)/$(soname)
else
shared := libndblas.so.$(version)
soname := libndblas.so.$(abi)
link := libndblas.so
link_arg := -Wl,-soname,$(soname)
cmake_soname := $(soname)
endif

headers := $(wildcard include/ndblas.h include/ndblas.hpp include/ndblas.pxd)
# Apart from target/release, whose library has no soname: it is linked and run in place under its one name.
build := target/install$(if $(filter none,$(blas)),-no-blas)
built := $(build)/$(if $(TARGET),$(TARGET)/)release
native_libs := $(build)/native-static-libs

lib:
	@if command -v $(CARGO) >/dev/null 2>&1; then \
		set -ex; mkdir -p $(build); \
		$(CARGO) rustc --release --lib --crate-type cdylib,staticlib --target-dir $(build) \
			$(if $(TARGET),--target $(TARGET)) $(if $(filter none,$(blas)),$(no_blas)) $(CARGO_FLAGS) \
			-- -C link-arg=$(link_arg) --print native-static-libs=$(native_libs); \
	elif [ ! -f $(built)/$(link) ]; then echo 'ndblas: no cargo (https://rustup.rs), and nothing built yet' >&2; exit 1; fi

# Libs.private: what rustc names, less what every C compiler adds by itself, and rightly for -static too (there is no
# static gcc_s); OpenBLAS with the folder where it was found. Not Requires.private: pkg-config asks for those packages in a
# shared link as well, where OpenBLAS's development files are not needed.
install: lib
	@set -e; umask 022; \
	private=$$(tr -s ' \n' '\n\n' <$(native_libs) | grep -vxE -e '-l(gcc_s|c|openblas)' | tr '\n' ' ' | sed 's/ *$$//'); \
	if [ $(blas) = openblas ]; then \
		openblas=$$(pkg-config --libs openblas 2>/dev/null) || openblas=-lopenblas; \
		private="$$(echo $$openblas $$private)"; \
	fi; \
	bytes=$$(echo __SIZEOF_POINTER__ | $(CC) -E -P - 2>/dev/null | tail -n 1 | tr -d ' '); \
	up=$$(echo '$(call by_prefix,$(libdir),.)/cmake/ndblas' | sed 's|^\./||; s|[^/][^/]*|..|g'); \
	fill() { sed -e 's|@VERSION@|$(version)|g' -e 's|@ABI@|$(abi)|g' -e 's|@DESCRIPTION@|$(description)|g' \
		-e 's|@PREFIX@|$(prefix)|g' -e "s|@LIBS_PRIVATE@|$$private|g" -e "s|@POINTER_BYTES@|$${bytes:-8}|g" \
		-e "s|@UP@|$$up|g" -e 's|@SHARED@|$(shared)|g' -e 's|@CMAKE_SONAME@|$(cmake_soname)|g' \
		-e "s|@LIBDIR@|$$1|g" -e "s|@INCLUDEDIR@|$$2|g" "$$3"; }; \
	install -d '$(to_lib)/pkgconfig' '$(to_lib)/cmake/ndblas' '$(to_include)'; \
	install -m 644 $(headers) '$(to_include)'; \
	install -m 755 $(built)/$(link) '$(to_lib)/$(shared)'; \
	ln -sf $(shared) '$(to_lib)/$(soname)'; \
	ln -sf $(soname) '$(to_lib)/$(link)'; \
	install -m 644 $(built)/libndblas.a '$(to_lib)/libndblas.a'; \
	fill '$(call by_prefix,$(libdir),$${prefix})' '$(call by_prefix,$(includedir),$${prefix})' \
		include/pkgconfig/ndblas.pc.in >'$(to_lib)/pkgconfig/ndblas.pc'; \
	for f in ndblas-config ndblas-config-version; do \
		fill '$(call by_prefix,$(libdir),$(cmake_prefix))' '$(call by_prefix,$(includedir),$(cmake_prefix))' \
			include/cmake/$$f.cmake.in >'$(to_lib)/cmake/ndblas/'$$f.cmake; \
	done; \
	echo 'ndblas $(version) ($(blas)) is in $(DESTDIR)$(prefix)'

uninstall:
	cd '$(to_lib)' && rm -f $(shared) $(soname) $(link) libndblas.a pkgconfig/ndblas.pc && rm -rf cmake/ndblas
	cd '$(to_include)' && rm -f $(notdir $(headers))
