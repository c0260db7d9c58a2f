PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
STARS := '***********************************************************************'
NO_BROWSER := $(STARS) \
  '***  THE BROWSER TESTS WERE NOT RUN: there is no chromium here, and' \
  '***  it could not be installed. As root on Debian: apt-get install chromium' $(STARS)

.PHONY: run test chromium lint types rooms unit bench clean

run: $(READY)
	$(BIN)/crewlearn reproduce
	$(BIN)/crewlearn reproduce --all

test: lint types rooms unit
	@command -v chromium > /dev/null || { printf '%s\n' '' $(NO_BROWSER); [ -z "$$CREWLEARN_REQUIRE_BROWSER" ]; }

chromium:
	@.ci/chromium

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

rooms: $(READY)
	$(BIN)/lint-imports

unit: $(READY) chromium
	$(BIN)/pytest

bench: $(READY)
	$(BIN)/python bench/engine.py
	$(BIN)/python bench/planning.py
	$(BIN)/python bench/advisor.py
	PYTHONPATH=tests $(BIN)/python bench/web.py

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache build reports
