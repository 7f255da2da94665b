"""The client of a server or cluster, and its errors as those of a run."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from catalog.diagnostics.diagnostic import Diagnostics, run_error
from catalog.options import Options

_SECONDS: Final = 60
_PORT: Final = 6379


def check_connection(options: Options, diagnostics: Diagnostics) -> None:
    """Report a server or cluster that is not named."""
    if is_cluster(options):
        if not options.strings("nodes"):
            help = 'nodes = ["redis-1:6379"]'
            diagnostics.error("PEN2011", "`mode = cluster` needs `nodes`", options.span("mode"), help)
        if options.integer("db_num"):
            message = "a cluster has one database, with the number 0"
            diagnostics.error("PEN2011", message, options.span("db_num"), "leave `db_num` out")
    elif options.optional_string("host") is None:
        message = "`host` is missing"
        diagnostics.error("PEN2005", message, options.span(), 'host = "localhost", or mode = cluster with nodes')
    for node in options.strings("nodes"):
        if not node.rpartition(":")[2].isdigit() and ":" in node:
            diagnostics.error("PEN2004", f"`{node}` is no node", options.span("nodes"), 'nodes = ["redis-1:6379"]')


def is_cluster(options: Options) -> bool:
    return options.string("mode").lower() == "cluster"


def place_of(options: Options, keys: str) -> str:
    """The location of keys, the same text in whatever order the nodes are listed."""
    if is_cluster(options):
        return f"redis://{min((_shown(node) for node in options.strings('nodes')), default='')}/{keys}"
    host, port = options.optional_string("host") or "", options.integer("port")
    return f"redis://{host}:{port}/{options.integer('db_num')}/{keys}"


@contextmanager
def reported(options: Options, code: str) -> Iterator[Any]:
    """A client whose errors are raised with that code."""
    from redis.exceptions import AuthenticationError, ConnectionError, RedisError, ResponseError

    span = options.span("nodes" if is_cluster(options) else "host")
    client: Any = None
    try:
        client = _client(options)
        yield client
    except AuthenticationError as error:
        raise run_error(code, f"the server refused the user: {error}", span, "check `user` and `auth`") from error
    except ConnectionError as error:
        message = f"the server does not answer ({place_of(options, '').rstrip('/')}): {error}"
        raise run_error(code, message, span, "check `host` and `port`, and that the server is up") from error
    except ResponseError as error:
        help = "check `data_type`: a key has another type" if "WRONGTYPE" in str(error) else None
        raise run_error(code, f"the server refused the request: {error}", span, help) from error
    except RedisError as error:
        raise run_error(code, f"the server cannot be asked: {error}", span) from error
    finally:
        if client is not None:
            client.close()


def _client(options: Options) -> Any:
    from redis import Redis
    from redis.cluster import ClusterNode, RedisCluster

    given: dict[str, Any] = {
        "username": options.optional_string("user"),
        "password": options.optional_string("auth"),
        "decode_responses": True,
        "socket_timeout": _SECONDS,
    }
    if not is_cluster(options):
        host, port = options.string("host"), options.integer("port")
        return Redis(host=host, port=port, db=options.integer("db_num"), **given)
    nodes = [ClusterNode(*_address(node)) for node in options.strings("nodes")]  # type: ignore[no-untyped-call]
    return RedisCluster(startup_nodes=nodes, **given)


def _address(node: str) -> tuple[str, int]:
    host, _, port = node.rpartition(":")
    return (host, int(port)) if host else (node, _PORT)


def _shown(node: str) -> str:
    host, port = _address(node)
    return f"{host}:{port}"
