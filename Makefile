# What a person runs. `make help` lists it; `make demo` and `make test` need nothing but Debian 12, git and make.

BUILD := build/release
PYTHON := .venv/bin/python
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local

.PHONY: help setup build test check demo bench bench-read bench-write bench-levels bench-shuffle bench-shuffle-write lint format clean install

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup:  ## install what is missing (apt packages, the .venv)
	@tools/setup

$(BUILD)/build.ninja: | setup
	@cmake --preset release

build: setup $(BUILD)/build.ninja  ## build everything; the binary is build/release/calve
	@cmake --build $(BUILD) --parallel $(JOBS)

test: build  ## set-up, build, the tests that take under a minute
	@$(PYTHON) tools/run_tests.py quick --build $(BUILD)

check: build  ## the long suites: conformance, interop, corruption, crash
	@$(PYTHON) tools/run_tests.py long --build $(BUILD)

demo: build  ## make a real Iceberg warehouse, compact it, show before and after
	@demo/run $(BUILD)/calve

bench: build  ## the benchmarks
	@$(PYTHON) bench/run.py --calve $(BUILD)/calve

bench-read: build  ## Parquet reading against pyarrow, DuckDB, Polars and arrow-rs (READ='--cases x --rounds 3 --scale 0.2')
	@$(PYTHON) bench/read.py --build $(BUILD) $(READ)

bench-levels: build  ## definition levels alone against arrow-rs
	@$(PYTHON) bench/levels.py --build $(BUILD)

bench-shuffle: build bench-shuffle-write  ## decoding shuffle blocks against arrow-rs, Comet's method and Arrow C++ (BLOCKS='--shapes 5x64 --rounds 5'), and writing shuffles
	@$(PYTHON) bench/shuffle.py --build $(BUILD) $(BLOCKS)

bench-shuffle-write: build  ## writing shuffles against Arrow C++ and Polars (SHUFFLE='--rows 1000000 --rounds 3')
	@$(PYTHON) bench/shuffle_write.py --build $(BUILD) $(SHUFFLE)

bench-write: build  ## Parquet writing against arrow-rs, Arrow C++, Polars and DuckDB (WRITE='--cases x --options zstd --rounds 3')
	@$(PYTHON) bench/write.py --build $(BUILD) $(WRITE)

lint: build  ## formatting, clang-tidy, floors, self-contained headers, paths in the docs
	@tools/lint --build $(BUILD)

format:  ## format the C++ in place
	@git ls-files '*.h' '*.cc' | xargs clang-format-19 -i

clean:  ## remove everything that was built
	rm -rf build

install: build  ## install the library, its headers and the command (PREFIX=/usr/local)
	@cmake --install $(BUILD) --prefix $(PREFIX)
