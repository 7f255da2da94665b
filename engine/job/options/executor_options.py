"""The options `slots` of `env` as Spark's settings of executors."""

from collections.abc import Mapping
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Options

_DYNAMIC: Final = "spark.dynamicAllocation"


def executors(options: Options, diagnostics: Diagnostics) -> Mapping[str, str]:
    """The settings that the options mean; none where `slots.mode` is not given. Those of the job itself win.

    Shuffle files are tracked, so that an executor that has some stays, without a shuffle service.
    """
    mode, fewest, most = options.get("slots.mode"), options.get("slots.min"), options.get("slots.max")
    idle = options.get("slots.idle_timeout")
    _check(options, diagnostics)
    if mode is None:
        return {}
    if str(mode).lower() == "fixed":
        found = {f"{_DYNAMIC}.enabled": "false", "spark.executor.instances": most}
    else:
        found = {
            f"{_DYNAMIC}.enabled": "true",
            f"{_DYNAMIC}.shuffleTracking.enabled": "true",
            f"{_DYNAMIC}.minExecutors": fewest,
            f"{_DYNAMIC}.maxExecutors": most,
            f"{_DYNAMIC}.executorIdleTimeout": None if idle is None else f"{idle}s",
        }
    return {name: str(value) for name, value in found.items() if value is not None}


def _check(options: Options, diagnostics: Diagnostics) -> None:
    mode = str(options.get("slots.mode") or "").lower()
    fewest, most = options.get("slots.min"), options.get("slots.max")
    without = {"": ("slots.min", "slots.max", "slots.idle_timeout"), "fixed": ("slots.min", "slots.idle_timeout")}
    for name in without.get(mode, ()):
        if options.get(name) is not None:
            message = f"`{name}` has no effect without `slots.mode = dynamic`"
            diagnostics.error("PEN2011", message, options.span(name), "give the mode, or leave it out")
    if mode == "fixed" and most is None:
        help = "slots { mode = fixed, max = 4 }"
        diagnostics.error("PEN2005", "`slots.mode = fixed` needs `slots.max`", options.span("slots.mode"), help)
    if isinstance(fewest, int) and isinstance(most, int) and fewest > most:
        message = f"`slots.min` is {fewest}, above `slots.max`, which is {most}"
        diagnostics.error("PEN2004", message, options.span("slots.min"))
