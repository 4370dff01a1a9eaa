# Everything starts here; `make help` lists it. Environments are made on first use.
PYTHON ?= python3
BIN := .venv/bin
ROOT ?= corpora
CORPUS ?= sample
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
# An environment with the datatrove to compare with; PEER=<folder> names one that is there.
PEER ?= .venv-datatrove
export PEER

.PHONY: help corpus filter-report ui test test-long check format lint types imports parity pii-eval bench constraints \
  sample clean

# The instance described by dagster.yaml, with its history under .dagster/.
corpus ui: export DAGSTER_HOME := $(CURDIR)

##@ Use it
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

corpus: .venv/run ## Build the sample corpus under corpora/ and print its totals
	$(BIN)/corpus-assets build corpus_assets/defs/sample/defs.yaml --root $(ROOT)

filter-report: .venv/run ## Show what other thresholds of the recipe would drop (CORPUS=name)
	$(BIN)/corpus-assets filter-report $(ROOT)/$(CORPUS)

ui: .venv/run ## Open the Dagster UI on http://localhost:3000, history under .dagster/
	$(BIN)/dagster dev

##@ Work on it
test: .venv/dev ## Run the test suite (needs Chromium and PostgreSQL, see CONTRIBUTING.md)
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not slow" --cov --cov-report=term

test-long: .venv/dev ## Run the long forms: more kills, more random examples
	CORPUS_ASSETS_KILLS=30 $(BIN)/python -m pytest -q -m slow --timeout=3000

check: format lint types imports test ## All that CI runs

format: .venv/dev ## Check the formatting (ruff format . mends it)
	$(BIN)/ruff format --check .

lint: .venv/dev ## Check the style
	$(BIN)/ruff check .

types: .venv/dev ## Check the types
	$(BIN)/pyright

imports: .venv/dev ## Check that imports follow the layers
	$(BIN)/lint-imports

pii-eval: .venv/dev ## Score the detectors of personal data on the labelled lines
	$(BIN)/python -m corpus_assets.pii corpus_assets_tests/pii/cases.jsonl

parity: .venv/dev $(PEER)/bin/spacy ## Compare with datatrove, file by file (needs Debian, an hour)
	$(BIN)/python -m bench.minhash
	$(BIN)/python -m bench.filters_parity
	$(BIN)/python -m bench.filters_lang_url_parity

bench: .venv/dev $(PEER)/bin/spacy ## Measure the figures of the docs on this machine (an hour)
	$(BIN)/python -m bench
	$(BIN)/python -m bench.minhash --growth 50000
	$(BIN)/python -m bench.filters_speed
	$(BIN)/python -m bench.filters_lang_url
	$(BIN)/python -m bench.pii_speed

##@ Keep it
constraints: .venv/dev ## Write constraints.txt from what is installed
	(sed -n '/^#/p' constraints.txt; $(BIN)/pip freeze --exclude-editable) > constraints.next
	mv constraints.next constraints.txt

sample: .venv/dev ## Make examples/sample again from Debian's packages
	$(BIN)/python examples/make_sample.py

clean: ## Remove the environment and what was built
	rm -rf .venv .venv-datatrove $(ROOT) .dagster .tmp_dagster_home_*

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' || \
	  { echo "corpus_assets needs Python 3.11 to 3.13; name one with PYTHON=..."; exit 1; }
	$(PYTHON) -m venv .venv || \
	  { rm -rf .venv; echo "on Debian and Ubuntu: apt-get install python3-venv"; exit 1; }

.venv/run: .venv/bin/python constraints.txt pyproject.toml
	$(BIN)/pip install -q -c constraints.txt -e '.[ui,recipes]'
	@touch $@

.venv/dev: .venv/bin/python constraints.txt pyproject.toml
	$(BIN)/pip install -q -c constraints.txt -e '.[ui,postgres,recipes,dev]'
	@touch $@

$(PEER)/bin/spacy:
	$(PYTHON) -m venv $(PEER)
	$(PEER)/bin/pip install -q 'datatrove[io,processing]==0.10.1' spacy==3.8.18
