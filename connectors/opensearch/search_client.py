"""The client of a cluster: the nodes and the certificates of a block, and its errors as those of a run."""

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from catalog.diagnostics.diagnostic import Diagnostics, RunError, run_error
from catalog.options import Options
from connectors.documents.exact_json import parsed
from connectors.opensearch.key_stores import client_certificate, trusted_certificates

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

_PORT: Final = 9200
_TIMEOUT_SECONDS: Final = 60
_STATUS_HELP: Final[Mapping[int, str]] = {
    401: "check `username` and `password`",
    403: "check what the user may do with this index",
    404: "check `index`",
    413: "lower `max_batch_size`",
}
_STORES: Final = ("tls_keystore_path", "tls_truststore_path")


@dataclass(frozen=True, slots=True)
class Node:
    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"


def nodes_of(options: Options) -> tuple[Node, ...]:
    """Raises ValueError for a text that names no node."""
    return tuple(_node(text) for text in options.strings("hosts"))


def check_connection(options: Options, diagnostics: Diagnostics) -> None:
    """Report nodes without a host, and files of a kind that cannot be read."""
    try:
        nodes = nodes_of(options)
    except ValueError as cause:
        help = 'hosts = ["https://search-1:9200"]'
        diagnostics.error("PEN2004", f"`{cause}` names no node", options.span("hosts"), help)
        return
    if not nodes:
        diagnostics.error("PEN2004", "`hosts` names no node", options.span("hosts"), 'hosts = ["localhost:9200"]')
    for name in _STORES:
        if (options.optional_string(name) or "").lower().endswith(".jks"):
            message = f"`{name}` is a key store of Java, which only Java reads"
            help = "keytool -importkeystore -srckeystore STORE.jks -destkeystore STORE.p12 -deststoretype pkcs12"
            diagnostics.error("PEN2004", message, options.span(name), help)
    if options.get("password") and not options.get("username"):
        message = "`password` without `username`"
        diagnostics.error("PEN2011", message, options.span("password"), "username = …")


def place_of(options: Options, index: str) -> str:
    """The location of an index, the same text in whatever order the nodes are listed."""
    return f"{min(map(str, nodes_of(options)), default='')}/{index}"


def client_of(options: Options, *, is_exact: bool = False) -> "OpenSearch":
    """`is_exact`: fractions of responses are texts, as `connectors.documents.exact_json` has them."""
    from opensearchpy import JSONSerializer, OpenSearch, Urllib3HttpConnection

    class ExactSerializer(JSONSerializer):
        def loads(self, s: str) -> Any:
            return parsed(s)

    class AnyHostConnection(Urllib3HttpConnection):
        """urllib3 compares the host's name itself, where the context does not."""

        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            self.pool.assert_hostname = False

    nodes = nodes_of(options)
    given: dict[str, Any] = {
        "hosts": [{"host": node.host, "port": node.port, "use_ssl": node.scheme == "https"} for node in nodes],
        "timeout": _TIMEOUT_SECONDS,
        "max_retries": 3,
        "retry_on_timeout": True,
        "serializer": ExactSerializer() if is_exact else JSONSerializer(),
    }
    if (user := options.optional_string("username")) is not None:
        given["http_auth"] = (user, options.optional_string("password") or "")
    if any(node.scheme == "https" for node in nodes):
        given["ssl_context"] = _context(options)
        if not options.flag("tls_verify_hostnames") or not options.flag("tls_verify_certificate"):
            given["connection_class"] = AnyHostConnection
    return OpenSearch(**given)


@contextmanager
def reported(options: Options, code: str, *, is_exact: bool = False) -> Iterator["OpenSearch"]:
    """A client whose errors are raised with that code, at `hosts` or `index`."""
    from opensearchpy.exceptions import ConnectionError as Unreachable
    from opensearchpy.exceptions import OpenSearchException, TransportError

    client = client_of(options, is_exact=is_exact)
    try:
        yield client
    except Unreachable as error:
        nodes = ", ".join(map(str, nodes_of(options)))
        message = f"no node of the cluster answers ({nodes}): {_said(error)}"
        raise run_error(code, message, options.span("hosts"), "check `hosts`, and that the cluster is up") from error
    except TransportError as error:
        raise refused(error, options, code) from error
    except OpenSearchException as error:
        raise run_error(code, f"the cluster cannot be asked: {error}", options.span("hosts")) from error
    finally:
        client.close()


def refused(error: Any, options: Options, code: str) -> RunError:
    """What the cluster says of a request that it refused."""
    status = error.status_code if isinstance(error.status_code, int) else 0
    help = _STATUS_HELP.get(status)
    message = f"the cluster refused the request ({status}): {_reason(error.info) or error.error}"
    return run_error(code, message, options.span("index"), help)


def _reason(info: Any) -> str | None:
    """The cause that a response gives, the innermost one."""
    found = info.get("error") if isinstance(info, Mapping) else None
    if not isinstance(found, Mapping):
        return None
    causes = [found, *(cause for cause in found.get("root_cause") or () if isinstance(cause, Mapping))]
    reasons = [str(cause["reason"]) for cause in causes if cause.get("reason")]
    return reasons[-1] if reasons else None


def _said(error: Any) -> str:
    return " ".join(str(getattr(error, "info", None) or error).split())[:300]


def _node(text: str) -> Node:
    written = text.strip()
    try:
        parts = urlsplit(written if "://" in written else f"http://{written}")
        port = parts.port
    except ValueError:
        raise ValueError(text) from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(text)
    return Node(parts.scheme, parts.hostname, port or _PORT)


def _context(options: Options) -> ssl.SSLContext:
    """Raises PEN1006 where a file cannot be read."""
    context = ssl.create_default_context()
    trusted, own = (options.optional_string(name) for name in ("tls_truststore_path", "tls_keystore_path"))
    if trusted is not None:
        with _read(options, "tls_truststore_path") as (path, password):
            context.load_verify_locations(cadata=trusted_certificates(path, password))
    if own is not None:
        with _read(options, "tls_keystore_path") as (path, password), client_certificate(path, password) as (pem, key):
            context.load_cert_chain(pem, password=key)
    if not options.flag("tls_verify_hostnames") or not options.flag("tls_verify_certificate"):
        context.check_hostname = False
    if not options.flag("tls_verify_certificate"):
        context.verify_mode = ssl.CERT_NONE
    return context


@contextmanager
def _read(options: Options, name: str) -> Iterator[tuple[Path, str | None]]:
    try:
        yield Path(options.string(name)), options.optional_string(name.replace("_path", "_password"))
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        message = f"`{name}` cannot be read: {error}"
        raise run_error(
            "PEN1006", message, options.span(name), "a file in PEM, or in PKCS 12 with its password"
        ) from error
