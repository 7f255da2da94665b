# Each target calls one tool in .venv, which .ci/venv makes (Python 3.10 or newer; Java 17 for whatever runs Spark).
.PHONY: demo test test-more lint check soak bench golden docs
.DELETE_ON_ERROR:  # an environment that is not whole is made again

demo: .venv/.demo  ## run the first example
	.venv/bin/penstock run examples/flights/flights.conf

test: .venv/.dev  ## all tests but the soak tests
	.venv/bin/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

test-more: .venv/.dev .venv-dbt/.dbt  ## tests that need an environment of their own: selections held against dbt-core
	.venv/bin/python -m pytest -q -m dbt

lint: .venv/.dev  ## style, format, types
	.venv/bin/ruff check && .venv/bin/ruff format --check && .venv/bin/mypy

check: lint  ## before a commit: lint, and every test without Spark, in two minutes
	.venv/bin/python -m pytest -q -n auto -m "not spark and not delta and not slow and not soak"

soak: .venv/.dev .venv-dbt/.dbt  ## long kill, fuzz and agreement runs
	-mvn -q dependency:get -Dtransitive=false -Dartifact=org.apache.spark:spark-sql_2.13:4.1.0:jar:tests
	PENSTOCK_TEST_KILLS=30 PENSTOCK_TEST_SELECTIONS=2000 .venv/bin/python -m pytest -m soak
	PENSTOCK_TEST_KILLS=30 .venv/bin/python -m pytest tests/connectors/test_kill.py tests/engine/runtime/test_tasks.py \
		tests/connectors/jdbc/test_paused_commit.py
	PENSTOCK_OWNERSHIP_SCHEDULES=500 PENSTOCK_EXPLORED_SWITCHES=1 .venv/bin/python -m pytest tests/ownership
	PENSTOCK_OWNERSHIP_DRIVERS=500 .venv/bin/python -m pytest tests/ownership/test_schedules.py
	PENSTOCK_TEST_MICRO_BATCHES=300 PENSTOCK_TEST_STREAM_KILLS=2 .venv/bin/python -m pytest \
		tests/engine/runtime/streaming/test_many_batches.py tests/engine/runtime/streaming/test_streams.py
	PENSTOCK_TEST_CAPTURED=1000000 PENSTOCK_TEST_CAPTURE_KILLS=30 .venv/bin/python -m pytest \
		tests/connectors/change_capture/test_killed_captures.py
	PENSTOCK_TEST_CHANGE_LOG=1000 .venv/bin/python -m pytest tests/connectors/kafka/test_change_targets.py
	PENSTOCK_TEST_NAMES=2000 PENSTOCK_TEST_MUTATIONS=2000 PENSTOCK_TEST_TEXTS=35000 PENSTOCK_TEST_ALL_VALUES=1 \
		.venv/bin/python -m pytest tests/security -m "not spark"
	PENSTOCK_TEST_WRITTEN_NAMES=2000 .venv/bin/python -m pytest tests/security/test_names_written.py -m spark
	PENSTOCK_TEST_CONTINUED_TABLES=50 .venv/bin/python -m pytest tests/engine/runtime/test_continue.py
	PENSTOCK_TEST_ACCELERATOR=comet .venv/bin/python -m pytest tests/test_examples.py tests/engine/runtime/test_run.py
	PENSTOCK_TEST_TABLES=100 .venv/bin/python -m pytest tests/connectors/jdbc/test_whole_database.py
	PENSTOCK_TEST_RESTARTS=all .venv/bin/python -m pytest tests/connectors/jdbc/test_restarted_server.py \
		tests/engine/runtime/test_merge_counts.py
	PENSTOCK_TEST_PAIRS=500 PENSTOCK_TEST_EDITS=1000 PENSTOCK_TEST_CACHE_EDITS=1000 \
		.venv/bin/python -m pytest tests/engine/spark/test_table_difference.py tests/engine/project/test_job_cache.py \
		tests/engine/plan/meaning/test_fingerprint.py

bench: .venv/.dev  ## measure against hand-written PySpark
	.venv/bin/python benchmarks/running/measure.py

golden: .venv/.dev  ## rewrite golden files; review the diff
	.venv/bin/python -m pytest tests/engine/plan tests/sql/test_query_cases.py tests/test_reference.py --update

docs: .venv/.dev  ## rewrite the generated pages, and build the site into .site
	.venv/bin/python -m pytest tests/test_reference.py --update && .venv/bin/python -m mkdocs build

.venv/.demo: pyproject.toml .ci/venv .ci/java
	.ci/java && .ci/venv demo

.venv/.dev: pyproject.toml .ci/dev .ci/venv .ci/java .ci/jars .ci/browser .ci/mariadb .ci/redis .ci/kafka .ci/opensearch .ci/classpath
	.ci/dev

.venv-dbt/.dbt: .ci/dbt
	.ci/dbt
