"""Files of Alibaba Cloud OSS."""

from collections.abc import Mapping
from typing import ClassVar, Final

from catalog.options import Option, Options, OptionType
from connectors.files.file_options import SINK_OPTIONS, SOURCE_OPTIONS
from connectors.files.formats.file_connector import StreamedFileConnector
from connectors.files.formats.locations import at_root, bucket_root, settings

STORE: Final = (
    Option("bucket", OptionType.STRING, "The bucket, as `oss://name`.", required=True),
    Option("endpoint", OptionType.STRING, "The endpoint of the store.", required=True),
    Option("access_key", OptionType.STRING, "The access key.", sensitive=True),
    Option("access_secret", OptionType.STRING, "The secret key.", sensitive=True),
)

_SETTINGS: Final[Mapping[str, str]] = {
    "endpoint": "fs.oss.endpoint",
    "access_key": "fs.oss.accessKeyId",
    "access_secret": "fs.oss.accessKeySecret",
}


class OssFile(StreamedFileConnector):
    name: ClassVar[str] = "OssFile"
    doc: ClassVar[str] = "Files of Alibaba Cloud OSS. The formats and options are those of LocalFile."
    source_options: ClassVar[tuple[Option, ...]] = (*STORE, *SOURCE_OPTIONS)
    sink_options: ClassVar[tuple[Option, ...]] = (*STORE, *SINK_OPTIONS)
    maven: ClassVar[tuple[str, ...]] = ("org.apache.hadoop:hadoop-aliyun:3.4.2",)

    def located(self, options: Options) -> Options:
        return at_root(options, bucket_root(options.string("bucket"), "oss"))

    def hadoop_settings(self, options: Options) -> Mapping[str, str]:
        return settings(options, _SETTINGS)


connector = OssFile()
