"""Files of Amazon S3 and stores that speak its protocol."""

from collections.abc import Mapping
from typing import ClassVar, Final

from catalog.options import Option, Options, OptionType
from connectors.files.file_options import SINK_OPTIONS, SOURCE_OPTIONS
from connectors.files.formats.file_connector import StreamedFileConnector
from connectors.files.stores.locations import at_root, bucket_root, settings
from connectors.files.stores.s3_protocol import PROPERTIES, S3A_PROPERTIES
from connectors.shared.spark_jars import spark_jar

STORE: Final = (
    Option("bucket", OptionType.STRING, "The bucket, as `s3a://name`.", required=True),
    Option("fs.s3a.endpoint", OptionType.STRING, "The endpoint of the store."),
    Option("fs.s3a.aws.credentials.provider", OptionType.STRING, "The class that gives credentials."),
    Option("access_key", OptionType.STRING, "The access key.", sensitive=True),
    Option("secret_key", OptionType.STRING, "The secret key.", sensitive=True),
    S3A_PROPERTIES,
)

_SETTINGS: Final[Mapping[str, str]] = {
    "fs.s3a.endpoint": "fs.s3a.endpoint",
    "fs.s3a.aws.credentials.provider": "fs.s3a.aws.credentials.provider",
    "access_key": "fs.s3a.access.key",
    "secret_key": "fs.s3a.secret.key",
}


class S3File(StreamedFileConnector):
    name: ClassVar[str] = "S3File"
    tested_against: ClassVar[tuple[str, ...] | None] = ("moto, a server of S3's protocol",)
    doc: ClassVar[str] = (
        "Files of Amazon S3 and stores that speak its protocol. The formats and options are those of LocalFile."
    )
    source_options: ClassVar[tuple[Option, ...]] = (*STORE, *SOURCE_OPTIONS)
    sink_options: ClassVar[tuple[Option, ...]] = (*STORE, *SINK_OPTIONS)
    maven: ClassVar[tuple[str, ...]] = (spark_jar("hadoop-aws"),)

    def located(self, options: Options) -> Options:
        return at_root(options, bucket_root(options.string("bucket"), "s3a"))

    def hadoop_settings(self, options: Options) -> Mapping[str, str]:
        return settings(options, _SETTINGS) | options.texts_by_key(PROPERTIES)


connector = S3File()
