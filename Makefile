# The verbs of this project. Each sets up what it needs; nothing is asked.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
QUESTION ?= 上海现在适合晨跑吗？另外 4783×926 等于多少？

.DEFAULT_GOAL := help
.PHONY: help demo test check live bench docs evals format clean

help: ## Show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

$(VENV)/.demo: pyproject.toml constraints.txt
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[llamacpp]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[all,dev]'
	@touch $@ $(VENV)/.demo

demo: $(VENV)/.demo ## Answer one question live with a model on this machine (fetches 1.1 GB once)
	@$(BIN)/glassloop model fetch
	@$(BIN)/glassloop ask "$(QUESTION)" --model llamacpp:qwen2.5-coder-1.5b --tools examples/city_guide.py

test: $(VENV)/.dev ## Run the whole test suite (no model needed)
	@$(BIN)/python -m pytest -q -m "not live"

check: $(VENV)/.dev ## Lint, format check and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyright

live: $(VENV)/.dev ## Drive the real small models (fetches them)
	@$(BIN)/glassloop model fetch smollm2-135m
	@$(BIN)/glassloop model fetch
	@$(BIN)/python -m pytest -q -m live tests/live

bench: $(VENV)/.dev ## Measure: ratios against something real, in one run
	@$(BIN)/python -m bench

evals: $(VENV)/.dev ## The reference tasks, live, with the embedded model
	@$(BIN)/python evals/reference.py

docs: $(VENV)/.dev ## Check the documents: links, examples, generated parts
	@$(BIN)/python docs/check.py

format: $(VENV)/.dev ## Format the code
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format .

clean: ## Remove the environment and caches
	@rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis build dist
