"""Files of an SFTP server."""

from collections.abc import Mapping
from typing import ClassVar, Final

from catalog.options import Option, Options, OptionType
from connectors.files.file_options import SINK_OPTIONS, SOURCE_OPTIONS
from connectors.files.formats.file_connector import FileConnector
from connectors.files.formats.locations import at_root

STORE: Final = (
    Option("host", OptionType.STRING, "The server.", required=True),
    Option("port", OptionType.INTEGER, "Its port.", default=22, minimum=1),
    Option("user", OptionType.STRING, "The user.", required=True, alternatives=("username",)),
    Option("password", OptionType.STRING, "The password.", required=True, sensitive=True),
)


class SftpFile(FileConnector):
    name: ClassVar[str] = "SftpFile"
    doc: ClassVar[str] = "Files of an SFTP server. The formats and options are those of LocalFile."
    source_options: ClassVar[tuple[Option, ...]] = (*STORE, *SOURCE_OPTIONS)
    sink_options: ClassVar[tuple[Option, ...]] = (*STORE, *SINK_OPTIONS)
    maven: ClassVar[tuple[str, ...]] = ("com.jcraft:jsch:0.1.55",)

    def located(self, options: Options) -> Options:
        return at_root(options, f"sftp://{options['host']}:{options['port']}")

    def hadoop_settings(self, options: Options) -> Mapping[str, str]:
        host, user = options.string("host"), options.string("user")
        return {
            "fs.sftp.impl": "org.apache.hadoop.fs.sftp.SFTPFileSystem",
            f"fs.sftp.host.{host}": host,
            "fs.sftp.host.port": str(options.integer("port")),
            f"fs.sftp.user.{host}": user,
            f"fs.sftp.password.{host}.{user}": options.string("password"),
        }


connector = SftpFile()
