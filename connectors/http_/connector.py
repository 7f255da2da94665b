"""Http: rows of a web service, fetched page by page, and rows sent to one."""

from typing import ClassVar

from connectors.http_.http_sink import HttpSink
from connectors.http_.http_source import HttpSource


class Http(HttpSource, HttpSink):
    name: ClassVar[str] = "Http"
    doc: ClassVar[str] = (
        "Rows of a web service, as JSON or text, and rows sent to one, as JSON. The driver fetches one page after "
        "another and stages the rows on disk; a page must fit in its memory. Requests of a sink are made at the commit."
    )

    def packages(self, *, is_written: bool) -> tuple[str, ...]:
        """Only its sink takes batches of Arrow."""
        return self.requirements if is_written else ()


connector = Http()
