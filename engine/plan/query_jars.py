"""The jars of Spark's modules whose functions a query calls."""

import re
from collections.abc import Iterable
from typing import Final

from catalog.diagnostics.source import PlacedText
from connectors.shared.spark_jars import spark_jar
from engine.plan.nodes import AnyNode, Query

_AVRO_CALL: Final = re.compile(r"\b(?:from_avro|to_avro|schema_of_avro)\s*\(", re.IGNORECASE)


def jars_of_text(query: str) -> tuple[str, ...]:
    """The jars that Spark needs for a query, as Maven coordinates."""
    return (spark_jar("avro"),) if _AVRO_CALL.search(query) else ()


def jars_of_queries(nodes: Iterable[AnyNode]) -> tuple[str, ...]:
    """The jars that Spark needs for the users' queries among the nodes, each once."""
    texts = (node.body.value for node in nodes if isinstance(node, Query) and isinstance(node.body, PlacedText))
    return tuple(dict.fromkeys(jar for text in texts for jar in jars_of_text(text)))
