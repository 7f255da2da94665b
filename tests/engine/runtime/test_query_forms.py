"""Forms of queries whose rows need more than Spark's SQL: strings with collations, scripts."""

import json

import pytest

from engine.cli import main

pytestmark = pytest.mark.spark

JOB = """
SET 'job.name' = 'forms';
CREATE TABLE words (id BIGINT, word STRING COLLATE UTF8_LCASE) WITH (
  'connector' = 'LocalFile', 'path' = '{folder}/words.csv', 'file_format_type' = 'csv', 'csv_use_header_line' = 'true');
CREATE TABLE found WITH ('connector' = 'LocalFile', 'path' = '{folder}/found', 'file_format_type' = 'orc');
CREATE TABLE shouted WITH ('connector' = 'LocalFile', 'path' = '{folder}/shouted', 'file_format_type' = 'json');
INSERT INTO found SELECT word, array(word, word COLLATE UNICODE) AS both, id FROM words WHERE word = 'AA';
INSERT INTO shouted SELECT TRANSFORM (id, word) USING 'tr a-z A-Z' AS (id INT, word STRING) FROM words WHERE id > 1;
"""


def test_a_collation_compares_and_is_not_written_and_a_script_runs(spark, tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / "words.csv").write_text("id,word\n1,Aa\n2,aa\n3,b\n")
    job = tmp_path / "job.sql"
    job.write_text(JOB.format(folder=tmp_path))
    assert main(["validate", str(job)]) == 0
    assert main(["run", str(job)]) == 0
    found = spark.read.orc(str(tmp_path / "found"))
    assert found.dtypes == [("word", "string"), ("both", "array<string>"), ("id", "bigint")]
    assert sorted(found.collect()) == [("Aa", ["Aa", "Aa"], 1), ("aa", ["aa", "aa"], 2)]
    lines = [line for path in (tmp_path / "shouted").glob("*.json") for line in path.read_text().splitlines()]
    assert sorted(json.loads(line)["word"] for line in lines) == ["AA", "B"]
