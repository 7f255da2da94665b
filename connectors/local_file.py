"""Files on this machine or any Hadoop file system."""

from collections.abc import Mapping
from typing import ClassVar

from catalog.options import Option, Options
from connectors.files.file_options import SINK_OPTIONS, SOURCE_OPTIONS
from connectors.files.formats.file_connector import StreamedFileConnector
from connectors.storage.object_store import HADOOP_PROPERTIES


class LocalFile(StreamedFileConnector):
    name: ClassVar[str] = "LocalFile"
    doc: ClassVar[str] = (
        "Reads and writes csv, json, parquet, orc, avro, text, xml, excel and binary files, local or of any Hadoop "
        "file system."
    )
    source_options: ClassVar[tuple[Option, ...]] = (*SOURCE_OPTIONS, HADOOP_PROPERTIES)
    sink_options: ClassVar[tuple[Option, ...]] = (*SINK_OPTIONS, HADOOP_PROPERTIES)

    def hadoop_settings(self, options: Options) -> Mapping[str, str]:
        return options.texts_by_key("hadoop_properties")


connector = LocalFile()
