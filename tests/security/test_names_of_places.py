"""The place to which a table, column or database of a hostile name is written, without a server: it is below the
target, is that name, and no other name has it. All sinks of the registry, 2,000 random names for each in `make soak`.
"""

import os
import re

import pytest

import connectors
from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType
from catalog.outside import Fill
from catalog.quoting import parse_name, quote
from catalog.tables.table import CatalogTable, Column, TablePath, TableSchema
from catalog.types.datatypes import STRING
from connectors.clickhouse.clickhouse_types import identifier, literal
from connectors.interface.sink import Sink
from connectors.jdbc.known_dialects import DIALECTS
from connectors.jdbc.table_names import parse_table_name
from engine.plan.building.filled_options import filled
from tests.connectors.given_options import options_of
from tests.security.hostile_names import NAMES, random_names
from tests.security.test_every_option import SINKS

COUNT = int(os.environ.get("PENSTOCK_TEST_NAMES", "40"))
ALL_NAMES = tuple(dict.fromkeys((*NAMES, *random_names(COUNT, seed=281))))
PLACEHOLDERS = ("table_name", "database_name")
TEMPLATES = {Fill.PATH: "out/{}", Fill.FOLDER_TABLE: "db.{}", Fill.SPARK_TABLE: "db.{}", Fill.TABLE: "db.{}"}
WHERE = ("path", "table", "topic", "index", "collection", "database", "key", "warehouse")
"""Options that say where rows are written; of others, `test_names_in_options` shows what becomes of them."""
BASES: dict[tuple[str, str], dict[str, object]] = {
    ("Paimon", "path"): {}, ("Paimon", "table"): {"warehouse": "warehouse", "database": "db"},
    ("Paimon", "database"): {"warehouse": "warehouse", "table": "t"},
    ("Spark", "table"): {"format": "parquet"},
}  # fmt: skip
"""Other options than those of a valid block, where the place is given in another way."""


def sinks() -> list[tuple[str, str]]:
    found = []
    for name in connectors.sink_names():
        for option in connectors.sink(name).offered_options():
            if option.fill is not Fill.PLAIN and option.type is OptionType.STRING and option.name in WHERE:
                found.append((name, option.name))
    return found


def table_called(name: str) -> CatalogTable:
    return CatalogTable(TablePath(name, name, name), TableSchema((Column("id", STRING),), None))


def base_of(sink: Sink, name: str, option: Option, template: str) -> Options:
    given = dict(BASES.get((name, option.name), SINKS[name]))
    given[option.name] = template
    return options_of(sink.sink_options, **given)


def place_of(sink: Sink, base: Options, name: str) -> str | None:
    """None where the name is refused."""
    diagnostics = Diagnostics()
    options = filled(base, sink.offered_options(), table_called(name), diagnostics)
    if options is None:
        assert [item.code for item in diagnostics] == ["PEN4601"]
        return None
    return sink.target(options)


def unquoted(text: str) -> set[str]:
    """What a part of a place may be the writing of."""
    found = {text}
    for parse in (parse_name, parse_table_name):
        try:
            parts = parse(text)
        except ValueError:
            continue
        found |= {parts[0]} if len(parts) == 1 else set()
    return found


def test_every_sink_that_writes_somewhere_is_tried():
    tried = {name for name, _ in sinks()}
    rest = set(connectors.sink_names()) - tried
    assert rest == {"Assert", "Console", "Feishu", "Http", "InMemory"}  # no option of theirs takes such names


@pytest.mark.parametrize("placeholder", PLACEHOLDERS)
@pytest.mark.parametrize(("name", "where"), sinks())
def test_a_place_is_below_the_target_and_of_one_name(name, where, placeholder):
    sink = connectors.sink(name)
    (option,) = [option for option in sink.offered_options() if option.name == where]
    template = TEMPLATES.get(option.fill, "in-{}").format(f"${{{placeholder}}}")
    base = base_of(sink, name, option, template)
    plain = place_of(sink, base, "plain")
    assert plain is not None
    assert "plain" in plain, plain
    before, after = plain.split("plain")
    ignores_case = plain.lower() == place_of(sink, base, "PLAIN")
    places: dict[str, str] = {}
    for each in ALL_NAMES:
        place = place_of(sink, base, each) if each else None
        if place is None:
            continue
        assert place.startswith(before), (each, place)
        assert place.endswith(after), (each, place)
        rest = place[len(before) : len(place) - len(after)]
        own = each.lower() if ignores_case else each
        assert own in unquoted(rest), (each, place)
        if option.fill is Fill.PATH:
            assert "/" not in rest, (each, place)
        assert places.setdefault(place, own) == own, (each, places[place])


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_quoted_name_ends_where_the_database_ends_it(dialect):
    """By the grammar of quoted identifiers: the closing quote is doubled within it."""
    opening, closing = map(re.escape, dialect.quotes)
    whole = re.compile(f"{opening}((?:[^{closing}]|{closing}{closing})*){closing}", re.DOTALL)
    for name in ALL_NAMES:
        match = whole.fullmatch(dialect.quote(name))
        assert match, (name, dialect.quote(name))
        assert match[1].replace(dialect.quotes[1] * 2, dialect.quotes[1]) == name


def test_a_quoted_name_of_clickhouse_and_of_spark_is_the_name():
    for name in ALL_NAMES:
        for text, sign in ((identifier(name), "`"), (literal(name), "'")):
            match = re.fullmatch(rf"{sign}((?:[^\\{sign}]|\\.)*){sign}", text, re.DOTALL)
            assert match, text
            assert re.sub(r"\\(.)", r"\1", match[1], flags=re.DOTALL) == name
        assert parse_name(quote(name)) == (name,)
