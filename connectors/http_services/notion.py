"""Rows of Notion's API."""

from collections.abc import Mapping
from typing import ClassVar

from catalog.options import Option, Options, OptionType
from connectors.http_.service_source import FORMATS, PASSWORD, ServiceSource, with_http


class Notion(ServiceSource):
    name: ClassVar[str] = "Notion"
    doc: ClassVar[str] = f"Rows of Notion's API. {FORMATS}"
    source_options: ClassVar[tuple[Option, ...]] = with_http(
        PASSWORD,
        Option("version", OptionType.STRING, "The version of the API, as `2022-06-28`.", required=True),
    )

    def own_headers(self, options: Options) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {options['password']}", "Notion-Version": options.string("version")}


connector = Notion()
