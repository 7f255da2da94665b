# Each target is one tool in .venv, which .ci/venv makes (needs Python 3.10 or newer; Java 17 for what runs Spark).
.PHONY: demo test lint bench golden

demo: .venv/.demo
	.venv/bin/penstock run examples/flights/flights.conf

test: .venv/.dev
	.venv/bin/python -m pytest

lint: .venv/.dev
	.venv/bin/ruff check && .venv/bin/ruff format --check && .venv/bin/mypy

bench: .venv/.dev
	.venv/bin/python benchmarks/running/measure.py

golden: .venv/.dev
	.venv/bin/python -m pytest tests/plans tests/test_reference.py --update

.venv/.demo: pyproject.toml .ci/venv .ci/java
	.ci/java && .ci/venv demo

.venv/.dev: pyproject.toml .ci/venv .ci/java .ci/jars .ci/browser .ci/mariadb
	.ci/java && .ci/venv dev && .ci/jars && .ci/browser && .ci/mariadb
