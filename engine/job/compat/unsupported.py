"""Options that are known from Apache SeaTunnel and not supported here, with the reason."""

from dataclasses import dataclass

from catalog.options import Value


@dataclass(frozen=True, slots=True)
class Unsupported:
    """`reason` says why, or what to use instead. `harmless` are the values with which the option changes nothing.

    `is_ignored`: leaving the option out changes no row, so that under `--compat seatunnel` it is only a warning.
    """

    reason: str
    harmless: tuple[Value, ...] = ()
    is_ignored: bool = False

    def allows(self, value: Value) -> bool:
        return any(str(value).lower() == str(harmless).lower() for harmless in self.harmless)
