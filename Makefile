# The verbs of this project. Each sets up what it needs in .venv; nothing is asked, nothing outside is changed.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
MODEL  ?= llamacpp:qwen2.5-coder-1.5b
QUESTION ?= 上海现在适合晨跑吗？另外 4783×926 等于多少？
INSTALL := -m pip install --quiet --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test check live bench evals docs format pins clean

help: ## Show this list
	@printf '\n  \033[1mglassloop\033[0m  a ReAct agent you can see through\n\n'
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  \033[36mmake %-7s\033[0m %s\n", $$1, $$2}'
	@printf '\n'

$(VENV)/.demo: pyproject.toml constraints.txt
	@printf 'Setting up %s for the demo …\n' $(VENV)
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python $(INSTALL) -e '.[llamacpp]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt
	@printf 'Setting up %s with everything the tests need …\n' $(VENV)
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python $(INSTALL) -e '.[all,dev]'
	@touch $(VENV)/.demo $@

demo: $(VENV)/.demo ## Answer one question live, with a model on this machine (fetches 1.1 GB once)
	@$(BIN)/glassloop model fetch
	@$(BIN)/glassloop ask "$(QUESTION)" --model $(MODEL) --temperature 0 --tools examples/city_guide.py

test: $(VENV)/.dev ## Run the whole test suite; no model needed
	@$(BIN)/python -m pytest -q -m "not live"

check: $(VENV)/.dev ## Lint, formatting and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyright --pythonpath $(BIN)/python

live: $(VENV)/.dev ## Drive the real small models, then the golden cases against their baseline
	@$(BIN)/glassloop model fetch smollm2-135m
	@$(BIN)/glassloop model fetch
	@$(BIN)/python -m pytest -q -m live tests/live
	@$(BIN)/glassloop eval evals/cases --model $(MODEL) --baseline evals/baseline.json --max-drop 10

bench: $(VENV)/.dev ## Measure the library's own costs, in one table
	@$(BIN)/python -m bench

evals: $(VENV)/.dev ## The reference tasks, live, with the embedded model
	@$(BIN)/glassloop model fetch
	@$(BIN)/python evals/reference.py --model $(MODEL)

docs: $(VENV)/.dev ## Write the reference; check links, examples and command help in the documents
	@$(BIN)/python docs/make_reference.py
	@$(BIN)/python docs/check.py

format: $(VENV)/.dev ## Format the code
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format .

pins: ## Write constraints.txt anew (needs python3.10 to python3.13)
	@$(PYTHON) .ci/pins.py python3.10 python3.11 python3.12 python3.13

clean: ## Remove the environment, caches and built files
	@rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis build dist
