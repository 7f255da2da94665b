"""MurmurHash3 of 128 bits, x64, seed 0: its lower 64 bits, as SeaTunnel's `MURMUR64` (Guava's `murmur3_128`).

Runs in Spark's Python workers, which get this module by value: it imports nothing of Penstock.
"""

import struct
from typing import Final

_MASK: Final = (1 << 64) - 1
_FIRST: Final = 0x87C37B91114253D5
_SECOND: Final = 0x4CF5AD432745937F


def murmur64(text: str | None) -> int | None:
    """The hash of the text's UTF-8 bytes, as a signed number of 64 bits."""
    if text is None:
        return None
    data = text.encode()
    first = second = 0
    whole = len(data) - len(data) % 16
    for one, two in struct.iter_unpack("<QQ", data[:whole]):
        first = (_rotated(first ^ _mixed_first(one), 27) + second) * 5 + 0x52DCE729 & _MASK
        second = (_rotated(second ^ _mixed_second(two), 31) + first) * 5 + 0x38495AB5 & _MASK
    if len(data) > whole:
        one, two = struct.unpack("<QQ", data[whole:].ljust(16, b"\0"))
        first ^= _mixed_first(one)
        second ^= _mixed_second(two)
    first, second = first ^ len(data), second ^ len(data)
    first = first + second & _MASK
    second = second + first & _MASK
    result = _finished(first) + _finished(second) & _MASK
    return result - (1 << 64) if result >> 63 else result


def _mixed_first(value: int) -> int:
    return _rotated(value * _FIRST & _MASK, 31) * _SECOND & _MASK


def _mixed_second(value: int) -> int:
    return _rotated(value * _SECOND & _MASK, 33) * _FIRST & _MASK


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & _MASK


def _finished(value: int) -> int:
    value = (value ^ value >> 33) * 0xFF51AFD7ED558CCD & _MASK
    value = (value ^ value >> 33) * 0xC4CEB9FE1A85EC53 & _MASK
    return value ^ value >> 33
