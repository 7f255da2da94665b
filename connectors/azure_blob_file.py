"""Files of Azure Blob Storage and Data Lake Storage, by its `abfss` protocol."""

from collections.abc import Mapping
from typing import ClassVar, Final

from catalog.options import Option, Options, OptionType
from connectors.files.file_options import SINK_OPTIONS, SOURCE_OPTIONS
from connectors.files.formats.file_connector import StreamedFileConnector
from connectors.files.stores.locations import at_root
from connectors.shared.spark_jars import spark_jar
from connectors.storage.object_store import HADOOP_PROPERTIES

_HOST: Final = "dfs.core.windows.net"
STORE: Final = (
    Option("account", OptionType.STRING, "The storage account.", required=True),
    Option("container", OptionType.STRING, "The container.", required=True),
    Option("account_key", OptionType.STRING, "The account's key.", sensitive=True),
    Option("sas_token", OptionType.STRING, "A token of shared access to the container.", sensitive=True),
    HADOOP_PROPERTIES,
)


class AzureBlobFile(StreamedFileConnector):
    name: ClassVar[str] = "AzureBlobFile"
    tested_against: ClassVar[tuple[str, ...] | None] = ()
    doc: ClassVar[str] = (
        "Files of Azure Blob Storage and Data Lake Storage. The formats and options are those of LocalFile."
    )
    source_options: ClassVar[tuple[Option, ...]] = (*STORE, *SOURCE_OPTIONS)
    sink_options: ClassVar[tuple[Option, ...]] = (*STORE, *SINK_OPTIONS)
    maven: ClassVar[tuple[str, ...]] = (spark_jar("hadoop-azure"),)

    def located(self, options: Options) -> Options:
        return at_root(options, f"abfss://{options['container']}@{options['account']}.{_HOST}")

    def hadoop_settings(self, options: Options) -> Mapping[str, str]:
        host = f"{options['account']}.{_HOST}"
        own: dict[str, str] = {}
        if (key := options.optional_string("account_key")) is not None:
            own |= {f"fs.azure.account.auth.type.{host}": "SharedKey", f"fs.azure.account.key.{host}": key}
        elif (token := options.optional_string("sas_token")) is not None:
            own |= {f"fs.azure.account.auth.type.{host}": "SAS", f"fs.azure.sas.fixed.token.{host}": token}
        return {**own, **options.texts_by_key(HADOOP_PROPERTIES.name)}


connector = AzureBlobFile()
