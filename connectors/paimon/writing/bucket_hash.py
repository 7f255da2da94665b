"""The buckets of many rows at once, as Paimon's default bucket function has them.

A row's bucket is `abs(hash % buckets)`, with the Murmur3 hash of the row's bucket key as a `BinaryRow`: a word of null
bits, a word for each column, then what does not fit in a word (texts of more than 7 bytes, microseconds). pypaimon
computes the same, in a loop over the rows.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pyarrow

_SEED: Final = 42
_INLINE: Final = 7
"""Texts of up to so many bytes are in the word of their column."""


def buckets_of(columns: "Sequence[pyarrow.Array]", buckets: int) -> Any:
    """The bucket of each row as a numpy array; None for types, or NULLs, that are left to pypaimon."""
    found = hashes_of(columns)
    return None if found is None else places_of(found, buckets)


def places_of(hashes: Any, count: int) -> Any:
    """Which of so many buckets, or assigners, Paimon gives to hashes: a numpy array for one."""
    import numpy as np

    return np.abs(np.fmod(hashes.astype(np.int64), count)).astype(np.int32)


def hashes_of(columns: "Sequence[pyarrow.Array]") -> Any:
    """The hash of each row's key as a numpy array; None for types, or NULLs, that are left to pypaimon."""
    import numpy as np

    words = [_words(column) for column in columns]
    if any(found is None for found in words) or any(column.null_count for column in columns):
        return None
    rows = len(columns[0])
    found = np.zeros(rows, np.uint32)
    sizes = [column.sizes for column in words if column is not None]
    for members in _groups(sizes):
        parts = [np.zeros((len(members), 1), np.uint64)]  # no NULLs, the row kind +I
        offset, tail = 8 * (1 + len(words)), []
        for column in words:
            assert column is not None
            size = int(column.sizes[members[0]])
            parts.append(column.word(members, offset)[:, None])
            tail.append(column.rest(members, size))
            offset += 8 * size
        found[members] = _murmur(np.concatenate([*parts, *tail], axis=1))
    return found.view(np.int32)


def _groups(sizes: Sequence[Any]) -> Iterator[Any]:
    """The rows whose columns have equal numbers of words."""
    import numpy as np

    _, group = np.unique(np.stack(sizes, axis=1), axis=0, return_inverse=True)
    group = group.reshape(-1)
    order = np.argsort(group, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(group[order])) + 1) if len(order) else ()


def _words(column: "pyarrow.Array") -> "_Fixed | _Texts | _Micros | None":
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    type = column.type
    if pa.types.is_string(type) or pa.types.is_binary(type):
        return _Texts(column)
    if pa.types.is_timestamp(type):
        numbers = column.cast(pa.int64()).to_numpy(zero_copy_only=False)
        match type.unit:
            case "us":
                return _Micros(numbers)
            case "ms":
                return _Fixed(numbers.view(np.uint64))
            case "s":
                return _Fixed((numbers * 1000).view(np.uint64))
        return None
    if pa.types.is_decimal(type):
        if type.precision > 18:
            return None
        unscaled = np.frombuffer(column.buffers()[1], np.uint64).reshape(-1, 2)
        return _Fixed(unscaled[column.offset : column.offset + len(column), 0])
    if pa.types.is_boolean(type):
        return _Fixed(pc.cast(column, pa.uint8()).to_numpy(zero_copy_only=False).astype(np.uint64))
    if pa.types.is_date32(type):
        column, type = column.cast(pa.int32()), pa.int32()
    if pa.types.is_signed_integer(type):  # in the first bytes of the word, the others are 0
        numbers = column.to_numpy(zero_copy_only=False)
        return _Fixed(numbers.view(np.dtype(f"u{numbers.itemsize}")).astype(np.uint64))
    return None


class _Fixed:
    """A column whose values are in their word."""

    def __init__(self, numbers: Any) -> None:
        import numpy as np

        self.numbers = numbers
        self.sizes = np.zeros(len(numbers), np.int64)

    def word(self, members: Any, offset: int) -> Any:
        return self.numbers[members]

    def rest(self, members: Any, size: int) -> Any:
        import numpy as np

        return np.zeros((len(members), 0), np.uint64)


class _Micros:
    """A column of times: milliseconds after the words, the nanoseconds in them next to their offset."""

    def __init__(self, micros: Any) -> None:
        import numpy as np

        self.millis = (micros // 1000).view(np.uint64)
        self.nanos = (micros % 1000 * 1000).view(np.uint64)
        self.sizes = np.ones(len(micros), np.int64)

    def word(self, members: Any, offset: int) -> Any:
        import numpy as np

        return np.uint64(offset << 32) | self.nanos[members]

    def rest(self, members: Any, size: int) -> Any:
        return self.millis[members][:, None]


class _Texts:
    """A column of texts or bytes: short ones in their word, longer ones after the words, padded to 8 bytes."""

    def __init__(self, column: "pyarrow.Array") -> None:
        import numpy as np

        _, offsets, data = column.buffers()
        bounds = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1].astype(np.int64)
        self.starts, self.lengths = bounds[:-1], np.diff(bounds)
        self.data = np.frombuffer(data or b"", np.uint8)
        self.sizes = np.where(self.lengths > _INLINE, (self.lengths + 7) // 8, 0)

    def word(self, members: Any, offset: int) -> Any:
        import numpy as np

        lengths = self.lengths[members].astype(np.uint64)
        inline = self._bytes(members, 1)[:, 0] | (np.uint64(0x80) | lengths) << np.uint64(56)
        return np.where(self.sizes[members] > 0, np.uint64(offset << 32) | lengths, inline)

    def rest(self, members: Any, size: int) -> Any:
        return self._bytes(members, size)

    def _bytes(self, members: Any, words: int) -> Any:
        """The first so many words of each text, filled with zeros."""
        import numpy as np

        places = np.arange(8 * words)
        if not len(self.data):
            return np.zeros((len(members), words), np.uint64)
        indices = np.minimum(self.starts[members][:, None] + places, len(self.data) - 1)
        inside = places < self.lengths[members][:, None]
        return np.ascontiguousarray(np.where(inside, self.data[indices], np.uint8(0))).view("<u8")


def _murmur(words: Any) -> Any:
    """Murmur3 of each row of 8-byte words, without the tail that rows of words do not have."""
    import numpy as np

    halves = np.ascontiguousarray(words).view("<u4")
    found = np.full(len(halves), _SEED, np.uint32)
    for part in halves.T:
        mixed = _rotated(part * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
        found = _rotated(found ^ mixed, 13) * np.uint32(5) + np.uint32(0xE6546B64)
    found = found ^ np.uint32(4 * halves.shape[1])
    found = (found ^ (found >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    found = (found ^ (found >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return found ^ (found >> np.uint32(16))


def _rotated(numbers: Any, bits: int) -> Any:
    import numpy as np

    return (numbers << np.uint32(bits)) | (numbers >> np.uint32(32 - bits))
