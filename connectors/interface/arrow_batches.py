"""Rows of Python as batches of Arrow, of exactly the columns and types of a table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    import pyarrow as pa

    Row: TypeAlias = "Sequence[Any] | Mapping[str, Any] | pa.RecordBatch"

_ROWS_OF_A_BATCH: Final = 10_000


def batches_of(rows: "Iterable[Row]", schema: "pa.Schema") -> "Iterator[pa.RecordBatch]":
    """The rows as batches of the schema. A row is a sequence in the order of the columns, a mapping by their names (a
    missing name is NULL), or a whole batch with such names. Raises ValueError for a row that does not fit."""
    import pyarrow as pa

    pending: list[Sequence[Any]] = []
    for row in rows:
        if isinstance(row, pa.RecordBatch):
            if pending:
                yield _batch(pending, schema)
                pending = []
            yield _fitting(row, schema)
            continue
        pending.append(_values(row, schema.names))
        if len(pending) == _ROWS_OF_A_BATCH:
            yield _batch(pending, schema)
            pending = []
    if pending:
        yield _batch(pending, schema)


def _values(row: "Sequence[Any] | Mapping[str, Any]", names: Sequence[str]) -> Sequence[Any]:
    if isinstance(row, Mapping):
        if unknown := row.keys() - set(names):
            raise ValueError(f"a row has `{min(unknown)}`, which is not a column: {', '.join(names)}")
        return [row.get(name) for name in names]
    if len(row) != len(names):
        raise ValueError(f"a row has {len(row)} values, for {len(names)} columns: {', '.join(names)}")
    return row


def _batch(rows: Sequence[Sequence[Any]], schema: "pa.Schema") -> "pa.RecordBatch":
    import pyarrow as pa

    arrays = [_array(values, field) for values, field in zip(zip(*rows, strict=True), schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _array(values: Sequence[Any], field: "pa.Field") -> "pa.Array":
    import pyarrow as pa

    try:
        array = pa.array([_with_entries(value, field.type) for value in values], type=field.type)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"a value of the column `{field.name}` is not of the type {field.type}: {error}") from error
    return _without_nulls(array, field)


def _fitting(batch: "pa.RecordBatch", schema: "pa.Schema") -> "pa.RecordBatch":
    """The batch with the columns of the schema in their order, cast to their types; missing ones are NULL."""
    import pyarrow as pa

    if unknown := set(batch.schema.names) - set(schema.names):
        raise ValueError(f"a batch has `{min(unknown)}`, which is not a column: {', '.join(schema.names)}")
    arrays = []
    for field in schema:
        index = batch.schema.get_field_index(field.name)
        if index < 0:
            array = pa.nulls(batch.num_rows, field.type)
        else:
            try:
                array = batch.column(index).cast(field.type)
            except pa.ArrowException as error:
                raise ValueError(f"the column `{field.name}` of a batch is not {field.type}: {error}") from error
        arrays.append(_without_nulls(array, field))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _without_nulls(array: "pa.Array", field: "pa.Field") -> "pa.Array":
    """Spark relies on NOT NULL: a NULL there would be read as 0 or an empty text."""
    if array.null_count and not field.nullable:
        raise ValueError(f"the column `{field.name}` is NOT NULL, and a row has no value for it")
    return array


def _with_entries(value: Any, type: "pa.DataType") -> Any:
    """Arrow takes a map as its entries; here a dict."""
    import pyarrow.types as kinds

    if value is None:
        return None
    if kinds.is_map(type):
        entries = value.items() if isinstance(value, Mapping) else value
        return [(_with_entries(key, type.key_type), _with_entries(item, type.item_type)) for key, item in entries]
    if kinds.is_list(type) and kinds.is_nested(type.value_type):
        return [_with_entries(item, type.value_type) for item in value]
    if kinds.is_struct(type):
        names = [type.field(index).name for index in range(type.num_fields)]
        fields = value if isinstance(value, Mapping) else dict(zip(names, value, strict=True))
        return {name: _with_entries(fields.get(name), type.field(name).type) for name in names}
    return value
