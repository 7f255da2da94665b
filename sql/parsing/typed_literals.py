"""Typed literals: `DATE '2020-01-31'`, `TIMESTAMP '...'`; their texts, read as Spark's `SparkDateTimeUtils` does."""

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Final

from sqlglot.tokenizer_core import Token

from sql.parsing.parse import SyntaxIssue

_SPECIAL: Final = re.compile(r"(?i)(epoch|now|today|yesterday|tomorrow)[ \t]*(.*)", re.DOTALL)
_DAY: Final = r"([+-]?\d{4,%s})(?:-(\d{1,2})(?:-(\d{1,2})%s)?)?"
_DATE: Final = re.compile(_DAY % (7, r"(?:[ T].*)?"), re.ASCII | re.DOTALL)
_TIME: Final = r"(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?(\D.*)?)?)?"
_TIMESTAMP: Final = re.compile(_DAY % (6, rf"(?:[ T]{_TIME})?"), re.ASCII | re.DOTALL)
_TIME_ALONE: Final = re.compile(rf"(?=T|\d{{1,2}}:)T?{_TIME}", re.ASCII | re.DOTALL)
_AROUND: Final = "".join(map(chr, range(33))) + "\x7f"
"""What Spark trims: blanks and control characters."""

_OFFSET: Final = re.compile(r"([+-])(\d{1,2})(?::?(\d{1,2})(?::?(\d{2}))?)?", re.ASCII)
_NAMED_OFFSET: Final = re.compile(r"(?:UTC|GMT|UT)(?=[+-])|(?:UTC|GMT|UT|Z)$")
_SHORT_IDS_TEXT: Final = """
ACT Australia/Darwin AET Australia/Sydney AGT America/Argentina/Buenos_Aires ART Africa/Cairo AST America/Anchorage
BET America/Sao_Paulo BST Asia/Dhaka CAT Africa/Harare CNT America/St_Johns CST America/Chicago CTT Asia/Shanghai
EAT Africa/Addis_Ababa ECT Europe/Paris IET America/Indiana/Indianapolis IST Asia/Kolkata JST Asia/Tokyo
MIT Pacific/Apia NET Asia/Yerevan NST Pacific/Auckland PLT Asia/Karachi PNT America/Phoenix PRT America/Puerto_Rico
PST America/Los_Angeles SST Pacific/Guadalcanal VST Asia/Ho_Chi_Minh EST -05:00 HST -10:00 MST -07:00
"""
_WORDS: Final = _SHORT_IDS_TEXT.split()
_SHORT_IDS: Final = dict(zip(_WORDS[::2], _WORDS[1::2], strict=True))
"""Java's `ZoneId.SHORT_IDS`."""


@dataclass(frozen=True, slots=True)
class TimestampText:
    """A timestamp as written: `clock` to the second, up to 6 digits of its `fraction`, its zone if it has one.

    `day` is None where there is a time of day only; `clock` is None where no `datetime` can hold it (the year 12000).
    """

    clock: datetime | None
    fraction: str = ""
    zone: tzinfo | None = None
    has_day: bool = True

    def shown(self, *, in_utc: bool) -> str | None:
        """The literal's value as Spark prints it, in a session in UTC; None where it depends on the day of the run."""
        if self.clock is None or not self.has_day:
            return None
        moment = self.clock
        if in_utc and self.zone is not None:
            try:
                moment = moment.replace(tzinfo=self.zone).astimezone(timezone.utc)
            except OverflowError:
                return None
        fraction = self.fraction[:6].rstrip("0")
        return f"{moment.year:04d}-{moment:%m-%d %H:%M:%S}" + (f".{fraction}" if fraction else "")


def literal_issue(word: Token, literal: Token) -> Iterator[SyntaxIssue]:
    """The error of a literal of a type that a word before it names."""
    kind = word.text.upper()
    value = literal.text
    match kind:
        case "DATE" if not is_date(value):
            what = "date"
        case "TIMESTAMP" | "TIMESTAMP_NTZ" | "TIMESTAMP_LTZ" if read_timestamp(value) is None:
            what = "timestamp"
        case _:
            return
    message = f"'{value}' is no {what}"
    yield SyntaxIssue(literal.start, literal.end + 1, message, code="PEN3013")


