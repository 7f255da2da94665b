"""DES as SeaTunnel's `DES_ENCRYPT` and `DES_DECRYPT` use it: CBC, a constant IV, the first eight bytes of the password.

Runs in Spark's Python workers, which get this module by value: it imports nothing of Penstock.
"""

from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import Cipher

_IV: Final = b"12345678"
_SHORTEST: Final = 8


def encrypted(password: str | None, text: str | None) -> str | None:
    """Base64 of the ciphertext; None where an argument is."""
    if password is None or text is None:
        return None
    from cryptography.hazmat.primitives.padding import PKCS7

    padder = PKCS7(64).padder()
    encryptor = _cipher(password).encryptor()
    data = padder.update(text.encode()) + padder.finalize()
    return b64encode(encryptor.update(data) + encryptor.finalize()).decode()


def decrypted(password: str | None, text: str | None) -> str | None:
    """The text; a value that is no ciphertext of this password is returned as it is."""
    if password is None or text is None:
        return None
    from cryptography.hazmat.primitives.padding import PKCS7

    unpadder = PKCS7(64).unpadder()
    decryptor = _cipher(password).decryptor()
    try:
        data = decryptor.update(b64decode(text, validate=True)) + decryptor.finalize()
        return (unpadder.update(data) + unpadder.finalize()).decode()
    except ValueError:
        return text


def _cipher(password: str) -> "Cipher[Any]":
    from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
    from cryptography.hazmat.primitives.ciphers import Cipher, modes

    if len(password) < _SHORTEST:
        raise ValueError("the password of DES_ENCRYPT and DES_DECRYPT needs 8 characters at least")
    return Cipher(TripleDES(password.encode()[:8] * 3), modes.CBC(_IV))
