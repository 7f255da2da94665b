"""Files of Google Cloud Storage."""

from collections.abc import Mapping
from typing import ClassVar, Final

from catalog.options import Option, Options, OptionType
from connectors.files.file_options import SINK_OPTIONS, SOURCE_OPTIONS
from connectors.files.formats.file_connector import StreamedFileConnector
from connectors.files.stores.locations import at_root, bucket_root
from connectors.storage.object_store import HADOOP_PROPERTIES

_KEY_FILE: Final = "service_account_key_file"
STORE: Final = (
    Option("bucket", OptionType.STRING, "The bucket, as `gs://name`.", required=True),
    Option(_KEY_FILE, OptionType.STRING,
           "The JSON file with the key of a service account, on every machine; without it, those of the environment."),
    HADOOP_PROPERTIES,
)  # fmt: skip


class GcsFile(StreamedFileConnector):
    name: ClassVar[str] = "GcsFile"
    tested_against: ClassVar[tuple[str, ...] | None] = ()
    doc: ClassVar[str] = "Files of Google Cloud Storage. The formats and options are those of LocalFile."
    source_options: ClassVar[tuple[Option, ...]] = (*STORE, *SOURCE_OPTIONS)
    sink_options: ClassVar[tuple[Option, ...]] = (*STORE, *SINK_OPTIONS)

    def located(self, options: Options) -> Options:
        return at_root(options, bucket_root(options.string("bucket"), "gs"))

    def hadoop_settings(self, options: Options) -> Mapping[str, str]:
        key_file = options.optional_string(_KEY_FILE)
        own = {
            "fs.gs.auth.type": "SERVICE_ACCOUNT_JSON_KEYFILE",
            "fs.gs.auth.service.account.json.keyfile": key_file,
        } if key_file else {}  # fmt: skip
        return {**own, **options.texts_by_key(HADOOP_PROPERTIES.name)}


connector = GcsFile()
