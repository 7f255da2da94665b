"""No text of a job file makes validation raise, or take long."""

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from engine.compile import Settings, compile_job
from tests.oracle import mangled_jobs

_SOURCE = 'source {{ FakeSource {{ plugin_output = "a", schema {{ fields {{ t = string, data = string }} }} }} }}\n{}'


def codes(tmp_path, text: str, suffix: str = ".conf") -> list[str]:
    path = tmp_path / f"job{suffix}"
    path.write_text(text)
    diagnostics = Diagnostics()
    compile_job(path, Settings(), diagnostics)
    return [diagnostic.code for diagnostic in diagnostics]


def test_mangled_jobs_neither_raise_nor_hang():
    assert list(mangled_jobs.failures(150)) == []


@pytest.mark.soak
def test_many_mangled_jobs_neither_raise_nor_hang():
    assert list(mangled_jobs.failures(50_000, seed=1_000)) == []


@pytest.mark.parametrize(
    "options",
    ['TableRoute { table_column = "t", tables_configs = [{ schema { table = "b" } }]', 'Filter { fields = ["t"]'],
)
def test_a_transform_of_one_table_needs_an_input(tmp_path, options):
    text = f'transform {{ {options}, plugin_output = "b", plugin_input = "" }} }}\nsink {{ Console {{}} }}\n'
    assert "PEN2013" in codes(tmp_path, _SOURCE.format(text))


@pytest.mark.parametrize("rule", ["LENGTH, min_length = Y2", "LENGTH, exact_length = 1.5", "RANGE, max_value = [1]"])
def test_a_limit_that_is_no_number(tmp_path, rule):
    validator = f"DataValidator {{ field_rules = [{{ field_name = t, rule_type = {rule} }}] }}"
    assert "PEN2004" in codes(tmp_path, _SOURCE.format(f"transform {{ {validator} }}\nsink {{ Console {{}} }}\n"))


@pytest.mark.parametrize("data", ["", ', data_column = "data"'])
def test_a_route_to_a_table_with_an_unknown_type(tmp_path, data):
    config = f'{{ schema {{ table = "b", fields {{ t = strin }} }}{data} }}'
    wiring = 'plugin_output = "b", plugin_input = "a"'
    route = f'TableRoute {{ {wiring}, table_column = "t"{data}, tables_configs = [{config}] }}'
    text = f"transform {{ {route} }}\nsink {{ Console {{}} }}\n"
    assert "PEN4001" in codes(tmp_path, _SOURCE.format(text))


def test_a_map_of_an_odd_number_of_values_in_a_script(tmp_path):
    script = (
        "CREATE VIEW v AS SELECT map([1], 2, 3) FROM a;\nCREATE TABLE a (id INT) WITH ('connector' = 'FakeSource');\n"
    )
    assert codes(tmp_path, script, ".sql")
