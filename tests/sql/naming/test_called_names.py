"""The names of calls: functions as Spark spells them, with their defaults."""

import pytest

from catalog.diagnostics.source import PlacedText
from sql.analyze import analyze
from sql.naming.called_names import SPECIAL
from sql.naming.function_names import DEFAULTS, RENAMED, SHOWN, UNITS
from tests.sql.analyzed import column


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("NVL(num, 1)", "nvl(num, 1)"),
        ("first(num) ignore nulls", "first(num)"),
        ("if(flag, 1, 2)", "(IF(flag, 1, 2))"),
        ("when(flag, 1)", "CASE WHEN flag THEN 1 END"),
        ("mode(num, true)", "mode() WITHIN GROUP (ORDER BY num DESC)"),
        ("int(txt)", "txt"),
        ("ltrim(txt)", "ltrim(txt)"),
        ("lpad(txt, 3)", "lpad(txt, 3,  )"),
    ],
)
def test_the_name(expression, name):
    assert column(expression).name == name


@pytest.mark.parametrize("name", sorted({*SPECIAL, *DEFAULTS, *RENAMED, *SHOWN, *UNITS}))
def test_any_count_of_arguments_has_a_name(name):
    """Also one that Spark refuses: names are made before the call is looked at."""
    for count in range(8):
        for call in (name, f"{name} "):
            analyze(PlacedText.bare(f"select {call}({', '.join(['1'] * count)})"), {})
