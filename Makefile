# `make` alone prints what there is to make.

PYTHON ?= python3.11
BIN := .venv/bin
PIP_INSTALL := $(BIN)/python -m pip install --disable-pip-version-check --no-input
# More processes than a small machine has cores: those with servers mostly wait for them. Who runs what, and in
# which order: tests/conftest.py.
PYTEST_FLAGS ?= --numprocesses=5 --dist=loadfile --no-loadscope-reorder --durations=10
# Folders whose conftest.py starts what all processes share must be named.
TESTS := tests tests/service/elasticsearch tests/service/vllm
# Tests are selected by marks, which tests/needs.py explains.
SERVER_MARKS := needs_services or needs_page or needs_models
QUICK := not needs_services and not needs_page and not needs_models and not needs_libraries and not shared and not slow
LOCK_FLAGS ?=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install install-citing install-elasticsearch install-models install-hub install-parquet install-pdf install-plots install-server install-quick install-dev demo serve quick quick-checks test test-services test-page test-models test-others check format bench bench-server reference lock clean

help:  ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-22s %s\n", $$1, $$2}' Makefile

install: .venv/.installed  ## install the locked dependencies and the shrag command into .venv

install-citing: .venv/.installed-citing  ## the same with what formats references in citation styles

install-elasticsearch: .venv/.installed-elasticsearch  ## the same with the client of Elasticsearch

install-models: .venv/.installed-models  ## the same with what encodes texts in process (torch, some GB)

install-hub: .venv/.installed-hub  ## the same with what reads corpora of the Hugging Face hub

install-parquet: .venv/.installed-parquet  ## the same with what reads Parquet files

install-pdf: .venv/.installed-pdf  ## the same with what reads PDFs

install-plots: .venv/.installed-plots  ## the same with what draws plots (matplotlib)

install-server: .venv/.installed-server  ## the same with the server of the page and the API

install-quick: .venv/.installed-quick  ## the same with what `make quick` needs: no torch, no browser

install-dev: .venv/.installed-dev  ## the same with what the checks and tests need

demo: install  ## index the sample papers and ask a question in Korean and one in English
	$(BIN)/shrag demo
	@echo 'in this checkout: make serve'

serve: install-server  ## serve the page and the API on all indexes, that of `make demo` too
	$(BIN)/shrag serve

quick: quick-checks  ## run the checks and the tests that need no server, browser, torch or shared data
	$(BIN)/python -m pytest --numprocesses=auto --dist=loadfile --no-loadscope-reorder --durations=10 \
		-m '$(QUICK)' tests

quick-checks: install-quick
	$(CHECKS)

test: check  ## run the checks, then the tests
	$(BIN)/python -m pytest $(PYTEST_FLAGS) $(TESTS)

test-services: install-dev  ## run the tests with an Elasticsearch or a vLLM
	$(BIN)/python -m pytest $(PYTEST_FLAGS) -m needs_services tests/service/elasticsearch tests/service/vllm

test-page: install-dev  ## run the tests of the page in Chromium
	$(BIN)/python -m pytest $(PYTEST_FLAGS) -m needs_page tests/server/page

test-models: install-dev  ## run the tests with torch
	$(BIN)/python -m pytest $(PYTEST_FLAGS) -m 'needs_models and not needs_services' tests

test-others: install-dev  ## run the tests that no other target runs: slow ones, those with shared data
	$(BIN)/python -m pytest $(PYTEST_FLAGS) \
		-m '(needs_libraries or shared or slow) and not ($(SERVER_MARKS))' tests

define CHECKS
$(BIN)/ruff format --check .
$(BIN)/ruff check .
$(BIN)/mypy
$(BIN)/lint-imports
$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml
endef

check: install-dev  ## formatting, lint, types, import rule, the form of docker-compose.yml
	$(CHECKS)

format: install-quick  ## format the code and apply the fixes of the linter
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

reference: install-dev  ## write docs/reference/cli.md and settings.md from the code
	$(BIN)/python -m tests.reference

