"""Runs a user's Python function over Arrow batches, in Spark's workers: it imports nothing of Penstock."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.transforms.support.arrow_rows import json_style, with_values

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True)
class UserCode:
    """The source of a user's module and how its function is called: `style` is `row`, `arrow` or `pandas`."""

    source: str
    file: str
    function: str
    style: str
    columns: Sequence[str]
    context: Mapping[str, Any]
    skips_errors: bool


def run(code: UserCode, batches: "Iterator[pyarrow.RecordBatch]", schema: "pyarrow.Schema") -> Iterator[Any]:
    """The batches as the user's function makes them; `open(context)` and `close()` around them where it has them."""
    module: dict[str, Any] = {"__name__": "penstock_user_code"}
    exec(compile(code.source, code.file, "exec"), module)
    function = module.get(code.function)
    if not callable(function):
        raise ValueError(f"{code.file} has no function {code.function!r}")
    if callable(start := module.get("open")):
        start(dict(code.context))
    try:
        for batch in batches:
            if code.style == "row":
                yield _by_rows(code, function, batch, schema)
            else:
                yield from _by_batch(code, function, batch, schema)
    finally:
        if callable(end := module.get("close")):
            end()


def _by_rows(code: UserCode, function: Callable[..., Any], batch: "pyarrow.RecordBatch", schema: Any) -> Any:
    kept: list[int] = []
    values: dict[str, list[Any]] = {name: [] for name in code.columns}
    for index, row in enumerate(batch.to_pylist()):
        try:
            found = _as_mapping(code, function(json_style(row), dict(code.context)))
        except Exception:
            if code.skips_errors:
                continue
            raise
        kept.append(index)
        for name in code.columns:
            values[name].append(found[name])
    return with_values(batch.take(kept), values, schema)


def _as_mapping(code: UserCode, result: Any) -> Mapping[str, Any]:
    if isinstance(result, Mapping):
        missing = [name for name in code.columns if name not in result]
        if missing:
            raise ValueError(f"{code.function} returned no {missing[0]!r}")
        return result
    values = list(result) if isinstance(result, list | tuple) else [result]
    if len(values) != len(code.columns):
        raise ValueError(f"{code.function} returned {len(values)} values for {len(code.columns)} columns")
    return dict(zip(code.columns, values, strict=True))


def _by_batch(
    code: UserCode, function: Callable[..., Any], batch: "pyarrow.RecordBatch", schema: "pyarrow.Schema"
) -> Iterator[Any]:
    import pyarrow

    if code.style == "pandas":
        result = pyarrow.Table.from_pandas(function(batch.to_pandas()), preserve_index=False)
    else:
        result = function(pyarrow.Table.from_batches([batch]))
        if isinstance(result, pyarrow.RecordBatch):
            result = pyarrow.Table.from_batches([result])
    missing = [field.name for field in schema if field.name not in result.column_names]
    if missing:
        raise ValueError(f"{code.function} returned no column {missing[0]!r}")
    yield from result.select(schema.names).cast(schema).to_batches()
