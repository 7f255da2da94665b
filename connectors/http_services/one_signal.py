"""Rows of OneSignal's API."""

from collections.abc import Mapping
from typing import ClassVar

from catalog.options import Option, Options
from connectors.http_.service_source import FORMATS, PASSWORD, ServiceSource, with_http


class OneSignal(ServiceSource):
    name: ClassVar[str] = "OneSignal"
    doc: ClassVar[str] = f"Rows of OneSignal's API. {FORMATS}"
    source_options: ClassVar[tuple[Option, ...]] = with_http(
        PASSWORD,
    )

    def own_headers(self, options: Options) -> Mapping[str, str]:
        return {"Content-Type": "application/json", "Authorization": f"Basic {options['password']}"}


connector = OneSignal()
