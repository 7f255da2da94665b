"""What SeaTunnel's job files may hold beside what Penstock's may."""

from engine.cli import main

JOB = """
env {{ execution.parallelism = 1, job.mode = "BATCH", execution.checkpoint.interval = 10000
  read_limit.rows_per_second = 10, read_limit {{ bytes_per_second = 7000000 }} {more} }}
source {{ FakeSource {{ result_table_name = "fake", unknown_option = 1
  schema {{ fields {{ id = "int", name = "string" }} }} }} }}
transform {{ Sql {{ source_table_name = "fake", result_table_name = "out", query = "{query}" }} }}
sink {{ Console {{ source_table_name = "out" }} }}
"""


def validated(tmp_path, capsys, *arguments, query="select trim(name, '*') as n from dual", more=""):
    job = tmp_path / "job.conf"
    job.write_text(JOB.format(query=query, more=more))
    code = main([*arguments, str(job)])
    return code, capsys.readouterr()


def test_unknown_options_are_warnings_under_the_flag(tmp_path, capsys):
    code, shown = validated(tmp_path, capsys, "validate", "--compat", "seatunnel")
    assert code == 0
    assert "warning[PEN2003]: FakeSource has no option `unknown_option`" in shown.out
    assert "`env` has no option" not in shown.out


def test_and_errors_without_it(tmp_path, capsys):
    code, _ = validated(tmp_path, capsys, "validate")
    assert code == 2


def test_the_dialect_may_be_chosen_alone(tmp_path, capsys):
    query = "select insert(name, 1, 1, 'x') as n from dual"
    assert validated(tmp_path, capsys, "validate", "--compat", "seatunnel", query=query)[0] == 0
    more = ", sql.dialect = spark"
    code, shown = validated(tmp_path, capsys, "validate", "--compat", "seatunnel", query=query, more=more)
    assert code == 2, shown.out


def test_run_check_runs_nothing(tmp_path, capsys):
    code, shown = validated(tmp_path, capsys, "run", "--check", "--compat", "seatunnel")
    assert code == 0
    assert "checked 1 job: no error found" in shown.out


def test_an_error_points_into_the_query_as_written(tmp_path, capsys):
    query = "select trim(nam, '*') as n from dual"
    code, shown = validated(tmp_path, capsys, "validate", "--compat", "seatunnel", query=query)
    assert code == 2
    assert "column `nam` does not exist" in shown.out
    assert "job.conf:6:" in shown.out


def test_without_the_flag_a_function_of_theirs_is_noted(tmp_path, capsys):
    more = ", sql.dialect = spark"
    _, shown = validated(tmp_path, capsys, "validate", "--compat", "seatunnel", more=more)
    assert "the job looks like Apache SeaTunnel's, whose `trim` is not Spark's" in shown.out
    _, shown = validated(tmp_path, capsys, "validate", "--compat", "seatunnel")
    assert "looks like" not in shown.out
