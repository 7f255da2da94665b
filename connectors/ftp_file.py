"""Files of an FTP server."""

from collections.abc import Mapping
from typing import ClassVar, Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType
from catalog.tables.table import CatalogTable
from connectors.files.file_options import SINK_OPTIONS, SOURCE_OPTIONS
from connectors.files.formats.file_connector import FileConnector
from connectors.files.formats.locations import at_root

STORE: Final = (
    Option("host", OptionType.STRING, "The server.", required=True),
    Option("port", OptionType.INTEGER, "Its port.", default=21, minimum=1),
    Option("user", OptionType.STRING, "The user.", required=True, alternatives=("username",)),
    Option("password", OptionType.STRING, "The password.", required=True, sensitive=True),
    Option(
        "connection_mode",
        OptionType.STRING,
        "Who opens the data connection.",
        default="active_local",
        choices=("active_local", "passive_local"),
    ),
)


class FtpFile(FileConnector):
    name: ClassVar[str] = "FtpFile"
    doc: ClassVar[str] = "Files of an FTP server. The formats and options are those of LocalFile."
    source_options: ClassVar[tuple[Option, ...]] = (*STORE, *SOURCE_OPTIONS)
    sink_options: ClassVar[tuple[Option, ...]] = (*STORE, *SINK_OPTIONS)

    def located(self, options: Options) -> Options:
        return at_root(options, f"ftp://{options['host']}:{options['port']}")

    def hadoop_settings(self, options: Options) -> Mapping[str, str]:
        host, is_passive = options.string("host"), options.string("connection_mode").lower() == "passive_local"
        return {
            "fs.ftp.host": host,
            "fs.ftp.host.port": str(options.integer("port")),
            f"fs.ftp.user.{host}": options.string("user"),
            f"fs.ftp.password.{host}": options.string("password"),
            "fs.ftp.data.connection.mode": f"{'PASSIVE' if is_passive else 'ACTIVE'}_LOCAL_DATA_CONNECTION_MODE",
        }

    def validate(self, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
        message = "FtpFile cannot be written: a commit moves files between directories, which Hadoop's FTP does not do"
        diagnostics.error("PEN4004", message, options.span(), "use `SftpFile`, or write to disk and upload the files")


connector = FtpFile()
