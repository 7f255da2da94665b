"""Certificates and keys in files of PEM or PKCS 12, in the form that Python's `ssl` takes."""

import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PEM = b"-----BEGIN"


def trusted_certificates(path: Path, password: str | None) -> str:
    """The certificates as PEM. Raises ValueError where the file has none, or the password is not its own."""
    from cryptography.hazmat.primitives.serialization import Encoding
    from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12

    content = path.read_bytes()
    if _PEM in content:
        return content.decode()
    store = load_pkcs12(content, None if password is None else password.encode())
    found = [*store.additional_certs, *([store.cert] if store.cert is not None else [])]
    if not found:
        raise ValueError("it holds no certificate")
    return "".join(each.certificate.public_bytes(Encoding.PEM).decode() for each in found)


@contextmanager
def client_certificate(path: Path, password: str | None) -> Iterator[tuple[str, str | None]]:
    """A file in PEM with the client's certificate and key, and the key's password.

    Of PKCS 12, a file that only this user can read, with an encrypted key, and that is removed at the end. Raises
    ValueError.
    """
    from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat
    from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12

    content = path.read_bytes()
    if _PEM in content:
        yield str(path), password
        return
    store = load_pkcs12(content, None if password is None else password.encode())
    if store.cert is None or store.key is None:
        raise ValueError("it holds no certificate with its key")
    own = secrets.token_hex(16)
    key = store.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(own.encode()))
    chain = [store.cert, *store.additional_certs]
    with tempfile.NamedTemporaryFile(suffix=".pem") as file:  # created for this user alone
        file.write(b"".join((key, *(each.certificate.public_bytes(Encoding.PEM) for each in chain))))
        file.flush()
        yield file.name, own
