"""A table, column or partition that is called as a hostile source likes ends under its target, or is refused by name.

All options of all sinks that are installed are tried, so that a new one is covered.
"""

import os
import posixpath

import pytest

import connectors
from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Options, OptionType
from catalog.outside import Fill, Outside, UnfitError, fill
from catalog.quoting import parse_name
from catalog.tables.table import CatalogTable, Column, PrimaryKey, TablePath, TableSchema
from catalog.types.datatypes import STRING
from connectors.files.formats.write_files import _directories
from connectors.jdbc.table_names import parse_table_name
from connectors.jdbc.writing.sql_text import split_statements
from connectors.paimon.table_address import _NAME as PAIMON_NAME
from engine.plan.building.filled_options import filled
from tests.security.hostile_names import NAMES, random_names

COUNT = int(os.environ.get("PENSTOCK_TEST_NAMES", "100"))
"""2,000 in `make soak`."""
ALL_NAMES = (*NAMES, *random_names(COUNT, seed=28))
PLACEHOLDERS = (
    "database_name", "schema_name", "table_name", "schema_full_name", "table_full_name", "primary_key", "unique_key",
    "field_names", "partition_keys", "comment",
)  # fmt: skip
SINKS = connectors.sink_names()


def table_called(name: str) -> CatalogTable:
    columns = (Column(name, STRING), Column("id", STRING))
    schema = TableSchema(columns, PrimaryKey((name,)))
    return CatalogTable(TablePath(name, name, name), schema, partition_keys=(name,), comment=name)


def check(kind: Fill, value: str, name: str) -> None:
    """What was filled into `in/${table_name}`, or in the form of the kind, is that name and nothing else."""
    match kind:
        case Fill.PATH:
            assert posixpath.normpath(value) == f"in/{name}", value
        case Fill.TABLE:
            assert parse_table_name(value) == ("in", name)
        case Fill.SPARK_TABLE | Fill.FOLDER_TABLE:
            assert parse_name(value) == ("in", name)
            assert "${" not in value or kind is Fill.FOLDER_TABLE
        case Fill.FOLDER_NAME:
            found = PAIMON_NAME.fullmatch(value)
            assert found is None or (found["database"], found["table"]) == ("in", name)
            assert value.rpartition(".")[::2] == ("in", name)
        case Fill.NAME:
            assert value == f"in.{name}"
        case Fill.INDEX | Fill.KEY:
            assert value == f"in.{name}"
            assert not set(name) & set("{}$")
        case Fill.COLLECTION:
            assert value == f"in.{name}"
            assert "$" not in value
            assert not value.endswith(".")
        case Fill.TOPIC:
            assert value == f"in.{name}"
            assert name.replace(".", "").replace("_", "").replace("-", "").isalnum() or not name.strip("._-")
        case Fill.SQL:
            assert value == f"in.{name}"
            assert name.isidentifier() or name.replace("_", "a").isalnum()
        case Fill.PLAIN:
            assert value == f"in.{name}"
            assert all(char.isalnum() or char in "_-" for char in name)
            assert "--" not in name


@pytest.mark.parametrize("sink", SINKS)
def test_no_option_of_a_sink_takes_a_name_for_more_than_a_name(sink):
    tried = set()
    for option in connectors.sink(sink).offered_options():
        is_first = (option.fill, option.type) not in tried
        tried.add((option.fill, option.type))
        template = "in/${table_name}" if option.fill is Fill.PATH else "in.${table_name}"
        shapes = {OptionType.MAP: {"k": {"inner": template}}, OptionType.LIST: [template]}
        for name in ALL_NAMES if is_first else NAMES[::8]:
            diagnostics = Diagnostics()
            value = shapes.get(option.type, template)
            options = filled(Options({option.name: value}), (option,), table_called(name), diagnostics)
            if options is None:
                assert [item.code for item in diagnostics] == ["PEN4601"]
                assert option.name in diagnostics.items[0].message
                continue
            value = options[option.name]
            value = value["k"]["inner"] if isinstance(value, dict) else value[0] if isinstance(value, list) else value
            check(option.fill, value, name)


@pytest.mark.parametrize("sink", SINKS)
@pytest.mark.parametrize("placeholder", PLACEHOLDERS)
def test_every_placeholder_is_encoded_or_refused(sink, placeholder):
    """Also those of which the ordinary names are made, alone in the option and beside others."""
    texts = [option for option in connectors.sink(sink).offered_options() if option.type is OptionType.STRING]
    for option in {option.fill: option for option in texts}.values():
        for name in NAMES:
            for template in (f"${{{placeholder}}}", f"x${{{placeholder}}}${{table_name}}y"):
                options = filled(Options({option.name: template}), (option,), table_called(name), Diagnostics())
                value = str(options[option.name]) if options else ""
                if option.fill is Fill.PATH:
                    assert not posixpath.normpath(value).startswith(("..", "/")), (template, name)
                    assert len([part for part in value.split("/") if part]) <= 1
                if option.fill is Fill.PLAIN:
                    assert not set(value) & set("'\"`;/\\$(){}<>|&*?[]\n\r\x00 ")


def test_a_list_that_is_a_placeholder_has_the_names_as_they_are():
    (keys,) = [option for option in connectors.sink("Jdbc").offered_options() if option.name == "primary_keys"]
    table = table_called("a'; drop table x; --")
    options = filled(Options({"primary_keys": ["${primary_key}"]}), (keys,), table, Diagnostics())
    assert options.strings("primary_keys") == ("a'; drop table x; --",)


@pytest.mark.parametrize("quotes", ["'", '"', "`"])
def test_a_name_in_sql_stays_between_its_quotes(quotes):
    template = f"delete from log where t = {quotes}${{table_name}}{quotes}; select 1"
    for name in ALL_NAMES:
        try:
            text = fill(Fill.SQL, template, {"table_name": Outside.of(name)})
        except UnfitError:
            continue
        first, second = split_statements(text)
        assert second == "select 1"
        inner = first.partition("= ")[2]
        assert inner[1:-1].replace(quotes * 2, quotes) == name


def test_the_directory_of_a_partition_is_one_directory_below_the_target():
    from urllib.parse import quote

    options = Options({"partition_dir_expression": "${v0}/x=${v1}"})
    for value in ALL_NAMES:
        if any("\ud800" <= char <= "\udfff" for char in value):
            continue
        made = _directories(f"a={quote(value, safe='')}/b=1", ["a", "b"], options)
        parts = made.split("/")
        assert len(parts) == 2, (value, made)
        assert parts[0] not in ("", ".", "..")
        assert parts[1] == "x=1"


def test_text_from_outside_is_no_string():
    outside = Outside.of("../x")
    with pytest.raises(TypeError, match="from outside"):
        f"{outside}"
    with pytest.raises(TypeError, match="from outside"):
        str(outside)
