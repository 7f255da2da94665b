"""Rows of Klaviyo's API."""

from collections.abc import Mapping
from typing import ClassVar

from catalog.options import Option, Options, OptionType
from connectors.http_.service_source import FORMATS, ServiceSource, with_http


class Klaviyo(ServiceSource):
    name: ClassVar[str] = "Klaviyo"
    doc: ClassVar[str] = f"Rows of Klaviyo's API. {FORMATS}"
    source_options: ClassVar[tuple[Option, ...]] = with_http(
        Option("private_key", OptionType.STRING, "The private key of the API.", required=True, sensitive=True),
        Option("revision", OptionType.STRING, "The revision of the API, as `2020-10-17`.", required=True),
    )

    def own_headers(self, options: Options) -> Mapping[str, str]:
        return {
            "Accept": "application/json",
            "Authorization": f"Klaviyo-API-Key {options['private_key']}",
            "revision": options.string("revision"),
        }


connector = Klaviyo()
