"""Tasks that run until a test lets them end, on a machine of any speed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

_PARK = "java_method('java.util.concurrent.locks.LockSupport', 'parkNanos', 5000000L)"
_IS_INTERRUPTED = "java_method('java.lang.Thread', 'interrupted')"  # which also clears the mark


@dataclass(frozen=True)
class Gate:
    """`waits`: SQL of a BIGINT, whose value is there once the gate is open; what interrupts its task does not end it.
    `is_met` tells whether a task has come to it."""

    system: Any
    name: str

    @property
    def waits(self) -> str:
        met = f"java_method('java.lang.System', 'setProperty', '{self.name}.met', 'yes')"
        state = f"java_method('java.lang.System', 'getProperty', '{self.name}')"
        turn = f"length({met}) + length({_IS_INTERRUPTED}) + coalesce(length({_PARK}), 0)"
        return f"aggregate(sequence(1, 100000), 0L, (sum, i) -> if({state} = 'closed', sum + {turn}, sum))"

    @property
    def waits_for_another(self) -> str:
        """SQL of a BIGINT, whose value is there once a task has come to `waits`."""
        met = f"java_method('java.lang.System', 'getProperty', '{self.name}.met')"
        turn = f"coalesce(length({_PARK}), 0)"
        return f"aggregate(sequence(1, 100000), 0L, (sum, i) -> if(coalesce({met}, '') <> 'yes', sum + {turn}, sum))"

    def is_met(self) -> bool:
        return self.system.getProperty(f"{self.name}.met") is not None

    def open(self) -> None:
        self.system.setProperty(self.name, "open")


@contextmanager
def closed_gate(spark: Any) -> Iterator[Gate]:
    """A gate that is closed at first, and open when the test ends."""
    gate = Gate(spark.sparkContext._jvm.java.lang.System, f"penstock.tests.{uuid4().hex}")
    gate.system.setProperty(gate.name, "closed")
    try:
        yield gate
    finally:
        gate.open()
