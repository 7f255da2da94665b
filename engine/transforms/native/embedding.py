"""`Embedding`: texts as vectors of a model."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType
from catalog.tables.table import CatalogTable
from catalog.types.datatypes import FLOAT, Array
from engine.transforms.base import check_columns
from engine.transforms.support import model_calls
from engine.transforms.support import simple_json_path as json_steps
from engine.transforms.support.endpoints import ENDPOINT_OPTIONS, QIANFAN, endpoint
from engine.transforms.support.native_columns import by_batches, with_added

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PATHS: Final = {
    "OPENAI": "https://api.openai.com/v1/embeddings",
    "DOUBAO": "https://ark.cn-beijing.volces.com/api/v3/embeddings",
    "ZHIPU": "https://open.bigmodel.cn/api/paas/v4/embeddings",
    QIANFAN: "https://aip.baidubce.com/rpc/2.0/ai_custom/v1/wenxinworkshop/embeddings",
}


class Embedding:
    name: ClassVar[str] = "Embedding"
    doc: ClassVar[str] = (
        "Add vectors of text columns, `array<float>`, by any endpoint with OpenAI's embeddings API, and with `CUSTOM` "
        "by any that takes and gives JSON. Pictures and videos are refused: their providers' APIs are not OpenAI's."
    )
    options: ClassVar[tuple[Option, ...]] = (
        Option("model_provider", OptionType.STRING, "Whose API it is; with `api_path`, anyone's.", required=True,
               choices=(*PATHS, "MICROSOFT", "CUSTOM"), alternatives=("embedding_model_provider",)),
        Option("vectorization_fields", OptionType.MAP, "New column = the text column, or `{field, modality = text}`.",
               required=True),
        Option("single_vectorized_input_number", OptionType.INTEGER, "Texts in one request.", default=1, minimum=1),
        Option("process_batch_size", OptionType.INTEGER, "The same, as `LLM` has it.", minimum=1),
        Option("dimension", OptionType.INTEGER, "The vectors' length, where the model has a choice.", minimum=1),
        Option("secret_key", OptionType.STRING, "Of `QIANFAN`: its second key.", sensitive=True),
        Option("oauth_path", OptionType.STRING, "Of `QIANFAN`: the URL that gives a token for the two keys."),
        *ENDPOINT_OPTIONS,
    )  # fmt: skip
    is_expensive: ClassVar[bool] = True

    def output(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> CatalogTable | None:
        columns = _columns(options, diagnostics)
        if columns is None or endpoint(options, PATHS, diagnostics) is None:
            return None
        places = {source: f"vectorization_fields.{new}" for new, source in columns.items()}
        if not check_columns(table, places, options, diagnostics) or table.is_open:
            return None
        return with_added(table, dict.fromkeys(columns, Array(FLOAT)))

    def apply(self, df: "DataFrame", table: CatalogTable, options: Options) -> "DataFrame":
        found, columns = endpoint(options, PATHS, Diagnostics()), _columns(options, Diagnostics())
        if found is None or columns is None:
            raise AssertionError("the options were checked when the plan was built")
        names = {name.lower(): name for name in df.columns}
        dimension, size = options["dimension"], options["process_batch_size"]
        asked = model_calls.Vectors(
            found,
            {new: names[source.lower()] for new, source in columns.items()},
            size if isinstance(size, int) else options.integer("single_vectorized_input_number"),
            dimension if isinstance(dimension, int) else None,
        )
        return by_batches(df, table, partial(model_calls.embed, asked), model_calls, json_steps)


def _columns(options: Options, diagnostics: Diagnostics) -> dict[str, str] | None:
    found: dict[str, str] = {}
    for new, value in options.mapping("vectorization_fields").items():
        place = options.span(f"vectorization_fields.{new}")
        if not isinstance(value, Mapping):
            found[new] = str(value)
        elif str(value.get("modality") or "text").lower() != "text" or str(value.get("format") or "text") != "text":
            message = f"`{new}` is not of a text: only texts can be embedded"
            diagnostics.error("PEN2004", message, place, "ask the provider's API in a `Python` transform")
            return None
        else:
            found[new] = str(value.get("field"))
    return found


transform = Embedding()
