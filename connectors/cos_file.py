"""Files of Tencent Cloud COS, by its S3-compatible protocol."""

from typing import ClassVar, Final

from catalog.options import Option, Options, OptionType
from connectors.files.file_options import SINK_OPTIONS, SOURCE_OPTIONS
from connectors.files.stores.s3_protocol import S3A_PROPERTIES, S3ProtocolConnector

STORE: Final = (
    Option("bucket", OptionType.STRING, "The bucket, as `cosn://name-1250000000`.", required=True),
    Option("region", OptionType.STRING, "The region, as `ap-chengdu`.", required=True),
    Option("secret_id", OptionType.STRING, "The access key.", sensitive=True),
    Option("secret_key", OptionType.STRING, "The secret key.", sensitive=True),
    Option("endpoint", OptionType.STRING, "The endpoint, where it is not that of the region."),
    S3A_PROPERTIES,
)


class CosFile(S3ProtocolConnector):
    name: ClassVar[str] = "CosFile"
    tested_against: ClassVar[tuple[str, ...] | None] = ("moto, a server of S3's protocol, not the provider's store",)
    doc: ClassVar[str] = (
        "Files of Tencent Cloud COS, by its S3-compatible protocol. The formats and options are those of LocalFile."
    )
    source_options: ClassVar[tuple[Option, ...]] = (*STORE, *SOURCE_OPTIONS)
    sink_options: ClassVar[tuple[Option, ...]] = (*STORE, *SINK_OPTIONS)
    domain: ClassVar[str] = "myqcloud.com"

    def endpoint(self, options: Options) -> str:
        return options.optional_string("endpoint") or f"https://cos.{options['region']}.myqcloud.com"

    def region(self, options: Options) -> str:
        return options.string("region")

    def keys(self, options: Options) -> tuple[str | None, str | None]:
        return options.optional_string("secret_id"), options.optional_string("secret_key")


connector = CosFile()
