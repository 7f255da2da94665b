"""`--compat seatunnel-3`: where SeaTunnel 3.x differs from its 2.3 line."""

import pytest

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics
from engine.cli import main
from engine.compile import Settings, compile_job

SOURCE = "source { FakeSource { schema { table = shop.people, fields { id = int, born = date } } } }"
WEEK = 'transform { Sql { query = "select week(born) as w from people" } }'
VALIDATOR = """transform { DataValidator { plugin_output = valid, row_error_handle_way = ROUTE_TO_TABLE
  row_error_handle_way.error_table = errors, field_rules = [{ field_name = id, rule_type = NOT_NULL }] } }"""


def compiled(tmp_path, text, line):
    path = tmp_path / "job.conf"
    path.write_text(text)
    diagnostics = Diagnostics()
    job = compile_job(path, Settings(compat=Compat.SEATUNNEL_3 if line == 3 else Compat.SEATUNNEL_2), diagnostics)
    return job, [each.message for each in diagnostics if each.severity.value == "error"]


@pytest.mark.parametrize(("compat", "shown"), [("seatunnel", "DIV 7"), ("seatunnel-3", "weekofyear")])
def test_the_flag_chooses_the_sql(tmp_path, capsys, compat, shown):
    path = tmp_path / "job.conf"
    path.write_text(f"{SOURCE}\n{WEEK}\nsink {{ Console {{ }} }}")
    assert main(["explain", "--compat", compat, str(path)]) == 0
    assert shown in capsys.readouterr().out


def test_a_job_may_choose_the_sql_alone(tmp_path, capsys):
    path = tmp_path / "job.conf"
    path.write_text(f"env {{ sql.dialect = seatunnel-3 }}\n{SOURCE}\n{WEEK}\nsink {{ Console {{ }} }}")
    assert main(["explain", str(path)]) == 0
    assert "weekofyear" in capsys.readouterr().out


@pytest.mark.parametrize(("line", "path"), [(2, "errors"), (3, "shop.errors")])
def test_the_table_of_errors_is_in_the_database_of_the_input(tmp_path, line, path):
    job, errors = compiled(tmp_path, f"{SOURCE}\n{VALIDATOR}\nsink {{ Console {{ plugin_input = valid }} }}", line)
    assert errors == []
    assert path in {str(node.table.path) for node in job.built.nodes()}


def test_the_type_of_a_sink_is_accepted_with_a_warning(tmp_path, capsys):
    path = tmp_path / "job.conf"
    block = 'DefineSinkType { columns = [{ column = id, type = "number(10)" }] }'
    path.write_text(f"{SOURCE}\ntransform {{ {block} }}\nsink {{ Console {{ }} }}")
    assert main(["validate", "--compat", "seatunnel", str(path)]) == 0
    assert "`DefineSinkType` has no effect" in capsys.readouterr().out
    path.write_text(f"{SOURCE}\ntransform {{ {block.replace('= id', '= ids')} }}\nsink {{ Console {{ }} }}")
    assert main(["validate", "--compat", "seatunnel", str(path)]) == 2
