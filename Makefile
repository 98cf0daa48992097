# What people type. Python lives in .venv, the page's tools in web/node_modules; nothing else is touched, except that
# root on a Debian gets the missing programs from apt. A second run finds the stamps and is quick.

PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH):/usr/games

PIP_INSTALL := $(BIN)/pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt
INSTALLED := .venv/.installed
DEVELOPING := .venv/.developing
NODE_MODULES := web/node_modules/.package-lock.json
NODE_DEVELOPING := web/node_modules/.developing
PAGE := src/diffusearch/play/assets/index.html
PAGE_SOURCES := $(shell find web -path web/node_modules -prune -o -type f -print)
STATIC_PAGE := build/static/index.html
NETWORK := $(wildcard src/diffusearch/weights/diffusearch/*)

PLAY_PROGRAMS := node npm stockfish
TEST_PROGRAMS := $(PLAY_PROGRAMS) chromium xboard polyglot xvfb-run gnuchess toga2 glaurung

.PHONY: help setup play demo static test test-fast lint bench soak tree readme clean

help:
	@echo 'make play    play on a page in the browser'
	@echo 'make demo    a puzzle in the terminal: the move, and the drafts that the network reads'
	@echo 'make static  the page that needs no server, in build/static'
	@echo 'make setup   everything for development, in .venv'
	@echo 'make test    lint, types and all tests'
	@echo 'make test-fast  lint, types and the tests without browser, training runs and engine matches'
	@echo 'make lint    ruff and mypy alone'
	@echo 'make bench   the speed comparisons'
	@echo 'make soak    an hour of games, UCI lines, kills and requests; SCALE=0.01 is a quick look'
	@echo 'make tree    docs/TREE.md anew, after files came or went'
	@echo 'make readme  what README.md says that commands print, anew, after new weights'
	@echo 'make clean   remove .venv, the built page and caches'

setup: test-programs $(DEVELOPING) $(NODE_DEVELOPING) $(PAGE)

# What playing needs, without torch; `make setup` puts training and developers' tools on top of it.
$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo '$(PYTHON) is older than 3.11; name a newer one: make PYTHON=python3.12 ...' >&2; exit 2; }
	test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	$(PIP_INSTALL) -e .
	@touch $@

$(DEVELOPING): $(INSTALLED)
	$(PIP_INSTALL) -e '.[dev]'
	@touch $@

# npm writes this file at the end of an installation; touched because it may be older than the lock file.
# Who plays needs no packages of the static page and of the tests (130 MB); where they are, they stay.
$(NODE_MODULES): web/package.json web/package-lock.json
	cd web && npm ci --no-audit --no-fund $$(test -e node_modules/.developing || echo --omit=dev)
	@touch $@

$(NODE_DEVELOPING): web/package.json web/package-lock.json
	cd web && npm ci --no-audit --no-fund
	@touch $(NODE_MODULES) $@

$(PAGE): $(NODE_MODULES) $(PAGE_SOURCES)
	cd web && npm run --silent build

$(STATIC_PAGE): $(NODE_DEVELOPING) $(PAGE_SOURCES) $(NETWORK)
	cd web && npm run --silent build:static

static: $(STATIC_PAGE)

.PHONY: play-programs test-programs
play-programs:
	@tools/programs $(PLAY_PROGRAMS)
test-programs:
	@tools/programs $(TEST_PROGRAMS)
$(NODE_MODULES) $(NODE_DEVELOPING): | play-programs

play: play-programs $(INSTALLED) $(PAGE)
	diffusearch play

demo: $(INSTALLED)
	diffusearch demo

lint: $(DEVELOPING)
	ruff check .
	ruff format --check .
	mypy

# One test process a core, each with one thread: two of them on two cores finish in half the time. pytest-xdist hands
# out whole files, so that what a file prepares is prepared once.
PYTEST := OMP_NUM_THREADS=1 pytest -n $$(getconf _NPROCESSORS_ONLN) --dist loadfile

test: setup static lint
	$(PYTEST)

test-fast: $(DEVELOPING) lint
	$(PYTEST) -m 'not slow and not browser and not engine'

bench: setup
	pytest -s benchmarks
	set -e; for script in benchmarks/*_speed.py; do python $$script; done

# Before a release. It may be stopped and goes on; the full one writes docs/soak.md.
SCALE ?= 1
soak: setup
	PYTHONPATH=benchmarks OMP_NUM_THREADS=1 python -m soak --scale $(SCALE)

# docs/TREE.md anew, after files came or went.
tree: $(INSTALLED)
	python tools/paths.py
	python tools/tree.py

# What the commands of README.md print, anew, after new weights.
readme: $(DEVELOPING)
	python tools/readme.py

clean:
	rm -rf .venv web/node_modules src/diffusearch/play/assets build dist .pytest_cache .mypy_cache .ruff_cache
