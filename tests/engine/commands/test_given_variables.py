"""Variables of the command line that no job uses, or that are given twice, are errors."""

from engine.cli import main

JOB = """
CREATE TABLE s (id INT) WITH ('connector' = 'FakeSource', 'row.num' = '${count:1}');
CREATE TABLE o WITH ('connector' = 'Console');
INSERT INTO o SELECT id FROM s;
"""


def test_a_misspelt_variable_is_an_error_though_the_job_has_a_default(tmp_path, capsys):
    job = tmp_path / "job.sql"
    job.write_text(JOB)
    assert main(["validate", str(job), "-i", "cuont=3"]) == 2
    shown = capsys.readouterr().err
    assert "error[PEN1501]: no job uses the variable `cuont`" in shown
    assert "did you mean `count`?" in shown
    assert main(["validate", str(job), "-i", "count=3"]) == 0


def test_a_repeated_variable_is_an_error(tmp_path, capsys):
    job = tmp_path / "job.sql"
    job.write_text(JOB)
    assert main(["validate", str(job), "-i", "count=3", "-i", "count=4"]) == 2
    assert "error[PEN1502]: the variable `count` is given 2 times" in capsys.readouterr().err


def test_a_variable_of_one_of_several_jobs_or_of_an_included_file_is_used(tmp_path):
    (tmp_path / "job.sql").write_text(JOB)
    (tmp_path / "_common.conf").write_text('job.name = "${title:daily}"\n')
    (tmp_path / "job.conf").write_text(
        'env { include "_common.conf" }\nsource { FakeSource { row.num = 1, schema { fields { id = int } } } }\n'
        "sink { Console {} }\n"
    )
    assert main(["validate", str(tmp_path), "-i", "count=3", "-i", "title=x"]) == 0


def test_in_a_project_a_variable_that_another_job_uses_is_used(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs").mkdir()
    (tmp_path / "penstock.conf").write_text('name = "shop"\njobs = ["jobs"]\n')
    (tmp_path / "jobs" / "orders.sql").write_text(JOB)
    (tmp_path / "jobs" / "other.sql").write_text(JOB.replace("${count:1}", "1"))
    for command in ("validate", "explain", "state"):
        assert main([command, "jobs/other.sql", "-i", "count=3"]) == 0, capsys.readouterr().err
    assert main(["validate", "jobs/other.sql", "-i", "cuont=3"]) == 2
