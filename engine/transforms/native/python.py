"""`Python`: a Python function over the rows, Arrow or pandas batches, or row by row as Apache SeaTunnel's."""

import ast
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.limits import read_small
from catalog.options import Option, Options, OptionType
from catalog.reach import OutsideError, refuse_outside
from catalog.tables.table import CatalogTable
from engine.transforms.support import python_rows
from engine.transforms.support.native_columns import by_batches, declared_columns, with_added

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Python:
    name: ClassVar[str] = "Python"
    doc: ClassVar[str] = (
        "Run a Python function of yours over the rows. By default it is `process(row, context)`, called for each row; "
        "with `style = arrow` or `pandas` it is `transform(batch)`, called with a `pyarrow.Table` or a pandas "
        "DataFrame and returning one with the input's columns and the new ones, which is many times faster."
    )
    options: ClassVar[tuple[Option, ...]] = (
        Option("source_code", OptionType.STRING, "The Python source itself; excludes `source_code_path`."),
        Option("source_code_path", OptionType.STRING, "A Python file; excludes `source_code`.", alternatives=("file",)),
        Option("columns", OptionType.LIST, "The new columns: list of `{dest_field, dest_type = string}`.",
               required=True, element=OptionType.MAP),
        Option("style", OptionType.STRING, "What the function takes: a row as a mapping, or a batch of rows.",
               default="row", choices=("row", "arrow", "pandas")),
        Option("function", OptionType.STRING, "The function's name: without it `process`, or `transform` of batches."),
        Option("script_config", OptionType.MAP, "Passed to the function as `context['config']`."),
        Option("row_error_handle_way", OptionType.STRING, "What an exception in a row does: fail, or skip the row.",
               default="FAIL", choices=("FAIL", "SKIP")),
    )  # fmt: skip
    is_expensive: ClassVar[bool] = True

    def output(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> CatalogTable | None:
        columns = declared_columns(options["columns"], "columns", options, diagnostics)
        if not _check_source(options, diagnostics) or columns is None or table.is_open:
            return None
        return with_added(table, columns)

    def apply(self, df: "DataFrame", table: CatalogTable, options: Options) -> "DataFrame":
        source, file = _source(options)
        columns = declared_columns(options["columns"], "columns", options, Diagnostics()) or {}
        context = {
            "input_fields": [{"name": field.name, "type": field.dataType.simpleString()} for field in df.schema],
            "output_fields": [{"name": name, "type": str(type)} for name, type in columns.items()],
            "config": dict(options.mapping("script_config")),
        }
        code = python_rows.UserCode(
            source, file, _function(options), options.string("style"), tuple(columns), context,
            options.string("row_error_handle_way") == "SKIP",
        )  # fmt: skip
        return by_batches(df, table, partial(python_rows.run, code), python_rows)


def _function(options: Options) -> str:
    default = "process" if options.string("style") == "row" else "transform"
    return options.optional_string("function") or default


def _source(options: Options) -> tuple[str, str]:
    path = options.optional_string("source_code_path")
    if path is None:
        return options.string("source_code"), "source_code"
    refuse_outside(path)
    return read_small(path).decode(), path


def _check_source(options: Options, diagnostics: Diagnostics) -> bool:
    """Whether the code can be read and defines the function."""
    code, path = options.optional_string("source_code"), options.optional_string("source_code_path")
    if (code is None) == (path is None):
        span = options.span("source_code_path") if path else options.span()
        message = "`Python` needs `source_code` or `source_code_path`, and not both"
        diagnostics.error("PEN2011", message, span, "give one of them")
        return False
    option = "source_code" if path is None else "source_code_path"
    try:
        tree = ast.parse(_source(options)[0])
    except OutsideError:
        message = f"`{path}` is outside of the project: its source is not checked"
        diagnostics.warning("PEN1602", message, options.span(option), "`--allow-outside` reads it")
        return True
    except OSError as error:
        diagnostics.error("PEN1006", f"`{path}` cannot be read: {error.strerror}", options.span(option))
        return False
    except (UnicodeDecodeError, RecursionError, MemoryError):
        diagnostics.error("PEN1006", f"`{path or 'source_code'}` is no Python source", options.span(option))
        return False
    except ValueError as error:  # a NUL
        diagnostics.error("PEN2004", f"the Python source does not parse: {error}", options.span(option))
        return False
    except SyntaxError as error:
        message = f"the Python source does not parse: {error.msg}, line {error.lineno}"
        diagnostics.error("PEN2004", message, options.span(option))
        return False
    name = _function(options)
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assigned = {child.id for node in tree.body if isinstance(node, ast.Assign | ast.ImportFrom | ast.Import)
                for child in ast.walk(node) if isinstance(child, ast.Name)}  # fmt: skip
    if name in defined | assigned:
        return True
    diagnostics.error("PEN2004", f"the Python source has no function `{name}`", options.span(option), f"def {name}(…):")
    return False


transform = Python()
