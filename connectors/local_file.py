"""Files on this machine or any Hadoop file system."""

from typing import ClassVar

from connectors.support.formats.file_connector import FileConnector


class LocalFile(FileConnector):
    name: ClassVar[str] = "LocalFile"
    doc: ClassVar[str] = (
        "Reads and writes csv, json, parquet, orc, avro, text, xml, excel and binary files, local or of any Hadoop "
        "file system."
    )


connector = LocalFile()
