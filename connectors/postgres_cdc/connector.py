"""Changes of PostgreSQL's tables, by its logical replication: Apache SeaTunnel's Postgres-CDC source."""

import re
from collections.abc import Mapping
from typing import ClassVar, Final
from urllib.parse import parse_qsl

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType
from connectors.change_capture.capture_options import capture_options, listed, tables_named
from connectors.change_capture.capture_source import CaptureSource
from connectors.jdbc.connection import connection_of
from connectors.postgres_cdc.server import COMMITTED_OFFSET, PostgresServer

_URL: Final = re.compile(r"jdbc:postgresql://(?P<hosts>[^/?]*)/(?P<database>[^?]*)")
_SSL: Final = ("sslmode", "sslrootcert", "sslcert", "sslkey")
_SLOT: Final = "penstock"


class PostgresCdc(CaptureSource):
    name: ClassVar[str] = "Postgres-CDC"
    tested_against: ClassVar[tuple[str, ...] | None] = ("PostgreSQL 18",)
    doc: ClassVar[str] = (
        "Changes of PostgreSQL's tables: a snapshot, then the log, by logical replication (`pgoutput`), each change "
        "once. In a batch job: the rows as they are now."
    )
    requirements: ClassVar[tuple[str, ...]] = ("psycopg[binary]>=3.2", "pyarrow>=17")
    source_options: ClassVar[tuple[Option, ...]] = capture_options(
        "schema.table",
        Option("slot.name", OptionType.STRING,
               "The replication slot, which the stream makes: each job has its own.", default=_SLOT),
        Option("publication.name", OptionType.STRING,
               "The publication; by default one that the stream makes, named as the slot."),
        Option("decoding.plugin.name", OptionType.STRING,
               "No effect: the log is decoded by `pgoutput`, which every server has.", default="pgoutput"),
        start_modes=("initial", "latest", "earliest", "snapshot-only", COMMITTED_OFFSET),
    )  # fmt: skip

    def full_name(self, name: tuple[str, ...], options: Options) -> tuple[str, ...]:
        if len(name) > 1:
            return name[-2:]
        schemas = listed(options.get("schema-names"))
        return (schemas[0] if len(schemas) == 1 else "public", *name)

    def shown_name(self, name: tuple[str, ...], options: Options) -> tuple[str, ...]:
        place = _URL.match(str(options.get("url") or ""))
        database = (place["database"],) if place and place["database"] else ()
        return (*database, *self.full_name(name, options))

    def check(self, options: Options, diagnostics: Diagnostics) -> None:
        url = connection_of(options).url
        if connection_of(options).dialect.scheme != "postgresql":
            help = "`MySQL-CDC` reads MariaDB and MySQL"
            diagnostics.error("PEN2004", "`url` is no URL of PostgreSQL", options.span("url"), help)
            return
        if not _URL.match(url):
            help = "url = jdbc:postgresql://host:5432/database"
            diagnostics.error("PEN2004", "`url` names no host and database", options.span("url"), help)
        mode = str(options["startup.mode"]).lower()
        if mode == "earliest":
            message = "`startup.mode = earliest` is not supported: PostgreSQL keeps no log of before the slot"
            help = "`initial` begins with a snapshot, `committed-offset` where a slot that is there was confirmed"
            diagnostics.error("PEN4441", message, options.span("startup.mode"), help)
        for name in ("slot.name", "publication.name"):
            value = options.optional_string(name)
            if value is not None and not re.fullmatch(r"[a-z0-9_]{1,63}", value):
                message = f"`{value}` is no name of a slot: lower-case letters, digits and `_`, 63 at most"
                diagnostics.error("PEN2004", message, options.span(name))
        self._check_names(options, diagnostics)

    def _check_names(self, options: Options, diagnostics: Diagnostics) -> None:
        own = _URL.match(connection_of(options).url)
        for name in tables_named(options, Diagnostics()):
            if len(name) == 3 and own and own["database"] and name[0] != own["database"]:
                message = f"a connection reaches one database: `url` names `{own['database']}`, not `{name[0]}`"
                diagnostics.error("PEN2011", message, options.span("table-names"), "name the database in `url`")

    def stream_obstacle(self, options: Options) -> str | None:
        if str(options["startup.mode"]).lower() == "snapshot-only":
            return "`startup.mode = snapshot-only` is read by a batch job, which ends with the rows that there are"
        return None

    def server(self, options: Options, keys: Mapping[str, tuple[str, ...]]) -> PostgresServer:
        slot = options.string("slot.name")
        takes_slot = str(options["startup.mode"]).lower() == COMMITTED_OFFSET
        publication = options.optional_string("publication.name") or slot
        return PostgresServer(_settings(options), slot, publication, keys, takes_slot=takes_slot)

    def matching(self, options: Options, pattern: "re.Pattern[str]") -> tuple[str, ...]:
        return self.server(options, {}).matching(pattern)

    def log_identity(self, options: Options) -> str:
        return f"{connection_of(options).place} {options['slot.name']}"


def _settings(options: Options) -> dict[str, str]:
    """The connection as libpq names it."""
    connection = connection_of(options)
    found = _URL.match(connection.url)
    assert found is not None, "`check` refuses other URLs"
    hosts = [host.rpartition(":") if re.search(r":\d+\Z", host) else (host, ":", "5432")
             for host in found["hosts"].split(",")]  # fmt: skip
    given = {name: value for name, value in parse_qsl(connection.url.partition("?")[2]) if name in _SSL}
    given |= {name: value for name, value in connection.properties.items() if name in _SSL}
    user = {} if connection.user is None else {"user": connection.user}
    secrets = {name: value for name, value in connection.secrets.items() if name in ("password", "sslpassword")}
    return {
        "host": ",".join(host or "localhost" for host, _, _ in hosts),
        "port": ",".join(port for _, _, port in hosts),
        "dbname": found["database"] or str(connection.user or "postgres"),
        "connect_timeout": str(options.integer("connection_check_timeout_sec")),
        **user,
        **secrets,
        **given,
    }


connector = PostgresCdc()
