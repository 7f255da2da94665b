"""The location of a table, the same text however jobs write its URL and its name:

jdbc:postgresql://db:5432/shop#orders     `//db/shop?ssl=true` and `shop.public.orders`
"""

import re
from typing import Final

from connectors.jdbc.connection import Connection
from connectors.jdbc.dialect import Dialect
from connectors.jdbc.table_names import relative_to
from connectors.storage.paths import target_folder

_SERVER: Final = re.compile(r"(jdbc:[^/]*//)([^/]*)(?:/(.*))?", re.DOTALL)
_PORT: Final = re.compile(r":(\d+)")
_DEFAULT_SCHEMAS: Final = {"postgresql": "public", "sqlserver": "dbo"}
_DATABASE: Final = ("databasename", "database")


def location_of(connection: Connection, name: tuple[str, ...]) -> str:
    """The table's location; that of the database without a name."""
    server, database = _server_and_database(connection)
    parts = relative_to(connection.dialect, database, name)
    if connection.dialect.quotes == "``" and len(parts) == 2:  # MySQL's databases are its schemas
        database, parts = parts[0], parts[1:]
    schema = _default_schema(connection)
    if len(parts) == 1 and schema and schema != _DEFAULT_SCHEMAS.get(connection.dialect.scheme):
        parts = (schema, *parts)
    elif len(parts) == 2 and parts[0].lower() == _DEFAULT_SCHEMAS.get(connection.dialect.scheme):
        parts = parts[1:]
    place = server if database is None else f"{server}/{database}"
    return f"{place}#{'.'.join(parts).lower()}" if parts else place


def _server_and_database(connection: Connection) -> tuple[str, str | None]:
    place = connection.place
    if connection.dialect.scheme in ("sqlite", "duckdb"):
        scheme, file = place.split(":", 2)[1:]
        return f"jdbc:{scheme}:{target_folder(file)}", None
    found = _SERVER.fullmatch(place)
    if found is None:
        return place, None
    hosts = ",".join(_with_port(host.lower(), connection.dialect) for host in found[2].split(","))
    return found[1] + hosts, found[3] or _parameter(connection, _DATABASE)


def _with_port(host: str, dialect: Dialect) -> str:
    port = _PORT.search(dialect.example)
    has_one = re.search(r":\d+\Z", host) is not None or not re.fullmatch(r"[\w.-]+|\[[^\]]*\]", host)
    return host if has_one or port is None else f"{host}:{port[1]}"


def _default_schema(connection: Connection) -> str | None:
    found = _parameter(connection, ("currentschema",))
    return found.split(",")[0].strip() if found else None


def _parameter(connection: Connection, names: tuple[str, ...]) -> str | None:
    """A parameter of the URL or the connection's properties, whatever its case."""
    in_url = (part.partition("=")[::2] for part in re.split(r"[?;&]", connection.url)[1:])
    given = {name.lower(): value for name, value in (*in_url, *connection.properties.items())}
    return next((given[name] for name in names if given.get(name)), None)
