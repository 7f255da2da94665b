"""Rows of Jira's REST API."""

from base64 import b64encode
from collections.abc import Mapping
from typing import ClassVar

from catalog.options import Option, Options, OptionType
from connectors.http_.service_source import FORMATS, ServiceSource, with_http


class Jira(ServiceSource):
    name: ClassVar[str] = "Jira"
    doc: ClassVar[str] = f"Rows of Jira's REST API. {FORMATS}"
    source_options: ClassVar[tuple[Option, ...]] = with_http(
        Option("email", OptionType.STRING, "The user.", required=True),
        Option("api_token", OptionType.STRING, "The user's token.", required=True, sensitive=True),
    )

    def own_headers(self, options: Options) -> Mapping[str, str]:
        user = f"{options['email']}:{options['api_token']}"
        return {"Authorization": f"Basic {b64encode(user.encode()).decode()}"}


connector = Jira()
