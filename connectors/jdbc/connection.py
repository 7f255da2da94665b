"""Connections: the options that describe one, and how the driver and Spark open it.

A URL may carry a password (`?user=me&password=…`): it is taken out and treated as the option is.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType
from catalog.secret_names import is_secret_name
from connectors.jdbc.dialect import Dialect
from connectors.jdbc.known_dialects import DIALECTS, dialect_of

_SERVER_ALONE: Final = re.compile(
    r"(?P<server>jdbc:(?P<kind>postgresql|mysql|mariadb)://[^/?]+)/?(?P<rest>(?:\?.*)?)", re.IGNORECASE | re.DOTALL
)
_VARIABLE: Final = re.compile(r"\$\{([^}]*)\}")
PASSWORD_VARIABLE: Final = "PENSTOCK_JDBC_PASSWORD"
"""The variable with the database password for `penstock run --resume`, which reads no job file."""

CONNECTION_OPTIONS: Final = (
    Option("url", OptionType.STRING, "The JDBC URL: `jdbc:postgresql://host:5432/database`.", required=True),
    Option("driver", OptionType.STRING, "The driver's class; by default the one that belongs to the URL."),
    Option("user", OptionType.STRING, "The user's name.", alternatives=("username",)),
    Option("password", OptionType.STRING, "The user's password.", sensitive=True),
    Option(
        "properties",
        OptionType.MAP,
        "Further properties of the connection, as the driver names them.",
        element=OptionType.STRING,
    ),
    Option(
        "connection_check_timeout_sec",
        OptionType.INTEGER,
        "Seconds after which an attempt to connect fails.",
        default=30,
        minimum=1,
    ),
)
"""The connection options of sources and sinks."""


@dataclass(frozen=True, slots=True)
class Connection:
    """A database and its user. `secrets`: connection properties that must not be shown, such as the password.

    `killed_run`: the run whose journal names the connection, if its secrets are not known: a journal has none.
    """

    url: str
    driver: str
    user: str | None
    dialect: Dialect
    properties: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    killed_run: str | None = None

    @property
    def place(self) -> str:
        """The database in messages: the URL without its parameters."""
        return re.split(r"[?;]", self.url, maxsplit=1)[0]

    def spark_options(self, writes: bool = False) -> dict[str, str]:
        """The connection as options of Spark's data source `jdbc`; secrets among them."""
        dialect = self.dialect
        url = self.url
        if dialect.spark_scheme:
            url = f"jdbc:{dialect.spark_scheme}:" + url.split(":", 2)[2]
            given = {parameter.split("=")[0] for parameter in re.split(r"[?&]", url)[1:]}
            for name in ("permitMysqlScheme",):
                if name in dialect.properties and name not in given:
                    url += ("&" if "?" in url else "?") + name
        own = {**dialect.properties, **(dialect.write_properties if writes else {})}
        user = {"user": self.user} if self.user is not None else {}
        return {**own, **self.properties, **self.secrets, **user, "url": url, "driver": self.driver}


def connection_of(options: Options) -> Connection:
    """The connection that checked options describe."""
    url, in_url = _without_secrets(_url(options))
    dialect = dialect_of(url)
    assert dialect is not None, "check_connection refuses other URLs"
    given = {**in_url, **{name: str(value) for name, value in options.mapping("properties").items()}}
    if options.get("password") is not None:
        given["password"] = options.string("password")
    secrets = {name: value for name, value in given.items() if is_secret_name(name)}
    user = options.optional_string("user") or given.pop("user", None)
    plain = {name: value for name, value in given.items() if name not in secrets and name != "user"}
    return Connection(url, options.optional_string("driver") or dialect.driver, user, dialect, plain, secrets)


def _url(options: Options) -> str:
    """The URL; that of a server alone with the database that the options of a sink name, where its ledger then is."""
    url = options.string("url").strip()
    match = _SERVER_ALONE.fullmatch(url)
    if match is None or (match["kind"].lower() == "postgresql" and options.seatunnel is None):
        return url
    named = options.optional_string("database") if "database" in options.values else None
    return f"{match['server']}/{named}{match['rest']}" if named else url


def check_connection(options: Options, diagnostics: Diagnostics) -> bool:
    """Whether the URL is complete and of a supported database; otherwise an error is reported."""
    url = _url(options)
    dialect = dialect_of(url)
    if (variable := _VARIABLE.search(url)) is not None:
        if dialect is None:
            message = f"the variable `{variable[1]}` is not defined, and the database follows from `url`"
            diagnostics.error("PEN1003", message, options.span("url"), f"give it with `-i {variable[1]}=…`")
        return False
    if dialect is not None:
        if dialect.url_shape.fullmatch(_without_secrets(url)[0]):
            if not dialect.is_tested:
                message = f"{dialect.name} is experimental: Penstock's tests do not run against it"
                diagnostics.warning("PEN4400", message, options.span("url"), "try the job on a copy of the tables")
            return True
        message = f"`url` is not a complete JDBC URL of {dialect.name}"
        diagnostics.error("PEN2004", message, options.span("url"), f'for example: "{dialect.example}"')
        return False
    known = ", ".join(f"`jdbc:{dialect.scheme}:`" for dialect in DIALECTS)
    message = "`url` is no JDBC URL of a database that Penstock knows"
    help = f"known: {known}; the connector Spark reads any other"
    if dialect_of(f"jdbc:{url}") is not None:
        help = f"a JDBC URL begins with `jdbc:`: `jdbc:{_without_secrets(url)[0]}`"
    diagnostics.error("PEN2004", message, options.span("url"), help)
    return False


def jars_of(options: Options) -> tuple[str, ...]:
    """Maven coordinates of the driver; none if the job names another driver class."""
    dialect = dialect_of(str(options.get("url") or ""))
    if dialect is None or options.get("driver") not in (None, dialect.driver):
        return ()
    return (dialect.maven,)


def _without_secrets(url: str) -> tuple[str, dict[str, str]]:
    """The URL without parameters that are secrets, and a `user:password@` before its host; what was taken out."""
    taken: dict[str, str] = {}
    if match := re.match(r"(jdbc:\w+://)([^/@?;]+)@", url):
        user, _, password = match[2].partition(":")
        taken |= {"user": user} | ({"password": password} if password else {})
        url = match[1] + url[match.end() :]
    base, separator, rest = re.match(r"([^?;]*)([?;]?)(.*)", url, re.DOTALL).groups()  # type: ignore[union-attr]
    kept = []
    for part in re.split(r"[&;]", rest) if rest else ():
        name, _, value = part.partition("=")
        if is_secret_name(name):
            taken[name] = unquote(value) if separator == "?" else value
        else:
            kept.append(part)
    joined = (";" if separator == ";" else "&").join(kept)
    return (f"{base}{separator}{joined}" if joined else base), taken
