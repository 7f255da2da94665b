"""Which operators of a query Comet executes, and why Spark executes the others.

    +-  Project [COMET: soundex is not supported]

Comet adds this tree to the text of a plan (`ExtendedExplainInfo`). The write itself is left out: it is always Spark's.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from catalog.options import Value
from engine.runtime.counting.comet_operators import PREFIX, plain_name

HEAD: Final = "== Extended Information (Comet) =="
"""The line in front of what Comet says, in the text of a plan."""
_MARGIN: Final = re.compile(r"^[\s:+-]*")
_REASON: Final = re.compile(r"\s*\[COMET: (.*?)\](?= \[COMET-INFO: |$)")
_INFO: Final = re.compile(r"\s*\[COMET-INFO: .*\]$")
_ADVICE: Final = re.compile(r"\.? (?:To enable it anyway, set|Set spark\.comet|For more information, refer).*$")
_ADDRESS: Final = re.compile(r" ?\(https?://[^)]*\)")
_WRAPS: Final = (
    "AdaptiveSparkPlan", "InputAdapter", "ShuffleQueryStage", "BroadcastQueryStage", "TableCacheQueryStage",
    "ResultQueryStage", "WholeStageCodegen", "ReusedExchange", "ReusedSubquery", "AQEShuffleRead",
)  # fmt: skip
"""Operators that hold others and do no work of their own."""
_CONVERTS: Final = (
    "RowToColumnar", "ColumnarToRow", "CometColumnarToRow", "CometNativeColumnarToRow", "CometSparkColumnarToColumnar",
    "CometSparkRowToColumnar",
)  # fmt: skip
_WRITES: Final = (
    "Execute ", "WriteFiles", "AppendData", "Overwrite", "ReplaceData", "WriteDelta", "CreateTable", "ReplaceTable",
    "WriteToDataSource", "AtomicCreateTable", "AtomicReplaceTable", "CommandResult",
)  # fmt: skip


@dataclass(frozen=True, order=True, slots=True)
class Fallback:
    """An operator that Spark executes, and Comet's reason; `place`: of the call in the SQL that causes it."""

    operator: str
    reason: str
    place: str | None = None

    def __str__(self) -> str:
        return f"{self.operator}: {self.reason}{f' ({self.place})' if self.place else ''}"


@dataclass(frozen=True, slots=True)
class NativeShare:
    """How many of the operators are native. An operator without a reason of its own follows one that has fallen
    back."""

    native: int = 0
    operators: int = 0
    fallbacks: tuple[Fallback, ...] = ()

    @property
    def as_json(self) -> dict[str, Value]:
        """For the ledger and other programs."""
        return {
            "native": self.native,
            "operators": self.operators,
            "fallbacks": [str(fallback) for fallback in self.fallbacks],
        }

    @property
    def as_text(self) -> str:
        lines = (f"  by Spark: {fallback}" for fallback in self.fallbacks)
        return "\n".join([f"comet: {self.native} of {self.operators} operators are native", *lines])


def native_share(plan: str) -> NativeShare | None:
    """What Comet says in the text of a plan; None where it says nothing."""
    _, head, tree = plan.partition(HEAD)
    if not head:
        return None
    found = list(_operators(tree.strip("\n").partition("\n\n")[0].splitlines()))
    fallbacks = {Fallback(plain_name(name), reason) for name, reason in found if reason}
    return NativeShare(sum(name.startswith(PREFIX) for name, _ in found), len(found), tuple(sorted(fallbacks)))


def together(shares: Iterable[NativeShare | None]) -> NativeShare | None:
    """The share over several queries; None where none has one."""
    known = [share for share in shares if share is not None]
    if not known:
        return None
    fallbacks = {fallback for share in known for fallback in share.fallbacks}
    native, operators = sum(share.native for share in known), sum(share.operators for share in known)
    return NativeShare(native, operators, tuple(sorted(fallbacks, key=str)))


def _operators(lines: Iterable[str]) -> Iterator[tuple[str, str | None]]:
    """Each operator that works, and the reason for which Spark executes it."""
    for line in lines:
        text = _INFO.sub("", _MARGIN.sub("", line))
        reason = _REASON.search(text)
        name = (text[: reason.start()] if reason else text).strip()
        if name and not name.startswith((*_WRAPS, *_CONVERTS, *_WRITES)):
            yield name, _plain(reason[1]) if reason else None


def _plain(reason: str) -> str:
    """Comet's reason without advice and addresses."""
    return _ADDRESS.sub("", _ADVICE.sub("", reason)).strip()
