"""Files of Huawei Cloud OBS, by its S3-compatible protocol."""

import re
from typing import ClassVar, Final

from catalog.options import Option, Options, OptionType
from connectors.files.file_options import SINK_OPTIONS, SOURCE_OPTIONS
from connectors.files.stores.s3_protocol import S3A_PROPERTIES, S3ProtocolConnector

STORE: Final = (
    Option("bucket", OptionType.STRING, "The bucket, as `obs://name`.", required=True),
    Option("endpoint", OptionType.STRING, "The endpoint of the store.", required=True),
    Option("access_key", OptionType.STRING, "The access key.", sensitive=True),
    Option("access_secret", OptionType.STRING, "The secret key.", sensitive=True, alternatives=("secret_key",)),
    S3A_PROPERTIES,
)


class ObsFile(S3ProtocolConnector):
    name: ClassVar[str] = "ObsFile"
    tested_against: ClassVar[tuple[str, ...] | None] = ("moto, a server of S3's protocol, not the provider's store",)
    doc: ClassVar[str] = (
        "Files of Huawei Cloud OBS, by its S3-compatible protocol. The formats and options are those of LocalFile."
    )
    source_options: ClassVar[tuple[Option, ...]] = (*STORE, *SOURCE_OPTIONS)
    sink_options: ClassVar[tuple[Option, ...]] = (*STORE, *SINK_OPTIONS)
    domain: ClassVar[str] = "myhuaweicloud.com"

    def endpoint(self, options: Options) -> str:
        return options.string("endpoint")

    def region(self, options: Options) -> str:
        named = re.search(r"obs\.([a-z0-9-]+)\.myhuaweicloud\.com", options.string("endpoint"))
        return named[1] if named else "cn-north-4"

    def keys(self, options: Options) -> tuple[str | None, str | None]:
        return options.optional_string("access_key"), options.optional_string("access_secret")


connector = ObsFile()
