"""Encrypts and decrypts columns, in Spark's workers: AES-CBC, base64 of a random IV and the ciphertext."""

import os
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from engine.transforms.support.arrow_rows import with_values

if TYPE_CHECKING:
    import pyarrow


def run(
    fields: Sequence[str],
    key: bytes,
    encrypts: bool,
    batches: "Iterator[pyarrow.RecordBatch]",
    schema: "pyarrow.Schema",
) -> Iterator[Any]:
    change = encrypted if encrypts else decrypted
    for batch in batches:
        added = {}
        for name in fields:
            values = batch.column(batch.schema.get_field_index(name)).to_pylist()
            added[name] = [None if value is None else change(value, key) for value in values]
        yield with_values(batch, added, schema)


def encrypted(text: str, key: bytes) -> str:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    from cryptography.hazmat.primitives.padding import PKCS7

    iv = os.urandom(16)
    padder = PKCS7(128).padder()
    padded = padder.update(text.encode()) + padder.finalize()
    encryptor = Cipher(algorithms.AES(key), modes.CBC(iv)).encryptor()
    return b64encode(iv + encryptor.update(padded) + encryptor.finalize()).decode()


def decrypted(text: str, key: bytes) -> str:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    from cryptography.hazmat.primitives.padding import PKCS7

    data = b64decode(text)
    decryptor = Cipher(algorithms.AES(key), modes.CBC(data[:16])).decryptor()
    padded = decryptor.update(data[16:]) + decryptor.finalize()
    unpadder = PKCS7(128).unpadder()
    return (unpadder.update(padded) + unpadder.finalize()).decode()
