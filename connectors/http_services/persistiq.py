"""Rows of PersistIQ's API."""

from collections.abc import Mapping
from typing import ClassVar

from catalog.options import Option, Options
from connectors.http_.service_source import FORMATS, PASSWORD, ServiceSource, with_http


class Persistiq(ServiceSource):
    name: ClassVar[str] = "Persistiq"
    doc: ClassVar[str] = f"Rows of PersistIQ's API. {FORMATS}"
    source_options: ClassVar[tuple[Option, ...]] = with_http(
        PASSWORD,
    )

    def own_headers(self, options: Options) -> Mapping[str, str]:
        return {"x-api-key": options.string("password")}


connector = Persistiq()
