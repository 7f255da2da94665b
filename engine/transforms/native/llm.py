"""`LLM`: a language model's answer for each row."""

from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType
from catalog.tables.table import CatalogTable
from catalog.types.datatypes import BIGINT, BOOLEAN, DOUBLE, INT, STRING, DataType
from engine.transforms.base import check_columns
from engine.transforms.support import model_calls
from engine.transforms.support import simple_json_path as json_steps
from engine.transforms.support.endpoints import ENDPOINT_OPTIONS, endpoint
from engine.transforms.support.native_columns import by_batches, with_added

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PATHS: Final = {
    "OPENAI": "https://api.openai.com/v1/chat/completions",
    "DEEPSEEK": "https://api.deepseek.com/chat/completions",
    "DOUBAO": "https://ark.cn-beijing.volces.com/api/v3/chat/completions",
    "KIMIAI": "https://api.moonshot.cn/v1/chat/completions",
    "ZHIPU": "https://open.bigmodel.cn/api/paas/v4/chat/completions",
}
_TYPES: Final = {"STRING": STRING, "INT": INT, "BIGINT": BIGINT, "DOUBLE": DOUBLE, "BOOLEAN": BOOLEAN}


class LLM:
    name: ClassVar[str] = "LLM"
    doc: ClassVar[str] = (
        "Ask a language model about each row and add its answer as a column. Any endpoint with OpenAI's chat API, and "
        "with `CUSTOM` any that takes and gives JSON."
    )
    options: ClassVar[tuple[Option, ...]] = (
        Option("model_provider", OptionType.STRING, "Whose API it is; with `api_path`, anyone's.", required=True,
               choices=(*PATHS, "MICROSOFT", "CUSTOM")),
        Option("prompt", OptionType.STRING, "What the model is asked.", required=True),
        Option("inference_columns", OptionType.LIST, "The columns that it is given; without it, all.",
               element=OptionType.STRING),
        Option("output_column_name", OptionType.STRING, "The answer's column.", default="llm_output"),
        Option("output_data_type", OptionType.STRING, "The answer's type.", default="STRING", choices=tuple(_TYPES)),
        Option("process_batch_size", OptionType.INTEGER, "Rows in one request.", default=1, minimum=1,
               alternatives=("inference_batch_size",)),
        *ENDPOINT_OPTIONS,
    )  # fmt: skip
    is_expensive: ClassVar[bool] = True

    def output(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> CatalogTable | None:
        places = {name: f"inference_columns.{at}" for at, name in enumerate(options.strings("inference_columns"))}
        if not check_columns(table, places, options, diagnostics) or endpoint(options, PATHS, diagnostics) is None:
            return None
        return None if table.is_open else with_added(table, {_column(table, options): _type(options)})

    def apply(self, df: "DataFrame", table: CatalogTable, options: Options) -> "DataFrame":
        found = endpoint(options, PATHS, Diagnostics())
        if found is None:
            raise AssertionError("the endpoint was checked when the plan was built")
        name = table.columns[-1].name
        inputs = options.strings("inference_columns") or tuple(column.name for column in table.columns[:-1])
        asked = model_calls.Completion(
            found, options.string("prompt"), inputs, name, options.integer("process_batch_size")
        )
        return by_batches(df, table, partial(model_calls.complete, asked), model_calls, json_steps)


def _column(table: CatalogTable, options: Options) -> str:
    """The answer's column; `llm_output` where the input has one of the name given."""
    name = options.string("output_column_name")
    return "llm_output" if table.column(name) is not None else name


def _type(options: Options) -> DataType:
    return _TYPES[options.string("output_data_type")]


transform = LLM()
