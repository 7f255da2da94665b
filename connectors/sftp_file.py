"""Files of an SFTP server."""

from typing import ClassVar, Final

from catalog.options import Option, Options, OptionType
from connectors.files.file_options import SINK_OPTIONS, SOURCE_OPTIONS
from connectors.files.servers.scratch_copies import SCRATCH
from connectors.files.servers.server_file_connector import ServerFileConnector
from connectors.storage.servers.server import FileServer

STORE: Final = (
    Option("host", OptionType.STRING, "The server.", required=True),
    Option("port", OptionType.INTEGER, "Its port.", default=22, minimum=1),
    Option("user", OptionType.STRING, "The user.", required=True, alternatives=("username",)),
    Option("password", OptionType.STRING, "The password, or that of the private key.", sensitive=True),
    Option("private_key_file", OptionType.STRING, "The private key, in place of a password."),
    Option(
        "host_key",
        OptionType.STRING,
        "The fingerprint of the server's key (`SHA256:…`), or `known_hosts`: the server must be in that file. Without "
        "it, a server that is not in `~/.ssh/known_hosts` is accepted.",
    ),
    SCRATCH,
)


class SftpFile(ServerFileConnector):
    name: ClassVar[str] = "SftpFile"
    requirements: ClassVar[tuple[str, ...]] = ("paramiko>=3.5",)
    tested_against: ClassVar[tuple[str, ...] | None] = ("asyncssh's SFTP server",)
    doc: ClassVar[str] = "Files of an SFTP server. The formats and options are those of LocalFile."
    source_options: ClassVar[tuple[Option, ...]] = (*STORE, *SOURCE_OPTIONS)
    sink_options: ClassVar[tuple[Option, ...]] = (*STORE, *SINK_OPTIONS)

    def server(self, options: Options) -> FileServer:
        return FileServer(
            "sftp",
            options.string("host"),
            options.integer("port"),
            options.string("user"),
            options.optional_string("password") or "",
            options.optional_string("private_key_file") or "",
            options.optional_string("host_key") or "",
        )


connector = SftpFile()
