"""Documents of an index of Easysearch."""

from typing import ClassVar

from connectors.opensearch.connector import SearchIndex


class Easysearch(SearchIndex):
    name: ClassVar[str] = "Easysearch"
    tested_against: ClassVar[tuple[str, ...] | None] = ("OpenSearch 2.19, not Easysearch",)
    doc: ClassVar[str] = "Documents of an index of Easysearch. The options are those of OpenSearch."


connector = Easysearch()
