# Nothing but Python 3.11+ and make is needed: every target first sees to .venv, which takes minutes once.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup installed wheel types hunt nightly-demo test test-fast test-all pins fuzz lab lab-experiments lab-lock pictures lint docs bench lock clean

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
BIN := .venv/bin
STAMP := .venv/.kwalk-is-set-up
LOOPS := .venv/.loops-are-compiled
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# uv installs in a quarter of pip's time. It knows neither pip's certificates nor pip's index, unless it is told. It keeps
# each pyspark that it builds, two for a .venv and 1.9 GB each, and builds anew all the same: so each install has a cache
# of its own, and leaves none.
INDEX = $$(index=$${PIP_INDEX_URL:-$$($(PIP) config get global.index-url 2>/dev/null)}; [ -z "$$index" ] || echo --default-index $$index)
UV := UV_SYSTEM_CERTS=1 UV_NATIVE_TLS=1 $(BIN)/uv
# What is built from source (pyspark: 450 MB; tests need it) goes into a wheel that nobody keeps: it is not compressed.
export DIST_EXTRA_CONFIG := $(CURDIR)/requirements/wheels.cfg
# Install a lock of requirements/: by uv if it is there and succeeds, otherwise by pip.
install = { [ -x $(BIN)/uv ] && UV_CACHE_DIR=.venv/uv-cache-$(1) $(UV) pip install --quiet $(INDEX) --python $(BIN)/python \
	--no-build-isolation-package pyspark --require-hashes -r requirements/$(1).lock 2>.venv/uv.log || $(PIP) install --require-hashes --no-build-isolation -r requirements/$(1).lock; } \
	&& rm -rf .venv/uv-cache-$(1)
RESOLVE := build/lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-annotate --custom-compile-command "make lock"
# The tests start hundreds of processes. Each would compile kwalk's modules again if none of them kept the bytecode.
export PYTHONDONTWRITEBYTECODE :=
ARGS ?=
# Which loops `setup` compiles: --all for those of options too.
COMPILE ?=
# One worker more than cores, at most four: many tests wait for Spark or for another process.
WORKERS ?= $(shell cores=$$(nproc 2>/dev/null || echo 2); [ $$cores -lt 4 ] && echo $$((cores + 1)) || echo 4)
# What a real cluster looked like after a client older than 2.8 had added partitions; it still works.
SNAPSHOT ?= tests/captures/scenario-01-05-produce-consume.json

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' Makefile

setup: installed ## make .venv with the locked packages, the command .venv/bin/kwalk and compiled search loops
	@$(MAKE) --silent --no-print-directory $(LOOPS)

# What needs few loops, or none, need not wait for all.
installed:
	@$(BIN)/python -c 'import pip' 2>/dev/null && [ "$$(cat $(STAMP) 2>/dev/null)" = "$(CURDIR)" ] || rm -f $(STAMP)
	@$(MAKE) --silent --no-print-directory $(STAMP)

$(LOOPS): $(STAMP)
	@echo "Compiling the loops of the searches (a minute, once) ..."
	@$(BIN)/python -m kwalk.search.native.compile_all $(COMPILE)
	@touch $@

.venv/.hunt-has-loops: $(STAMP)
	@[ $(LOOPS) -nt $(STAMP) ] || { echo "Compiling the loops of this search (seconds, once) ..."; \
		$(BIN)/python -m kwalk.search.native.compile_all --hunt; }
	@touch $@

$(STAMP): requirements/run.lock requirements/build.lock requirements/install.lock pyproject.toml setup.py
	@[ -n "$(PYTHON)" ] || { echo "kwalk needs Python 3.11 or newer, and found none as python3." \
		"Install one, or name it: make PYTHON=/path/to/python3.12 setup" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; v = sys.version.split()[0]; sys.exit(sys.version_info < (3, 11) and \
		f"kwalk needs Python 3.11 or newer; $(PYTHON) is {v}. Name a newer one: make PYTHON=python3.12 setup")'
	@$(BIN)/python -m pip --version >/dev/null 2>&1 && [ "$$(cat .venv/.made-in)" = "$(CURDIR)" ] || { \
		[ ! -L .venv ] || { echo "Could not make .venv: it is a link, and what it leads to would be emptied. Remove it: rm .venv" >&2; exit 1; }; \
		echo "Making .venv with $(PYTHON) ..."; \
		$(PYTHON) -m venv --clear .venv || { echo "Could not make .venv." \
			"On Debian and Ubuntu install the package python3-venv; then run make again." >&2; exit 1; }; \
		printf '%s' "$(CURDIR)" > .venv/.made-in; }
	@echo "Installing the locked packages (a minute the first time) ..."
	@$(PIP) install --no-compile --require-hashes -r requirements/build.lock
	@$(PIP) install --no-compile --require-hashes -r requirements/install.lock 2>.venv/uv.log || true
	@$(MAKE) --silent --no-print-directory .venv/run.lock
	@said=$$($(PIP) install --no-deps --no-build-isolation --editable . 2>&1) || { echo "$$said" >&2; exit 1; }
	@$(BIN)/python -m compileall -q -j 0 kwalk model invariants search clusters reports
	@printf '%s' "$(CURDIR)" > $(STAMP)
	@echo "Ready: $(BIN)/kwalk"

# What targets for developers need beside kwalk: .venv/test.lock, .venv/lint.lock, .venv/docs.lock.
.venv/%.lock: requirements/%.lock
	@$(call install,$*)
	@cp requirements/$*.lock $@

wheel: setup ## build the wheel and the source archive in dist: minutes, in which the loops are compiled for it
	@rm -rf build/lib build/bdist.*
	@DIST_EXTRA_CONFIG= $(PIP) wheel --no-deps --no-build-isolation --wheel-dir dist .
	@$(BIN)/python -c 'from setuptools import build_meta; build_meta.build_sdist("dist")' >/dev/null

hunt: installed ## set up and run the main job: what awaits a real cluster (or SNAPSHOT=yours.json)
	@$(MAKE) --silent --no-print-directory .venv/.hunt-has-loops
	@$(BIN)/kwalk diagnose "$(SNAPSHOT)" --forecast --seconds 80 $(ARGS); code=$$?; \
	case $$code in 0|3|11|12|13|14) exit 0;; *) exit $$code;; esac

