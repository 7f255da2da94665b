"""Options of a connector as a job gives them, without a job and without Spark."""

from collections.abc import Sequence

from catalog.diagnostics.source import Span
from catalog.options import Option, Options, Value

PLACE = Span("job.conf", 1, 1, 1, 2)


def options_of(spec: Sequence[Option], **given: Value) -> Options:
    """The options with their defaults; `__` in a name stands for a dot."""
    given = {name.replace("__", "."): value for name, value in given.items()}
    known = {option.name for option in spec}
    assert set(given) <= known, set(given) - known
    values = {option.name: option.default for option in spec} | given
    return Options(values, PLACE, dict.fromkeys(given, PLACE))
