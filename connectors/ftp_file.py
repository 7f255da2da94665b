"""Files of an FTP server."""

from collections.abc import Sequence
from typing import ClassVar, Final

from catalog.options import Option, Options, OptionType
from catalog.tables.savemode import Action
from connectors.files.file_options import SINK_OPTIONS, SOURCE_OPTIONS
from connectors.files.servers.scratch_copies import SCRATCH
from connectors.files.servers.server_file_connector import ServerFileConnector
from connectors.storage.servers.server import FileServer

STORE: Final = (
    Option("host", OptionType.STRING, "The server.", required=True),
    Option("port", OptionType.INTEGER, "Its port.", default=21, minimum=1),
    Option("user", OptionType.STRING, "The user.", required=True, alternatives=("username",)),
    Option("password", OptionType.STRING, "The password.", required=True, sensitive=True),
    Option(
        "connection_mode",
        OptionType.STRING,
        "Who opens the data connection: the server (active) or the client (passive).",
        default="active_local",
        choices=("active_local", "passive_local"),
    ),
    SCRATCH,
)


class FtpFile(ServerFileConnector):
    name: ClassVar[str] = "FtpFile"
    tested_against: ClassVar[tuple[str, ...] | None] = ("pyftpdlib's FTP server",)
    doc: ClassVar[str] = "Files of an FTP server. The formats and options are those of LocalFile."
    source_options: ClassVar[tuple[Option, ...]] = (*STORE, *SOURCE_OPTIONS)
    sink_options: ClassVar[tuple[Option, ...]] = (*STORE, *SINK_OPTIONS)

    def server(self, options: Options) -> FileServer:
        return FileServer(
            "ftp",
            options.string("host"),
            options.integer("port"),
            options.string("user"),
            options.string("password"),
            is_passive=options.string("connection_mode").lower() == "passive_local",
        )

    def caveats(self, options: Options, actions: Sequence[Action]) -> tuple[str, ...]:
        return (*super().caveats(options, actions), "FTP sends the password and the rows unencrypted")


connector = FtpFile()
