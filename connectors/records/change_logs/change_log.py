"""The change logs of four tools: where each has the kind of a change, the rows before and after it, and their table.

Debezium  {"op": "u", "before": {…}, "after": {…}, "source": {"db": …, "schema": …, "table": …, "ts_ms": …}}
Canal     {"type": "UPDATE", "data": [{…}], "old": [{the columns that changed}], "database": …, "table": …}
Maxwell   {"type": "update", "data": {…}, "old": {the columns that changed}, "database": …, "table": …}
OGG       {"op_type": "U", "before": {…}, "after": {…}, "table": "OWNER.TABLE"}
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from catalog.quoting import quote_text
from catalog.tables.row_kind import RowKind

CHANGE: Final = "__change"
"""The column of a record's envelope, a variant."""


@dataclass(frozen=True, slots=True)
class ChangeLog:
    """How a tool writes a change; texts are Spark SQL over `CHANGE`, but `operation`, a path in it.

    `inserts`, `updates`, `deletes`, `others`: the values of `operation`, in lower case; a record of `others` (a change
    of a schema, a progress report) has no rows. `is_other`: a condition that means the same. `on_insert`, `on_update`,
    `on_delete`: the changes of a record, an array of `struct<kind, image, rest>`, where a column that `image` lacks is
    in `rest`. `has_all`: a column in neither is an error, since an update may leave columns out.
    """

    title: str
    operation: str
    inserts: tuple[str, ...]
    updates: tuple[str, ...]
    deletes: tuple[str, ...]
    on_insert: str
    on_update: str
    on_delete: str
    database: str
    schema: str
    table: str
    changed_at: str
    others: tuple[str, ...] = ()
    is_other: str = "false"
    has_all: bool = False
    envelope: str = "__json"

    @property
    def changes(self) -> str:
        """The changes of one record; NULL where its operation is none of these."""
        whens = (
            f"when {_among('__op', names)} then {changes}"
            for names, changes in (
                (self.inserts, self.on_insert),
                (self.updates, self.on_update),
                (self.deletes, self.on_delete),
            )
        )
        none = f"filter({_changes(_change(RowKind.INSERT, 'cast(null as variant)'))}, x -> false)"
        is_other = f"{self.is_other} or {_among('__op', self.others)}"
        return f"case when {is_other} then {none} {' '.join(whens)} end"


def part(path: str, of: str = CHANGE) -> str:
    """A part of a variant; NULL where it is missing, or null."""
    found = f"try_variant_get({of}, {quote_text(path)}, 'variant')"
    return f"if(is_variant_null({found}), null, {found})"


def text(path: str, of: str = CHANGE) -> str:
    return f"try_variant_get({of}, {quote_text(path)}, 'string')"


def _change(kind: RowKind, image: str, rest: str = "cast(null as variant)") -> str:
    return f"struct({quote_text(kind.value)} as kind, {image} as image, {rest} as rest)"


def _changes(*changes: str) -> str:
    return f"array({', '.join(changes)})"


def _update(before: str, after: str) -> str:
    """An update; without a row before it where the log has none."""
    is_before = f"x.kind = {quote_text(RowKind.UPDATE_BEFORE.value)}"
    return f"filter({_changes(before, after)}, x -> not {is_before} or x.image is not null)"


def _of_each(change: str) -> str:
    """The changes of a record with several rows: `change` for each of `data`, a variant `d` at `i`."""
    rows = "try_variant_get(__change, '$.data', 'array<variant>')"
    return f"flatten(transform({rows}, (d, i) -> {change}))"


def _among(operation: str, names: tuple[str, ...]) -> str:
    return f"{operation} in ({', '.join(map(quote_text, names))})" if names else "false"


_BEFORE: Final = part("$.before")
_AFTER: Final = part("$.after")
_DATA: Final = part("$.data")
_OLD: Final = part("$.old")
_OLD_OF_EACH: Final = "get(try_variant_get(__change, '$.old', 'array<variant>'), i)"
_FULL_UPDATE: Final = _update(_change(RowKind.UPDATE_BEFORE, _BEFORE), _change(RowKind.UPDATE_AFTER, _AFTER, _BEFORE))
_DDL: Final = ("create", "alter", "rename", "erase", "query", "cindex", "dindex")
_MAXWELL_DDL: Final = tuple(f"{of}-{does}" for of in ("table", "database") for does in ("create", "alter", "drop"))

CHANGE_LOGS: Final[Mapping[str, ChangeLog]] = {
    "debezium_json": ChangeLog(
        "Debezium",
        "$.op",
        ("c", "r"),
        ("u",),
        ("d",),
        _changes(_change(RowKind.INSERT, _AFTER)),
        _FULL_UPDATE,
        _changes(_change(RowKind.DELETE, _BEFORE)),
        text("$.source.db"),
        text("$.source.schema"),
        f"coalesce({text('$.source.table')}, {text('$.source.collection')})",
        f"timestamp_millis(try_cast(coalesce({text('$.source.ts_ms')}, {text('$.ts_ms')}) as bigint))",
        others=("m",),
        envelope=f"coalesce({part('$.payload', '__json')}, __json)",
    ),
    "canal_json": ChangeLog(
        "Canal",
        "$.type",
        ("insert",),
        ("update",),
        ("delete",),
        _of_each(_changes(_change(RowKind.INSERT, "d"))),
        _of_each(_update(_change(RowKind.UPDATE_BEFORE, _OLD_OF_EACH, "d"), _change(RowKind.UPDATE_AFTER, "d"))),
        _of_each(_changes(_change(RowKind.DELETE, "d"))),
        text("$.database"),
        "cast(null as string)",
        text("$.table"),
        f"timestamp_millis(try_cast(coalesce({text('$.es')}, {text('$.ts')}) as bigint))",
        others=_DDL,
        is_other=f"coalesce({text('$.isDdl')} = 'true' and __op <> 'truncate', false)",
    ),
    "maxwell_json": ChangeLog(
        "Maxwell",
        "$.type",
        ("insert", "bootstrap-insert"),
        ("update",),
        ("delete",),
        _changes(_change(RowKind.INSERT, _DATA)),
        _update(_change(RowKind.UPDATE_BEFORE, _OLD, _DATA), _change(RowKind.UPDATE_AFTER, _DATA)),
        _changes(_change(RowKind.DELETE, _DATA)),
        text("$.database"),
        "cast(null as string)",
        text("$.table"),
        f"timestamp_seconds(try_cast({text('$.ts')} as bigint))",
        others=("bootstrap-start", "bootstrap-complete", *_MAXWELL_DDL),
    ),
    "ogg_json": ChangeLog(
        "GoldenGate",
        "$.op_type",
        ("i",),
        ("u",),
        ("d",),
        _changes(_change(RowKind.INSERT, _AFTER)),
        _FULL_UPDATE,
        _changes(_change(RowKind.DELETE, _BEFORE)),
        "cast(null as string)",
        f"nullif(regexp_extract({text('$.table')}, '^(.*)[.][^.]*$', 1), '')",
        f"regexp_extract({text('$.table')}, '([^.]*)$', 1)",
        f"try_cast({text('$.op_ts')} as timestamp)",
        has_all=True,
    ),
}
"""The change logs by the names of their formats, as Apache SeaTunnel calls them."""
