"""Spark's master, before Java is started for it: Spark itself says nothing for a minute, or prints its log."""

import re
import socket
from typing import Final

from catalog.diagnostics.diagnostic import run_error

_FORMS: Final = (
    r"local", r"local\[(?:\*|[1-9]\d*)(?:, *[1-9]\d*)?\]", r"local-cluster\[ *\d+ *, *\d+ *, *\d+ *\]", r"yarn",
    r"k8s://\S+", r"spark://[^\s,/]+(?:,[^\s,/]+)*",
)  # fmt: skip
_KNOWN: Final = "`local[N]`, `local[*]`, `spark://host:7077`, `yarn` and `k8s://host:port` are masters"
_HOST: Final = re.compile(r"(?:\w+://)*(?P<host>\[[^\]]+\]|[^:/,\s]+)(?::(?P<port>\d+))?")
_PORTS: Final = {"spark": 7077, "k8s": 443}
_SECONDS: Final = 5.0


def check_master(master: str) -> None:
    """Raises PEN5402 if the text is no master of Spark's, or none of its hosts answers."""
    if not any(re.fullmatch(form, master.strip()) for form in _FORMS):
        raise run_error("PEN5402", f"`{master}` is no master of Spark", None, _KNOWN)
    scheme, _, rest = master.strip().partition("://")
    if scheme not in _PORTS or not rest:
        return
    hosts = [found for text in rest.split(",") if (found := _HOST.match(text))]
    reasons = []
    for host in hosts:
        name = host["host"].strip("[]")
        try:
            socket.create_connection((name, int(host["port"] or _PORTS[scheme])), timeout=_SECONDS).close()
            return
        except OSError as error:
            reasons.append(f"{name}: {error.strerror or error}")
    help = "check that it is running, and that this machine reaches it"
    raise run_error("PEN5402", f"no master answers at `{master}` ({'; '.join(reasons)})", None, help)
