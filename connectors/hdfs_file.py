"""Files of HDFS, or of any other Hadoop file system."""

from collections.abc import Mapping
from typing import ClassVar, Final

from catalog.options import Option, Options, OptionType
from connectors.files.file_options import SINK_OPTIONS, SOURCE_OPTIONS
from connectors.files.formats.file_connector import StreamedFileConnector
from connectors.files.stores.locations import at_root, settings

STORE: Final = (
    Option(
        "fs.defaultFS",
        OptionType.STRING,
        "The file system of `path`, as `hdfs://namenode:9000`; without it, Spark's default one.",
    ),
)


class HdfsFile(StreamedFileConnector):
    name: ClassVar[str] = "HdfsFile"
    tested_against: ClassVar[tuple[str, ...] | None] = ()
    doc: ClassVar[str] = (
        "Files of HDFS, or of any other Hadoop file system. The formats and options are those of LocalFile."
    )
    source_options: ClassVar[tuple[Option, ...]] = (*STORE, *SOURCE_OPTIONS)
    sink_options: ClassVar[tuple[Option, ...]] = (*STORE, *SINK_OPTIONS)

    def located(self, options: Options) -> Options:
        return at_root(options, options.optional_string("fs.defaultFS") or "")

    def hadoop_settings(self, options: Options) -> Mapping[str, str]:
        return settings(options, {"fs.defaultFS": "fs.defaultFS"})


connector = HdfsFile()