_CLOCK: Final = re.compile(r"(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.\d*)?)?(?:\s*([AP]M))?", re.ASCII | re.IGNORECASE)


def is_time(value: str) -> bool:
    """Whether a text is `h:m[:s[.fraction]]`."""
    found = _CLOCK.fullmatch(value.strip())
    return found is not None and _is_time(found)


def _is_time(found: re.Match[str]) -> bool:
    hour, minute, second = (int(part) if part else 0 for part in found.groups()[:3])
    return (1 <= hour <= 12 if found[4] else hour < 24) and minute < 60 and second < 60


def is_date(value: str) -> bool:
    """As `stringToDate`: `[+-]yyyy[-M[-d[ T...]]]`, or a special word."""
    text = value.strip(_AROUND)
    if _is_special(text):
        return True
    found = _DATE.fullmatch(text)
    return found is not None and _day(found) is not None


def shown_date(value: str) -> str | None:
    """The value of a DATE literal as Spark prints it; None where it depends on the day of the run, or is no date."""
    text = value.strip(_AROUND)
    if _is_special(text):
        return "1970-01-01" if text[0] in "eE" else None
    found = _DATE.fullmatch(text)
    day = _day(found) if found is not None else None
    return f"{day[0]:04d}-{day[1]:02d}-{day[2]:02d}" if day is not None and 1 <= day[0] <= 9999 else None


def read_timestamp(value: str) -> TimestampText | None:
    """As `stringToTimestamp`: a date, a time of day or both, and a zone; None where the text is no timestamp."""
    text = value.strip(_AROUND)
    if _is_special(text):
        is_epoch = text[0] in "eE"
        return TimestampText(datetime(1970, 1, 1), has_day=is_epoch)
    if (found := _TIMESTAMP.fullmatch(text)) is not None:
        day = _day(found)
        rest = found.groups()[3:]
    elif (found := _TIME_ALONE.fullmatch(text)) is not None:
        day, rest = (1970, 1, 1), found.groups()
    else:
        return None
    hour, minute, second = (int(part or 0) for part in rest[:3])
    zone = _zone(rest[4].strip()) if rest[4] else None
    if day is None or hour > 23 or minute > 59 or second > 59 or (rest[4] and zone is None):
        return None
    clock = datetime(*day, hour, minute, second) if 1 <= day[0] <= 9999 else None
    return TimestampText(clock, rest[3] or "", zone, found.re is _TIMESTAMP)


def _is_special(text: str) -> bool:
    found = _SPECIAL.fullmatch(text)
    return found is not None and (not found[2] or _zone(found[2].strip()) is not None)


def _day(found: re.Match[str]) -> tuple[int, int, int] | None:
    year, month, day = (int(part) if part else 1 for part in found.groups()[:3])
    exists = 1 <= month <= 12 and 1 <= day <= monthrange(abs(year) % 400 + 400, month)[1]
    return (year, month, day) if exists else None


@lru_cache(maxsize=256)
def _zone(name: str) -> tzinfo | None:
    """The zone of that name or offset, as `ZoneId.of` with Java's short names; None if there is none."""
    name = _SHORT_IDS.get(name, name)
    prefix = _NAMED_OFFSET.match(name)
    rest = name[prefix.end() :] if prefix is not None else name
    if prefix is not None and not rest:
        return timezone.utc
    offset = _OFFSET.fullmatch(rest)
    if offset is not None:
        hours, minutes, seconds = (int(part or 0) for part in offset.groups()[1:])
        passed = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        if minutes > 59 or seconds > 59 or passed > timedelta(hours=18):
            return None
        return timezone(-passed if offset[1] == "-" else passed)
    return _region(name)


def _region(name: str) -> tzinfo | None:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # here, since few queries name one

    for known in (name, "Europe/Berlin"):
        try:
            zone = ZoneInfo(known)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            continue
        return zone if known == name else None
    return timezone.utc if "/" in name else None  # this machine has no zones: any region may be one
