"""The parts of an address, whatever a job writes for one."""

import re
from urllib.parse import SplitResult, urlsplit


def split_location(uri: str) -> SplitResult:
    """The parts of a URI. One that Python refuses, such as `s3a://[x/y`, is split at its slashes: whatever opens it
    reports what is wrong with it."""
    try:
        parts = urlsplit(uri)
        _ = parts.port  # raises for what is no number
    except ValueError:
        scheme, _, rest = uri.partition("://")
        name, slash, path = rest.partition("/")
        return SplitResult(scheme.lower(), re.sub(r"[\[\]]|:[^:@]*$", "", name), slash + path, "", "")
    return parts