nightly-demo: setup ## a night of one minute on two cores: known bugs of Kafka, with a page
	@$(BIN)/kwalk nightly hunts/nightly-demo.toml --workers 2 $(ARGS); code=$$?; \
	case $$code in 0|3|11|12|13|14) exit 0;; *) exit $$code;; esac

test: setup .venv/test.lock ## set up and run the tests of every change (ARGS="-k name" for some of them)
	@$(BIN)/python -m kwalk.search.native.compile_all --all
	@$(BIN)/python -m pytest -p xdist --numprocesses $(WORKERS) --dist worksteal $(ARGS)

test-fast: setup .venv/test.lock ## the tests that need no Spark, no browser and no long search: 70 s on two cores
	@$(BIN)/python -m pytest -p xdist --numprocesses $(WORKERS) --dist worksteal -m "not spark and not slow and not thorough and not lab" tests $(ARGS)

test-all: setup .venv/test.lock .venv/docs.lock ## all tests: hours on two cores; killed, it goes on where it was (ARGS="tests/kafka" for some)
	@$(BIN)/python -m kwalk.search.native.compile_all --all
	@KWALK_LAB=1 $(BIN)/python -m pytest -p xdist --numprocesses $(WORKERS) --dist worksteal -m "thorough or not thorough" \
		--resume-in=build/test-all $(ARGS)

fuzz: setup .venv/test.lock ## kwalk beside an independent oracle on random models and snippets (ARGS="--models 20000 --workers 2")
	@$(BIN)/python -m tests.fuzz $(ARGS)

pins: setup .venv/test.lock ## compute the pinned outcomes of searches and mutants again: hours (ARGS="two-admins zombie" for some of them)
	@$(BIN)/python -m tests.kafka.pins $(ARGS)

lab: setup .venv/test.lock ## the tests on real brokers, with jars downloaded from Maven Central where they are missing: ten minutes
	@KWALK_LAB=1 $(BIN)/python -m pytest -m lab tests/lab tests/collect $(ARGS)

lab-experiments: setup ## all experiments of the lab on real brokers, with their evidence in build/lab: more than half an hour
	@$(BIN)/kwalk lab reproduce all --out build/lab $(ARGS)

lab-lock: setup ## resolve the jars of the lab with Maven and write their lock file
	@$(BIN)/python -m kwalk.clusters.lab.lock

pictures: setup ## take the pictures of pages in the documentation again, in Chromium
	@$(BIN)/python docs/page_pictures.py $(ARGS)

lint: installed .venv/lint.lock types ## ruff and mypy
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

# The package as it is installed, made of links: mypy and editors look for `kwalk.model` below `kwalk`.
types:
	@rm -rf .types && mkdir -p .types/kwalk && cd .types/kwalk \
		&& for part in ../../kwalk/*.py ../../kwalk/py.typed ../../model ../../invariants ../../search ../../clusters ../../reports; do \
			ln -s "$$part" .; done

docs: setup .venv/docs.lock ## build the documentation in build/docs; every warning is an error
	@$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -b html docs build/docs
	@echo "build/docs/index.html"

bench: setup .venv/test.lock ## kwalk beside other model checkers, in twenty minutes (ARGS="--works search --tools kwalk C" for less)
	@$(BIN)/python -m bench $(ARGS)

lock: ## resolve the dependencies again and write the lock files
	@$(PYTHON) -m venv build/lock && build/lock/bin/python -m pip install --quiet uv
	@$(RESOLVE) pyproject.toml --extra certificates --extra compile --output-file requirements/run.lock
	@for group in build install test lint docs; do \
		$(RESOLVE) $$([ $$group != test ] || echo pyproject.toml --extra spark) --group $$group --constraint requirements/run.lock \
			--output-file requirements/$$group.lock || exit 1; done

clean: ## remove what can be made again
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .types kwalk-out
