"""Deep chains of queries run, and what Java cannot survive is named and not retried."""

from types import SimpleNamespace

import pytest

from engine.spark.failures.fatal_errors import fatal_error

pytest.importorskip("pyspark")

DEPTH = 150


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("x\njava.lang.StackOverflowError\n\tat a.b", "PEN5901", "too deep for Java's stack (in `n`)"),
        ("java.lang.OutOfMemoryError: Java heap space\n\tat", "PEN5902", "ran out of memory: Java heap space (in `n`)"),
        ("java.lang.NoClassDefFoundError: org/x/Y\n", "PEN9003", "does not find the class org.x.Y (in `n`)"),
    ],
)
def test_what_java_cannot_survive_is_named(text, code, said):
    from engine.runtime.transient import is_transient

    error = fatal_error(text, SimpleNamespace(name="n", span=None))
    (diagnostic,) = error.diagnostics
    assert (diagnostic.code, said in diagnostic.message, diagnostic.help is not None) == (code, True, True)
    error.__cause__ = RuntimeError(text)
    assert not is_transient(error)


def test_other_errors_are_left_to_others():
    assert fatal_error("org.apache.spark.SparkException: Job aborted", SimpleNamespace(name="n", span=None)) is None


@pytest.mark.spark
def test_a_long_chain_of_queries_runs(tmp_path):
    """In an application of its own: Java's stack is chosen as it starts."""
    import os
    import subprocess
    import sys

    steps = [
        f'Sql {{ plugin_input = t{n}, plugin_output = t{n + 1}, query = "select id + 1 as id from t{n} where id > 0" }}'
        for n in range(DEPTH)
    ]
    rows = "[{ kind = INSERT, fields = [1] }, { kind = INSERT, fields = [2] }]"
    source = f"FakeSource {{ plugin_output = t0, rows = {rows}, schema {{ fields {{ id = bigint }} }} }}"
    sink = f'LocalFile {{ plugin_input = t{DEPTH}, path = "out", file_format_type = json }}'
    job = f"source {{ {source} }}\ntransform {{\n" + "\n".join(steps) + f"\n}}\nsink {{ {sink} }}\n"
    (tmp_path / "chain.conf").write_text(job)
    done = subprocess.run(
        [sys.executable, "-m", "engine.cli", "run", "chain.conf"], cwd=tmp_path, env=dict(os.environ),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 rows written" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("requirement failed: Decimal precision 50 exceeds max", "Decimal precision 50 exceeds max"),
        ("requirement failed", "Spark refuses an argument, and does not say which"),
        (
            "CHECK constraint c (id < 9) violated by row with values:\n - id : 77",
            "CHECK constraint c (id < 9) violated",
        ),
    ],
)
def test_messages_without_meaning_and_values_of_rows_are_not_shown(text, message):
    from engine.spark.failures.error_causes import message_and_remedy

    said = message_and_remedy(text)[0]
    assert said.startswith(message)
    assert "77" not in said
