"""Queries as MongoDB's shell writes them, as extended JSON: names without quotes, `ISODate("…")`, `ObjectId("…")`.

{status: 'A', at: {$gte: ISODate("2024-05-01")}}     {"status": "A", "at": {"$gte": {"$date": "2024-05-01"}}}
"""

import json
import re
from typing import Final

_TOKEN: Final = re.compile(
    r"""(?P<double>"(?:[^"\\]|\\.)*")|(?P<single>'(?:[^'\\]|\\.)*')"""
    r"""|(?P<call>ISODate|ObjectId|NumberLong|NumberInt|NumberDecimal)\(\s*(?P<argument>"[^"]*"|'[^']*'|-?\d+)\s*\)"""
    r"""|(?P<name>[A-Za-z_$][\w$.]*)(?=\s*:)|(?P<other>.)""",
    re.DOTALL,
)
_CALLS: Final = {
    "ISODate": "$date",
    "ObjectId": "$oid",
    "NumberLong": "$numberLong",
    "NumberInt": "$numberInt",
    "NumberDecimal": "$numberDecimal",
}


def extended_json(text: str) -> str:
    """Raises ValueError for what is no object."""
    found = "".join(map(_written, _TOKEN.finditer(text)))
    if not isinstance(json.loads(found), dict):
        raise ValueError(f"`{text}` is no object")
    return found


def _written(token: re.Match[str]) -> str:
    if token["single"]:
        return json.dumps(token["single"][1:-1].replace("\\'", "'"))
    if token["name"]:
        return json.dumps(token["name"])
    if token["call"]:
        argument = token["argument"].strip("\"'")
        if token["call"] == "ISODate" and "T" not in argument:
            argument += "T00:00:00Z"
        return json.dumps({_CALLS[token["call"]]: argument})
    return token[0]
