"""The secrets of a job file: options read from files, and encrypted values.

`env { shade.identifier = "aes-gcm" }` says that sensitive options may be encrypted; such a value begins with
`aes-gcm:` and holds, in base64, a nonce of 12 bytes and the ciphertext with its tag. Under `base64`, Apache SeaTunnel's
default, every sensitive option is plain base64: that hides nothing and is read for compatibility alone.
"""

import base64
import binascii
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import Span
from catalog.masks import Masks
from catalog.options import Option, Value
from catalog.secret_names import HIDDEN
from engine.job.model.tree import TextNode

KEY_VARIABLE: Final = "PENSTOCK_SHADE_KEY"
PREFIX: Final = "aes-gcm:"
SHADED_NAMES: Final = ("password", "username", "user", "auth", "token", "access_key", "secret_key")
"""What Apache SeaTunnel encrypts by default (`ConfigShadeUtils`), with the options that a spec calls sensitive."""

_NONCE_BYTES: Final = 12
_KEY_BYTES: Final = (16, 24, 32)


class Shade(str, Enum):
    """How sensitive options are encrypted."""

    NONE = "default"
    BASE64 = "base64"
    AES_GCM = "aes-gcm"


class SecretError(ValueError):
    """The reason why a secret cannot be read; never contains the secret."""


@dataclass(frozen=True, slots=True)
class Secrets:
    """Reads the secrets of one job. If not `are_read`, all are `******`, so that CI needs none of them.

    `folder` is the job file's, to which names of secret files are relative; `names` are further encrypted options.
    `masks` learn every secret.
    """

    are_read: bool = False
    shade: Shade = Shade.NONE
    folder: str = "."
    names: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    masks: Masks = field(default_factory=Masks, repr=False)

    def opened(self, value: Value, option: Option, span: Span, diagnostics: Diagnostics) -> Value:
        """The value, decrypted where its option is one of those that may be encrypted."""
        if not isinstance(value, str) or not self.are_read or not self.covers(option):
            return value
        try:
            return decrypt(value, self.shade, self.environment)
        except SecretError as error:
            diagnostics.error("PEN1005", f"`{option.name}` cannot be decrypted: {error}", span)
            return value

    def covers(self, option: Option) -> bool:
        return option.sensitive or option.name in SHADED_NAMES or option.name in self.names

    def from_file(self, name: TextNode, diagnostics: Diagnostics) -> str:
        """The contents of a secret file, without the final line end."""
        if not self.are_read or not name.is_resolved:
            return HIDDEN
        try:
            return (Path(self.folder) / name.value).read_text(encoding="utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            diagnostics.error("PEN1005", f"the secret file `{name.value}` cannot be read: {why}", name.place.span)
            return HIDDEN


def new_key() -> str:
    """A key of 32 random bytes for `PENSTOCK_SHADE_KEY`, as base64."""
    return base64.b64encode(os.urandom(32)).decode()


def encrypt(value: str, shade: Shade, environment: Mapping[str, str]) -> str:
    """The encrypted value, as it is put into a job file; raises `SecretError`."""
    match shade:
        case Shade.NONE:
            return value
        case Shade.BASE64:
            return base64.b64encode(value.encode()).decode()
        case Shade.AES_GCM:
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM

            nonce = os.urandom(_NONCE_BYTES)
            return (
                PREFIX
                + base64.b64encode(nonce + AESGCM(_key(environment)).encrypt(nonce, value.encode(), None)).decode()
            )


def decrypt(value: str, shade: Shade, environment: Mapping[str, str]) -> str:
    """The value that was encrypted; under `aes-gcm` a value without the prefix is unchanged. Raises `SecretError`."""
    match shade:
        case Shade.NONE:
            return value
        case Shade.BASE64:
            return _text(_bytes(value))
        case Shade.AES_GCM:
            return _decrypt_aes(value[len(PREFIX) :], environment) if value.startswith(PREFIX) else value


def _decrypt_aes(text: str, environment: Mapping[str, str]) -> str:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    sealed = _bytes(text)
    try:
        return _text(AESGCM(_key(environment)).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], None))
    except (InvalidTag, ValueError) as error:
        if isinstance(error, SecretError):
            raise
        raise SecretError(f"it was encrypted with another key than {KEY_VARIABLE}, or altered") from None


def _key(environment: Mapping[str, str]) -> bytes:
    if not environment.get(KEY_VARIABLE):
        raise SecretError(
            f"the environment variable {KEY_VARIABLE} is not set; `penstock encrypt --new-key` makes a key"
        )
    try:
        key = base64.b64decode(environment[KEY_VARIABLE], validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) not in _KEY_BYTES:
        raise SecretError(
            f"{KEY_VARIABLE} is not 16, 24 or 32 bytes in base64 (`penstock encrypt --new-key` makes one)"
        )
    return key


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise SecretError("it is not base64") from None


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise SecretError("what it holds is not UTF-8") from None
