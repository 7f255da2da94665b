"""Names of collations of strings, as Spark 4.1 has them: `UTF8_LCASE`, `UNICODE_CI`, `de`, `sr_Cyrl_SRB_AI_RTRIM`.

A name is a base and modifiers, in any case and order: `CI` and `AI` ignore case and accents (`CS` and `AS`, the
defaults, do not), `RTRIM` ignores trailing spaces. The bases are those of `collations()` of a live Spark, and a test
compares all names with it.
"""

from collections.abc import Iterator
from itertools import product
from typing import Final

from catalog.diagnostics.diagnostic import did_you_mean

BINARY_COLLATION: Final = "UTF8_BINARY"
INDETERMINATE: Final = "null"
"""What Spark calls the collation of a string that is made of strings with different ones."""

_BYTEWISE: Final = (BINARY_COLLATION, "UTF8_LCASE")
_LOCALES: Final = """
UNICODE af am ar ar_SAU as az be bg bn bo br bs bs_Cyrl ca ceb chr cs cy da de de_AUT dsb dz ee el en en_USA eo es et
fa fa_AFG ff ff_Adlm fi fil fo fr fr_CAN fy ga gl gu ha haw he he_ISR hi hr hsb hu hy id id_IDN ig is it ja ka kk kl
km kn ko kok ku ky lb lij lkt ln lo lt lv mk ml mn mr ms mt my nb nb_NOR ne nl nn no nso om or pa pa_Guru pa_Guru_IND
pl ps pt ro ru sa se si sk sl smn sq sr sr_Cyrl sr_Cyrl_BIH sr_Cyrl_MNE sr_Cyrl_SRB sr_Latn sr_Latn_BIH sr_Latn_SRB st
sv sw ta te th tk tn to tr ug uk ur uz vi wae wo xh yi yo zh zh_Hans zh_Hans_CHN zh_Hans_SGP zh_Hant zh_Hant_HKG
zh_Hant_MAC zh_Hant_TWN zu
"""
_BASES: Final = {name.upper(): name for name in (*_BYTEWISE, *_LOCALES.split())}
_MODIFIERS: Final = {"CI": "CI", "CS": "CI", "AI": "AI", "AS": "AI", "RTRIM": "RTRIM"}
"""Each modifier, and the one that it excludes: both say the same of a collation, or the opposite."""
_SCHEMA: Final = ("SYSTEM", "BUILTIN")


def full_name(name: str) -> str | None:
    """The name as Spark prints it, of one in any case and with its modifiers in any order; None: there is none."""
    *schema, written = name.upper().split(".")
    if schema and tuple(schema) != _SCHEMA:
        return None
    parts = written.split("_")
    given: list[str] = []
    while len(parts) > 1 and parts[-1] in _MODIFIERS:
        given.append(parts.pop())
    base = _BASES.get("_".join(parts))
    kinds = [_MODIFIERS[modifier] for modifier in given]
    if base is None or len(set(kinds)) < len(kinds) or (base in _BYTEWISE and set(given) - {"RTRIM"}):
        return None
    return "_".join((base, *(modifier for modifier in ("CI", "AI", "RTRIM") if modifier in given)))


def all_names() -> Iterator[str]:
    """The names of `collations()`."""
    for base in _BASES.values():
        choices = [("",), ("",)] if base in _BYTEWISE else [("", "_CI"), ("", "_AI")]
        yield from (base + "".join(modifiers) for modifiers in product(*choices, ("", "_RTRIM")))


def unknown_collation(name: str) -> tuple[str, str | None]:
    """The message and the help of an error for a name that no collation has."""
    help = did_you_mean(name.lower(), {each.lower(): each for each in all_names()})
    close = help if help is not None and help.startswith("did") else None
    return f"there is no collation `{name}`", close or "`select * from collations()` lists them"
