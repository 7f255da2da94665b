"""Encrypts and decrypts columns, in Spark's workers: base64 of a random IV and the ciphertext."""

import os
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from engine.transforms.support.arrow_rows import with_values

if TYPE_CHECKING:
    import pyarrow


def run(
    fields: Sequence[str],
    key: bytes,
    way: tuple[str, bool],
    batches: "Iterator[pyarrow.RecordBatch]",
    schema: "pyarrow.Schema",
) -> Iterator[Any]:
    """The batches with these columns changed; `way` is the algorithm, and whether it encrypts."""
    change = _CHANGES[way]
    for batch in batches:
        added = {}
        for name in fields:
            values = batch.column(batch.schema.get_field_index(name)).to_pylist()
            added[name] = [None if value is None else change(value, key) for value in values]
        yield with_values(batch, added, schema)


def cbc_encrypted(text: str, key: bytes) -> str:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    from cryptography.hazmat.primitives.padding import PKCS7

    iv = os.urandom(16)
    padder = PKCS7(128).padder()
    padded = padder.update(text.encode()) + padder.finalize()
    encryptor = Cipher(algorithms.AES(key), modes.CBC(iv)).encryptor()
    return b64encode(iv + encryptor.update(padded) + encryptor.finalize()).decode()


def cbc_decrypted(text: str, key: bytes) -> str:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    from cryptography.hazmat.primitives.padding import PKCS7

    data = b64decode(text)
    decryptor = Cipher(algorithms.AES(key), modes.CBC(data[:16])).decryptor()
    padded = decryptor.update(data[16:]) + decryptor.finalize()
    unpadder = PKCS7(128).unpadder()
    return (unpadder.update(padded) + unpadder.finalize()).decode()


def gcm_encrypted(text: str, key: bytes) -> str:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    iv = os.urandom(_GCM_IV)
    return b64encode(iv + AESGCM(key).encrypt(iv, text.encode(), None)).decode()


def gcm_decrypted(text: str, key: bytes) -> str:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    data = b64decode(text)
    try:
        return AESGCM(key).decrypt(data[:_GCM_IV], data[_GCM_IV:], None).decode()
    except InvalidTag:
        raise ValueError("a value was encrypted with another key, or changed since") from None


_GCM_IV: Final = 12
_CHANGES: Final[Mapping[tuple[str, bool], Callable[[str, bytes], str]]] = {
    ("AES_CBC", True): cbc_encrypted,
    ("AES_CBC", False): cbc_decrypted,
    ("AES_GCM", True): gcm_encrypted,
    ("AES_GCM", False): gcm_decrypted,
}
