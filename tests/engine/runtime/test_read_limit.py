"""`read_limit`: a source is read no faster than it says, over all its tasks."""

import time

import pytest

from engine.cli import main

JOB = """
env {{ parallelism = 2, {limit} }}
source {{ FakeSource {{ plugin_output = "fake", row.num = 200, split.num = 4
  schema {{ fields {{ id = bigint, name = string, tags = "array<string>" }} }} }} }}
sink {{ LocalFile {{ path = "{out}", file_format_type = "parquet" }} }}
"""


@pytest.fixture
def job(tmp_path):
    def write(limit):
        path = tmp_path / "job.conf"
        path.write_text(JOB.format(limit=limit, out=tmp_path / "out"))
        return str(path)

    return write


def test_explain_names_the_limits(job, capsys):
    limits = "read_limit.rows_per_second = 1000, read_limit { bytes_per_second = 7000000 }"
    assert main(["explain", job(limits)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("each source is read at no more than 1,000 rows and 7,000,000 bytes a second\n")


def test_a_limit_of_nothing_is_refused(job, capsys):
    assert main(["validate", job("read_limit.rows_per_second = 0")]) == 2
    assert "read_limit.rows_per_second" in capsys.readouterr().out


@pytest.mark.spark
@pytest.mark.parametrize("limit", ["rows_per_second = 100", "bytes_per_second = 4000"])
def test_a_limited_source_gives_all_its_rows_and_takes_its_time(spark, tmp_path, job, limit):
    started = time.monotonic()
    assert main(["run", job(f"read_limit.{limit}")]) == 0
    assert time.monotonic() - started > 1.5  # 200 rows, and 20 bytes a row at least
    assert spark.read.parquet(str(tmp_path / "out")).count() == 200
