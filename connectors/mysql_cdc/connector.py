"""Changes of tables of MySQL and MariaDB, by their binary log: Apache SeaTunnel's MySQL-CDC source."""

import re
from collections.abc import Mapping
from secrets import randbelow
from typing import Any, ClassVar, Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType
from connectors.change_capture.capture_options import capture_options, listed, tables_named
from connectors.change_capture.capture_source import CaptureSource
from connectors.change_capture.log_position import LogPosition
from connectors.jdbc.connection import connection_of
from connectors.mysql_cdc.server import MysqlServer

_URL: Final = re.compile(
    r"jdbc:(?:mysql|mariadb)://(?P<host>[^/?:,(]+)(?::(?P<port>\d+))?(?:/(?P<database>[^?]*))?(?:\?.*)?"
)
_FILE: Final = "startup.specific-offset.file"
_POSITION: Final = "startup.specific-offset.pos"
_TIMESTAMP: Final = "startup.timestamp"


class MysqlCdc(CaptureSource):
    name: ClassVar[str] = "MySQL-CDC"
    tested_against: ClassVar[tuple[str, ...] | None] = ("MariaDB 10.11",)
    experimental: ClassVar[tuple[str, ...]] = ("MySQL's own server",)
    doc: ClassVar[str] = (
        "Changes of tables of MariaDB and MySQL: a snapshot, then the binary log, each change once. In a batch job: "
        "the rows as they are now."
    )
    requirements: ClassVar[tuple[str, ...]] = ("pymysql>=1.1", "pyarrow>=17")
    source_options: ClassVar[tuple[Option, ...]] = capture_options(
        "database.table",
        Option("server-id", OptionType.ANY,
               "The number of this reader among the replicas of the server, or a range, of which it takes the first. "
               "Default: a random one."),
        Option(_FILE, OptionType.STRING, "For `startup.mode = specific`: the file of the log."),
        Option(_POSITION, OptionType.INTEGER, "For `specific`: the end of a transaction in the file.", minimum=4),
        Option(_TIMESTAMP, OptionType.INTEGER,
               "For `startup.mode = timestamp`: milliseconds since 1970. Transactions of before are passed over.",
               minimum=0),
        start_modes=("initial", "latest", "earliest", "specific", "timestamp", "snapshot-only"),
    )  # fmt: skip

    def full_name(self, name: tuple[str, ...], options: Options) -> tuple[str, ...]:
        if len(name) > 1:
            return name[-2:]
        databases = listed(options.get("database-names"))
        place = _URL.fullmatch(str(options.get("url") or ""))
        own = place["database"] if place and place["database"] else ""
        return (databases[0] if len(databases) == 1 else own, *name)

    def shown_name(self, name: tuple[str, ...], options: Options) -> tuple[str, ...]:
        return self.full_name(name, options)

    def check(self, options: Options, diagnostics: Diagnostics) -> None:
        if connection_of(options).dialect.quotes != "``":
            help = "`Postgres-CDC` reads PostgreSQL"
            diagnostics.error("PEN2004", "`url` is no URL of MySQL or MariaDB", options.span("url"), help)
            return
        if not _URL.fullmatch(connection_of(options).url):
            message = "`url` names several hosts, or none: a log is that of one server"
            diagnostics.error("PEN2004", message, options.span("url"), "url = jdbc:mysql://host:3306/database")
        for name in tables_named(options, Diagnostics()):
            if not self.full_name(name, options)[0]:
                message = f"`{name[-1]}` is in no database"
                diagnostics.error("PEN2004", message, options.span("table-names"), f'"shop.{name[-1]}"')
        mode = str(options["startup.mode"]).lower()
        for option, wanted in ((_FILE, "specific"), (_POSITION, "specific"), (_TIMESTAMP, "timestamp")):
            if mode == wanted and options.get(option) is None:
                message = f"`startup.mode = {wanted}` needs `{option}`"
                diagnostics.error("PEN2005", message, options.span("startup.mode"))
        text = options.optional_string(_FILE)
        if text is not None and not re.fullmatch(r".+\.\d+", text):
            diagnostics.error("PEN2004", f"`{text}` is no file of a binary log", options.span(_FILE), "binlog.000003")
        if options.get("server-id") is not None and _server_id(options) is None:
            message = f"`{options['server-id']}` is neither a number nor a range of numbers"
            diagnostics.error("PEN2004", message, options.span("server-id"), "server-id = 5400")

    def stream_obstacle(self, options: Options) -> str | None:
        if str(options["startup.mode"]).lower() == "snapshot-only":
            return "`startup.mode = snapshot-only` is read by a batch job, which ends with the rows that there are"
        return None

    def server(self, options: Options, keys: Mapping[str, tuple[str, ...]]) -> MysqlServer:
        mode = str(options["startup.mode"]).lower()
        specific = None
        if mode == "specific":
            specific = LogPosition.parse(f"{options.string(_FILE)}:{options.integer(_POSITION)}")
        earliest = options.integer(_TIMESTAMP) if mode == "timestamp" else 0
        number = _server_id(options) or 1_000_000 + randbelow(2_000_000_000)
        return MysqlServer(_settings(options), number, keys, specific, earliest)

    def matching(self, options: Options, pattern: "re.Pattern[str]") -> tuple[str, ...]:
        return self.server(options, {}).matching(pattern)

    def log_identity(self, options: Options) -> str:
        named = ",".join(listed(options.get("table-names"))) or str(options.get("table-pattern"))
        settings = _settings(options)
        return f"mysql://{settings['host']}:{settings['port']} {named}"


def _server_id(options: Options) -> int | None:
    """The number of a reader, the first one of a range; None for another text, or where there is none."""
    found = re.fullmatch(r"\s*(\d+)\s*(?:-\s*\d+)?\s*", str(options.get("server-id")))
    return int(found[1]) if found and 0 < int(found[1]) < 2**32 else None


def _settings(options: Options) -> dict[str, Any]:
    """The connection as pymysql names it."""
    connection = connection_of(options)
    found = _URL.fullmatch(connection.url)
    assert found is not None, "`check` refuses other URLs"
    given = {**dict(re.findall(r"[?&](\w+)=([^&]*)", connection.url)), **connection.properties}
    is_encrypted = given.get("useSSL") == "true" or given.get("sslMode", "").lower() in _ENCRYPTED
    return {
        "host": found["host"],
        "port": int(found["port"] or 3306),
        "user": connection.user,
        "password": connection.secrets.get("password", ""),
        "connect_timeout": options.integer("connection_check_timeout_sec"),
        **({"ssl": {"check_hostname": False}} if is_encrypted else {}),
    }


_ENCRYPTED: Final = ("required", "verify_ca", "verify_identity", "trust", "verify-ca", "verify-full")

connector = MysqlCdc()
