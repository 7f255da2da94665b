"""Sources of one web service each: Http with the headers by which that service knows its users."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from catalog.options import Option, Options, OptionType
from connectors.http_.http_options import HTTP_OPTIONS
from connectors.http_.http_source import HttpSource
from connectors.interface.source import ScanTask

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMATS: Final = "The options and formats are those of Http."
PASSWORD: Final = Option("password", OptionType.STRING, "The key of the API.", required=True, sensitive=True)


def with_http(*own: Option) -> tuple[Option, ...]:
    """The options of a service, and those of Http."""
    return (*own, *HTTP_OPTIONS)


class ServiceSource(HttpSource):
    tested_against: ClassVar[tuple[str, ...] | None] = ("HTTP servers of the tests, not the service",)

    @abstractmethod
    def own_headers(self, options: Options) -> Mapping[str, str]:
        """The headers of each request, before those of `headers`."""

    def read(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        headers = {**self.own_headers(task.options), **task.options.texts_by_key("headers")}
        options = replace(task.options, values={**task.options.values, "headers": headers})
        return super().read(spark, replace(task, options=options))
