"""The file connector for other providers' stores that speak S3's protocol: S3A reaches them by an endpoint."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Final

from catalog.options import Option, Options, OptionType
from connectors.files.formats.file_connector import StreamedFileConnector
from connectors.files.stores.locations import at_root, bucket_root
from connectors.shared.spark_jars import spark_jar
from connectors.shared.split_location import split_location

PROPERTIES: Final = "hadoop_s3_properties"
S3A_PROPERTIES: Final = Option(
    PROPERTIES, OptionType.MAP, "Further settings of Hadoop's S3A.", element=OptionType.STRING
)


class S3ProtocolConnector(StreamedFileConnector):
    """A connector names the store's domain, and the options of the keys and the endpoint."""

    domain: ClassVar[str]
    """The domain of the provider's endpoints. It has a bucket in the host's name, as do S3A's requests by default;
    other hosts, such as those of a proxy or an address, have it in the path."""
    maven: ClassVar[tuple[str, ...]] = (spark_jar("hadoop-aws"),)

    @abstractmethod
    def endpoint(self, options: Options) -> str:
        """The endpoint, as a URL or a host."""

    @abstractmethod
    def region(self, options: Options) -> str:
        """The region for the signature of requests."""

    @abstractmethod
    def keys(self, options: Options) -> tuple[str | None, str | None]:
        """The access key and the secret key."""

    def located(self, options: Options) -> Options:
        return at_root(options, bucket_root(options.string("bucket"), "s3a"))

    def hadoop_settings(self, options: Options) -> Mapping[str, str]:
        endpoint = self.endpoint(options)
        host = split_location(endpoint if "://" in endpoint else f"https://{endpoint}").hostname or ""
        access, secret = self.keys(options)
        given = {
            "fs.s3a.endpoint": endpoint,
            "fs.s3a.endpoint.region": self.region(options),
            "fs.s3a.path.style.access": str(not host.endswith(f".{self.domain}")).lower(),
            "fs.s3a.access.key": access or "",
            "fs.s3a.secret.key": secret or "",
        }
        return {name: value for name, value in given.items() if value} | options.texts_by_key(PROPERTIES)
