"""Rows of GitHub's REST API."""

from collections.abc import Mapping
from typing import ClassVar

from catalog.options import Option, Options, OptionType
from connectors.http_.service_source import FORMATS, ServiceSource, with_http


class Github(ServiceSource):
    name: ClassVar[str] = "Github"
    doc: ClassVar[str] = f"Rows of GitHub's REST API. {FORMATS}"
    source_options: ClassVar[tuple[Option, ...]] = with_http(
        Option("access_token", OptionType.STRING, "The token of the API.", sensitive=True),
    )

    def own_headers(self, options: Options) -> Mapping[str, str]:
        token = options.optional_string("access_token")
        return {"Authorization": f"Bearer {token}"} if token else {}


connector = Github()
