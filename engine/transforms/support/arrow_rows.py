"""Runs in Spark's Python workers for every native transform: adds columns to Arrow batches.

The workers get this module by value, so it imports nothing of Penstock.
"""

import datetime
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow


def with_values(
    batch: "pyarrow.RecordBatch", added: Mapping[str, Sequence[Any]], schema: "pyarrow.Schema"
) -> "pyarrow.RecordBatch":
    """The batch in the order of `schema`; `added` columns replace those of the same name, ignoring case."""
    import pyarrow

    new = {name.lower(): values for name, values in added.items()}
    columns = []
    for field in schema:
        if (values := new.get(field.name.lower())) is None:
            columns.append(batch.column(batch.schema.get_field_index(field.name)))
        else:
            columns.append(pyarrow.array([as_type(value, field.type) for value in values], type=field.type))
    return pyarrow.RecordBatch.from_arrays(columns, schema=pyarrow.schema([
        pyarrow.field(field.name, column.type) for field, column in zip(schema, columns, strict=True)
    ]))  # fmt: skip


def as_type(value: Any, type: "pyarrow.DataType") -> Any:
    """A value of Python or JSON as the column's type; raises `ValueError` if it cannot be read so."""
    import pyarrow.types as kinds

    if value is None:
        return None
    if kinds.is_string(type) or kinds.is_large_string(type):
        return value if isinstance(value, str) else _shown(value)
    if kinds.is_boolean(type):
        return _boolean(value)
    if kinds.is_integer(type):
        return int(value)
    if kinds.is_floating(type):
        return float(value)
    if kinds.is_decimal(type):
        return Decimal(str(value)).quantize(Decimal(1).scaleb(-type.scale))
    if kinds.is_date(type) and isinstance(value, str):
        return datetime.date.fromisoformat(value)
    if kinds.is_timestamp(type) and isinstance(value, str):
        found = datetime.datetime.fromisoformat(f"{value[:-1]}+00:00" if value.endswith("Z") else value)  # 3.10: no `Z`
        return found if found.tzinfo or type.tz is None else found.replace(tzinfo=datetime.timezone.utc)
    if (kinds.is_list(type) or kinds.is_large_list(type)) and isinstance(value, list | tuple):
        return [as_type(item, type.value_type) for item in value]
    return value


def json_style(value: Any) -> Any:
    """A value for JSON: dates and times as texts, decimals as numbers."""
    match value:
        case datetime.datetime() | datetime.date() | datetime.time():
            return value.isoformat()
        case Decimal():
            return float(value)
        case bytes():
            return value.decode("utf-8", "replace")
        case list():
            return [json_style(item) for item in value]
        case dict():
            return {name: json_style(item) for name, item in value.items()}
        case _:
            return value


def _boolean(value: Any) -> bool:
    text = str(value).strip().lower()
    if text in ("true", "1", "yes"):
        return True
    if text in ("false", "0", "no"):
        return False
    raise ValueError(f"{value!r} is neither true nor false")


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | dict):
        import json

        return json.dumps(value, ensure_ascii=False)
    return str(json_style(value))