bench-server: install-server  ## measure the server: added latency, load limits, shutdown
	$(BIN)/python -m benchmarks.server

bench: install  ## measure the ten queries of a question on a million generated documents
	$(BIN)/python -m benchmarks.progressive

# Pins that still fit are kept; LOCK_FLAGS=--upgrade renews them all.
UV := uv==0.13.9
LOCK := pip compile pyproject.toml --group build --universal --python-version 3.11 --fork-strategy fewest \
	--only-binary :all: --generate-hashes --no-emit-index-url --no-emit-find-links \
	--custom-compile-command 'make lock' --quiet $(LOCK_FLAGS)

lock:  ## resolve the dependencies of pyproject.toml anew into requirements/
	@tools=$$(mktemp -d) && trap 'rm -rf "$$tools"' EXIT && \
	$(PYTHON) -m venv "$$tools" && \
	"$$tools/bin/python" -m pip install --quiet --disable-pip-version-check '$(UV)' && \
	"$$tools/bin/uv" $(LOCK) --output-file requirements/base.txt && \
	"$$tools/bin/uv" $(LOCK) --extra elasticsearch --constraints requirements/base.txt \
		--output-file requirements/elasticsearch.txt && \
	"$$tools/bin/uv" $(LOCK) --extra models --extra elasticsearch --constraints requirements/elasticsearch.txt \
		--output-file requirements/models.txt && \
	"$$tools/bin/uv" $(LOCK) --extra hub --constraints requirements/models.txt \
		--output-file requirements/hub.txt && \
	"$$tools/bin/uv" $(LOCK) --extra parquet --constraints requirements/hub.txt \
		--output-file requirements/parquet.txt && \
	"$$tools/bin/uv" $(LOCK) --extra pdf --constraints requirements/hub.txt \
		--output-file requirements/pdf.txt && \
	"$$tools/bin/uv" $(LOCK) --extra plots --constraints requirements/models.txt --constraints requirements/hub.txt \
		--output-file requirements/plots.txt && \
	"$$tools/bin/uv" $(LOCK) --extra server --constraints requirements/models.txt \
		--output-file requirements/server.txt && \
	"$$tools/bin/uv" $(LOCK) --extra citing --constraints requirements/server.txt \
		--output-file requirements/citing.txt && \
	"$$tools/bin/uv" $(LOCK) --extra quick --extra elasticsearch --extra pdf --extra server \
		--constraints requirements/elasticsearch.txt --constraints requirements/pdf.txt \
		--constraints requirements/server.txt --output-file requirements/quick.txt && \
	"$$tools/bin/uv" $(LOCK) --extra dev --extra quick --extra plots --extra elasticsearch --extra models --extra hub \
		--extra parquet --extra pdf --extra server --extra citing --constraints requirements/models.txt --constraints requirements/hub.txt \
		--constraints requirements/pdf.txt \
		--constraints requirements/server.txt --constraints requirements/plots.txt \
		--constraints requirements/quick.txt --output-file requirements/dev.txt

clean:  ## remove the environment and all caches
	rm -rf .venv .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/python:
	@{ $(PYTHON) -c 'import sys, ensurepip, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))'; } \
		>/dev/null 2>&1 || { \
		echo "SHRAG needs Python 3.11 or 3.12 with venv, and '$(PYTHON)' is not that or does not run:" \
			"install it (Debian, Ubuntu: python3.11-venv) or name another: make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv --clear .venv || { rm -rf .venv; exit 1; }

# The project goes in without build isolation, so that nothing comes in that is not locked.
.venv/.installed: requirements/base.txt pyproject.toml .venv/bin/python
	@echo 'The locked dependencies are installed into .venv. The first time this takes some minutes.'
	$(PIP_INSTALL) --require-hashes --only-binary=:all: -r requirements/base.txt
	$(PIP_INSTALL) --no-build-isolation --no-deps --editable .
	@touch $@

.venv/.installed-%: requirements/%.txt .venv/.installed
	$(PIP_INSTALL) --require-hashes --only-binary=:all: -r $<
	@touch $@
