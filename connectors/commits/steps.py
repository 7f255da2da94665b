"""The text of a small file on which an ending relies: JSON with a checksum, so that damage is noticed."""

import json
import zlib
from collections.abc import Mapping
from typing import Any, Final

_CHECKSUM: Final = "checksum"


def step_text(content: Mapping[str, Any]) -> str:
    return json.dumps({**content, _CHECKSUM: _checksum(content)})


def read_step(text: str) -> dict[str, Any]:
    """The content; raises ValueError with the reason if the text is damaged. One without a checksum is not checked."""
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError("it is not a JSON object")
    checksum = found.pop(_CHECKSUM, None)
    if checksum is not None and checksum != _checksum(found):
        raise ValueError("its checksum does not match its content")
    return found


def _checksum(content: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())
