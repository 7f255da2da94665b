"""Rows sent to a webhook of Feishu."""

from typing import ClassVar

from connectors.http_.http_sink import HttpSink


class Feishu(HttpSink):
    name: ClassVar[str] = "Feishu"
    tested_against: ClassVar[tuple[str, ...] | None] = ("HTTP servers of the tests, not the service",)
    doc: ClassVar[str] = "Rows sent to a webhook of Feishu, each as a JSON object. The options are those of Http."


connector = Feishu()
