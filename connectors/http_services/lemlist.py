"""Rows of lemlist's API."""

from base64 import b64encode
from collections.abc import Mapping
from typing import ClassVar

from catalog.options import Option, Options
from connectors.http_.service_source import FORMATS, PASSWORD, ServiceSource, with_http


class Lemlist(ServiceSource):
    name: ClassVar[str] = "Lemlist"
    doc: ClassVar[str] = f"Rows of lemlist's API. {FORMATS}"
    source_options: ClassVar[tuple[Option, ...]] = with_http(
        PASSWORD,
    )

    def own_headers(self, options: Options) -> Mapping[str, str]:
        user = f":{options['password']}"
        return {"Authorization": f"Basic {b64encode(user.encode()).decode()}"}


connector = Lemlist()
