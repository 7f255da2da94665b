"""Rows of GitLab's REST API."""

from collections.abc import Mapping
from typing import ClassVar

from catalog.options import Option, Options, OptionType
from connectors.http_.service_source import FORMATS, ServiceSource, with_http


class Gitlab(ServiceSource):
    name: ClassVar[str] = "Gitlab"
    doc: ClassVar[str] = f"Rows of GitLab's REST API. {FORMATS}"
    source_options: ClassVar[tuple[Option, ...]] = with_http(
        Option("access_token", OptionType.STRING, "The token of the API.", required=True, sensitive=True),
    )

    def own_headers(self, options: Options) -> Mapping[str, str]:
        return {"PRIVATE-TOKEN": options.string("access_token")}


connector = Gitlab()
