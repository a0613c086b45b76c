# `make check browser` is exactly what CI runs, in the present environment.
PYTHON ?= python

.PHONY: check test lint browser format bench

check: test lint

test:
	$(PYTHON) -m pytest

lint:
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .
	$(PYTHON) -m mypy
	$(PYTHON) -c "from importlinter.cli import lint_imports_command; lint_imports_command()"

browser: # needs Chromium
	$(PYTHON) -m pytest -m browser

format:
	$(PYTHON) -m ruff format .
	$(PYTHON) -m ruff check --fix .

bench:
	@for script in bench/*.py; do echo "== $$script"; $(PYTHON) $$script || exit 1; done
