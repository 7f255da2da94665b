"""How a block reaches its brokers: servers and client settings, the secrets among them apart."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Options
from catalog.secret_names import is_secret_name, redacted, remember_secret

_OF_THE_ENGINE: Final = (
    "bootstrap.servers", "group.id", "auto.offset.reset", "enable.auto.commit", "interceptor.classes",
    "key.deserializer", "value.deserializer", "key.serializer", "value.serializer",
)  # fmt: skip
"""Settings that Spark sets itself and refuses."""

_remembered: Final[dict[str, Mapping[str, str]]] = {}


@dataclass(frozen=True, slots=True)
class KafkaConnection:
    """The servers as written; `config` are settings without secrets, `secrets` the others."""

    servers: str
    config: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, options: Options) -> "KafkaConnection":
        given = options.texts_by_key("kafka.config")
        secrets = {name: value for name, value in given.items() if _is_secret(name, value)}
        for value in secrets.values():
            remember_secret(value)
        plain = {name: value for name, value in given.items() if name not in secrets}
        servers = ",".join(part.strip() for part in options.string("bootstrap.servers").split(","))
        return cls(servers, plain, secrets)

    @property
    def client(self) -> dict[str, str]:
        """The settings of a client, without those that are the engine's."""
        settings = {**self.config, **(self.secrets or _remembered.get(self.servers, {}))}
        return {name: value for name, value in settings.items() if name not in _OF_THE_ENGINE}

    @property
    def spark_options(self) -> dict[str, str]:
        """The connection as options of Spark's data source `kafka`."""
        return {f"kafka.{name}": value for name, value in {**self.client, "bootstrap.servers": self.servers}.items()}

    def remember(self) -> "KafkaConnection":
        """Lend the secrets to commits of this process that a journal describes, which has none."""
        if self.secrets:
            _remembered[self.servers] = self.secrets
        return self


def check_servers(options: Options, diagnostics: Diagnostics) -> None:
    """Report servers that are not `host:port`."""
    value = options.get("bootstrap.servers")
    if not isinstance(value, str) or "${" in value:
        return
    for server in value.split(","):
        host, _, port = server.strip().rpartition(":")
        if not host or not port.isdigit():
            message = f"`{server.strip()}` in `bootstrap.servers` is not `host:port`"
            diagnostics.error("PEN2004", message, options.span("bootstrap.servers"), '"broker1:9092,broker2:9092"')
            return


def _is_secret(name: str, value: str) -> bool:
    return is_secret_name(name) or redacted(value) != value
