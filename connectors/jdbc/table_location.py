"""The location of a table, the same text however jobs write its URL and its name:

jdbc:postgresql://db:5432/shop#orders     `//db/shop?ssl=true` and `shop.public.orders`
"""

import re
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Options
from connectors.jdbc.connection import Connection, connection_of
from connectors.jdbc.dialect import Dialect
from connectors.jdbc.table_names import parse_table_name, relative_to
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


def in_own_database(connection: Connection, name: tuple[str, ...]) -> tuple[str, ...]:
    """The name without the connection's own database: `shop.public.t` is `public.t` where the URL names `shop`."""
    return relative_to(connection.dialect, _server_and_database(connection)[1], name)


def check_place(dialect: Dialect, options: Options, name: str, diagnostics: Diagnostics) -> None:
    """Report a table in a schema or database that a connection of this dialect does not reach."""
    try:
        parts = parse_table_name(options.string(name))
    except ValueError:
        return  # reported with the name
    if not dialect.has_schemas and len(parts) > 1 and parts[0].lower() != "main" and options.seatunnel is None:
        message = f"{dialect.name} has no schemas: `{options[name]}` would be the table `{parts[-1]}`"
        diagnostics.error("PEN2004", message, options.span(name), f'{name} = "{parts[-1]}"')
    own = _server_and_database(connection_of(options))[1]
    named = options.optional_string("database") if "database" in options.values else None
    has_database = len(parts) == 3 and (options.seatunnel is None or name != "table")
    named, place = (named, "database") if named is not None else (parts[0] if has_database else None, name)
    if dialect.scheme == "postgresql" and own and named is not None and named.lower() != own.lower():
        message = f"a connection of PostgreSQL reaches one database: `url` names `{own}`, and `{place}` names `{named}`"
        diagnostics.error("PEN2011", message, options.span(place), "name the database in `url`")


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
