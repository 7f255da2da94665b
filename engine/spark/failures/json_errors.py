"""Reports JSON that does not fit the table into which `TableRoute` parses it, at the `TableRoute`.

Spark has the same conditions for JSON files, and then names the file as well: those are errors of a source.
"""

import re
from typing import Final

from catalog.diagnostics.diagnostic import RunError, run_error
from engine.plan.nodes import AnyNode, Query
from engine.spark.failures.error_causes import ErrorCause
from sql.rewrite.select_query import Select

_MALFORMED: Final = "MALFORMED_RECORD_IN_PARSING"
_IN_FILE: Final = "FAILED_READ_FILE"
_FIELD: Final = re.compile(r"Cannot parse the field name|Numeric value \(.*\) out of range")
_PARSING: Final = re.compile(r"from_json\((`(?:[^`]|``)+`), '(?:[^'\\]|\\.)*', map\('mode', 'FAILFAST'\)\)", re.S)
"""How `TableRoute` reads its `data_column`."""

_AS_STRING: Final = "declare the column as string in the schema of the table; a query after it casts it by `try_cast`"
_NO_OBJECT: Final = (
    "a `Filter` before it leaves out what is not a JSON object: "
    "`condition = \"schema_of_variant(try_parse_json({column})) like 'OBJECT%'\"`"
)


def json_error(causes: tuple[ErrorCause, ...], nodes: tuple[AnyNode, ...]) -> RunError | None:
    """The error of a text in a `data_column` that its table cannot hold (PEN5001); None if it is another one."""
    conditions = [cause.condition or "" for cause in causes]
    is_malformed = any(condition.startswith(_MALFORMED) for condition in conditions)
    if not is_malformed or any(condition.startswith(_IN_FILE) for condition in conditions):
        return None
    columns = {query: column for query in nodes if isinstance(query, Query) and (column := _data_column(query))}
    if not columns:
        return None
    query, column = next(iter(columns.items()))
    table = f"`{query.table.path}`" if len(columns) == 1 else f"a table of `{query.table_set}`"
    fields = [cause.message for cause in causes if _FIELD.match(cause.message)]
    why = fields[-1].partition("\n")[0][:200].rstrip(".") if fields else "it is not a JSON object"
    message = f"JSON in the `data_column` {column} does not fit the schema of {table}: {why} (in `{query.name}`)"
    help = _AS_STRING if fields else _NO_OBJECT.format(column=column)
    return run_error("PEN5001", message, query.span, help)


def _data_column(query: Query) -> str | None:
    """The column, quoted, whose JSON a table of a `TableRoute` is made of."""
    text = query.body.to_text() if isinstance(query.body, Select) else query.body
    parsed = _PARSING.search(text.value) if query.kind.startswith("TableRoute") else None
    return parsed[1] if parsed else None
