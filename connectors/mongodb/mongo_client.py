"""The client of a deployment, and its errors as those of a run."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urlsplit

from catalog.diagnostics.diagnostic import Diagnostics, run_error
from catalog.options import Options
from catalog.secret_names import redacted_text

_SCHEMES: Final = ("mongodb", "mongodb+srv")
_MILLISECONDS: Final = 30_000


def check_connection(options: Options, diagnostics: Diagnostics) -> None:
    if urlsplit(options.string("uri")).scheme not in _SCHEMES:
        message = "`uri` is no URI of MongoDB"
        diagnostics.error("PEN2004", message, options.span("uri"), 'uri = "mongodb://localhost:27017"')


def place_of(options: Options) -> str:
    """The location of the collection, without the user and the parameters."""
    uri = options.string("uri")
    hosts = urlsplit(uri).netloc.rpartition("@")[2]
    return f"mongodb://{','.join(sorted(hosts.split(',')))}/{options.string('database')}.{options.string('collection')}"


@contextmanager
def reported(options: Options, code: str) -> Iterator[Any]:
    """The collection; errors are raised with that code, at `uri`."""
    from pymongo import MongoClient
    from pymongo.errors import OperationFailure, PyMongoError, ServerSelectionTimeoutError

    span = options.span("uri")
    client: Any = None
    try:
        client = MongoClient(options.string("uri"), tz_aware=True, serverSelectionTimeoutMS=_MILLISECONDS)
        yield client[options.string("database")][options.string("collection")]
    except ServerSelectionTimeoutError as error:
        message = f"no server of the deployment answers ({place_of(options)}): {_said(error)}"
        raise run_error(code, message, span, "check `uri`, and that the server is up") from error
    except OperationFailure as error:
        help = "check the user and the password of `uri`" if error.code in (13, 18) else None
        raise run_error(code, f"the server refused the request: {_said(error)}", span, help) from error
    except PyMongoError as error:
        raise run_error(code, f"the server cannot be asked: {_said(error)}", span) from error
    finally:
        if client is not None:
            client.close()


def _said(error: Exception) -> str:
    return redacted_text(" ".join(str(error).split()))[:300]
