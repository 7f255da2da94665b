"""Describes data as a source block with the types of its columns."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import connectors
from catalog.diagnostics.diagnostic import Diagnostics, job_error
from catalog.diagnostics.shown_names import shown_name
from catalog.options import Options, Value
from catalog.tables.table import Column
from catalog.types.datatypes import DataType, Struct, parts
from catalog.types.typenames import quote_name, to_ddl
from connectors.files.infer_types import infer_types
from connectors.interface.source import ScanTask, Source
from connectors.interface.source_abilities import is_untyped
from engine.describe.guess import Guess
from engine.job.options.variables import as_literal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


SETTINGS: Final[Mapping[str, str]] = {"spark.sql.shuffle.partitions": "1", "spark.sql.adaptive.enabled": "false"}
"""Each task has one row for each column, so that there is nothing to distribute, nor to adapt."""

_MOVES: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Described:
    """A source that can be read: its connector, options and columns; types were inferred from `rows`
    rows (None: all)."""

    guess: Guess
    columns: tuple[Column, ...]
    rows: int | None = None


def describe(guess: Guess, spark: "SparkSession", sample: int | None = None) -> Described:
    """Read the columns and their types; with `sample`, from the first rows only."""
    source = connectors.source(guess.plugin)
    assert source is not None
    options = _options(source, _with_secrets(guess))
    (known,) = source.tables(options, Diagnostics())
    if not known.is_open and not is_untyped(source, options):
        return Described(guess, known.columns)
    if not is_untyped(source, options):
        return Described(guess, source.describe(spark, options).columns)
    df = source.read(spark, ScanTask(options, known))
    inferred = infer_types(df.limit(sample) if sample else df, finds_null=True)
    null = {"null_format": inferred.null_format} if inferred.null_format else {}
    return Described(replace(guess, options={**guess.options, **null}), inferred.columns, sample)


def needs(guess: Guess) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """The jars and session settings that the source needs."""
    source = connectors.source(guess.plugin)
    if source is None:
        raise job_error("PEN2002", f"there is no source `{guess.plugin}`")
    return source.jars(_options(source, _with_secrets(guess))), source.session_settings


def _with_secrets(guess: Guess) -> dict[str, Value]:
    return guess.options | {option: os.environ[variable] for option, variable in guess.secrets.items()}


def _options(source: Source, given: Mapping[str, Value]) -> Options:
    return Options({option.name: option.default for option in source.source_options} | dict(given))


def as_hocon(described: Described, name: str, settings: Mapping[str, str] | None = None) -> str:
    """The source block of a HOCON job, after an `env` block with Spark's settings, if it needs any."""
    lines = [f"  {described.guess.plugin} {{", f"    plugin_output = {_text(name)}"]
    lines += [f"    {key} = {_text(value)}" for key, value in described.guess.options.items()]
    lines += [f"    {key} = ${{{variable}}}" for key, variable in described.guess.secrets.items()]
    width = max(len(_key(column.name)) for column in described.columns)
    fields = [f"        {_key(column.name):{width}} = {_text(to_ddl(column.type))}" for column in described.columns]
    lines += ["    schema {", "      fields {", *fields, "      }", "    }", "  }"]
    env = [f"  {_text(key)} = {_text(value)}" for key, value in (settings or {}).items()]
    return "\n".join([*(("env {", *env, "}") if env else ()), "source {", *lines, "}", ""])


def as_sql(described: Described, name: str, settings: Mapping[str, str] | None = None) -> str:
    """The same as `SET` and `CREATE TABLE` statements."""
    columns = [f"  {_sql_name(column.name)} {as_literal(_sql_type(column.type))}" for column in described.columns]
    options = {"connector": described.guess.plugin, **described.guess.options}
    hidden = (f"{_sql(option)} = '${{{variable}}}'" for option, variable in described.guess.secrets.items())
    pairs = ", ".join([*(f"{_sql(key)} = {_sql(_plain(value))}" for key, value in options.items()), *hidden])
    env = "".join(f"SET {_sql(key)} = {_sql(value)};\n" for key, value in (settings or {}).items())
    return env + f"CREATE TABLE {_sql_name(name)} (\n" + ",\n".join(columns) + f"\n) WITH ({pairs});\n"


def _text(value: Value) -> str:
    if isinstance(value, str) and not value.isidentifier():
        return _quoted(as_literal(value))
    return _plain(value)


def _quoted(text: str) -> str:
    """In quotes; what would move a cursor, or end a line, by its number."""
    return _MOVES.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))


def _plain(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _key(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else _quoted(name)


def _sql_type(type: DataType) -> str:
    """The type in capitals, but for the names of fields: JSON matches them by case."""
    text = to_ddl(type)
    _check_statement(text)
    return text if any(isinstance(part, Struct) for part in parts(type)) else text.upper()


def _sql(text: str) -> str:
    return "'" + as_literal(text).replace("\\", "\\\\").replace("'", "''") + "'"


def _sql_name(name: str) -> str:
    _check_statement(name)
    return as_literal(quote_name(name))


def _check_statement(name: str) -> None:
    """Raises PEN1612 for a name that no statement can show: one in backquotes has no escapes."""
    if _MOVES.search(name) or "\n" in name:
        message = f"`{shown_name(name)}` has a character that SQL cannot show"
        raise job_error("PEN1612", message, None, "leave `--sql` out: HOCON has escapes")


def table_name(path: str) -> str:
    """A table name for a path: `data/flights.csv.gz` is `flights`."""
    last = path.rstrip("/").rpartition("/")[2].partition(".")[0]
    name = "".join(sign if sign.isalnum() or sign == "_" else "_" for sign in last).strip("_").lower()
    return name if name and not name[0].isdigit() else f"t_{name}" if name else "data"


__all__: Sequence[str] = ("SETTINGS", "Described", "as_hocon", "as_sql", "describe", "needs", "table_name")
