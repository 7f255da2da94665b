"""How a block reaches its brokers: servers and client settings, the secrets among them apart."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Options
from catalog.secret_names import is_secret_name, redacted
from connectors.shared.staged import Credentials

API_TIMEOUT: Final = "default.api.timeout.ms"
_LEAST_API_TIMEOUT: Final = 30_000
_KAFKAS_API_TIMEOUT: Final = 60_000
_OF_THE_ENGINE: Final = (
    "bootstrap.servers", "group.id", "auto.offset.reset", "enable.auto.commit", "interceptor.classes",
    "key.deserializer", "value.deserializer", "key.serializer", "value.serializer",
)  # fmt: skip
"""Settings that Spark sets itself and refuses."""


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
        plain = {name: value for name, value in given.items() if name not in secrets}
        servers = ",".join(part.strip() for part in options.string("bootstrap.servers").split(","))
        return cls(servers, plain, secrets)

    @property
    def client(self) -> dict[str, str]:
        """The settings of a client, without those that are the engine's."""
        settings = {**self.config, **self.secrets}
        return _with_api_timeout({name: value for name, value in settings.items() if name not in _OF_THE_ENGINE})

    @property
    def spark_options(self) -> dict[str, str]:
        """The connection as options of Spark's data source `kafka`."""
        return {f"kafka.{name}": value for name, value in {**self.client, "bootstrap.servers": self.servers}.items()}

    @property
    def credentials(self) -> Credentials:
        """The secrets, for killed runs with the same brokers."""
        return {self.servers: self.secrets} if self.secrets else {}


def _with_api_timeout(settings: dict[str, str]) -> dict[str, str]:
    """Kafka's administration client refuses a `request.timeout.ms` above its `default.api.timeout.ms`, which consumers
    and producers accept: it is raised, unless the job sets it."""
    request = settings.get("request.timeout.ms", "")
    if API_TIMEOUT in settings or not request.isdigit() or int(request) <= _LEAST_API_TIMEOUT:
        return settings
    return {**settings, API_TIMEOUT: str(max(_KAFKAS_API_TIMEOUT, int(request)))}


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
