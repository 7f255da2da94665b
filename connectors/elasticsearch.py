"""Documents of an index of Elasticsearch."""

from typing import ClassVar

from connectors.opensearch.connector import SearchIndex


class Elasticsearch(SearchIndex):
    name: ClassVar[str] = "Elasticsearch"
    tested_against: ClassVar[tuple[str, ...] | None] = (
        "OpenSearch 2.19",
        "Elasticsearch 7.17 in the soak tests",
    )
    doc: ClassVar[str] = "Documents of an index of Elasticsearch. The options are those of OpenSearch."


connector = Elasticsearch()
