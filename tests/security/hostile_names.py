"""Names that a database, a catalog or a file may have, and that would mean something in another place."""

import random
from collections.abc import Iterator

NAMES = (
    "../escaped", "..", ".", "a/b", "/etc/passwd", "a\\b", "..\\up", "~root", "~", ".hidden", "a/../../b", "%2e%2e",
    "file:///tmp/x", "s3a:x", "a:b", "a*", "a?", "[ab]", "{a,b}", "a,b", "a b", " lead", "trail ", "\ttab",
    "other.users", "a.b.c", ".a", "a.", "a..b", '"quoted"', 'a"b', 'a""b', "`a`", "a`b", "[x]", "a]b", "''", "a'b",
    "a'; drop table public.victim; --", 'a"; drop table public.victim; --', "a`; drop table victim; --", "a); drop",
    "a -- comment", "a/*b*/", "a;b", "a$$b", "$$", "a::int", "?", ":name", "a?b", "\\'; drop table t; --", "a\\",
    "${env:TOKEN}", "${system:user.home}", "${spark:x}", "${table_name}", "$${x}", "${k0}", "${now}", "${uuid}",
    "a\nb", "a\r\nb", "a\x00b", "\x00", "a\x1b[31mred", "\x1b]0;title\x07", "\u202egnp.exe", "a\u2028b", "\u200bzero",
    "\ud800", "a\udfff", "::add-mask::x", "::set-output name=a::b", "##[error]x", "\n::error::x", "\x85next", "\x7f",
    "<script>alert(1)</script>", "</script><script>alert(1)</script>", "<!--<script>", "-->", "<img src=x onerror=a()>",
    "&lt;", "/*DATA*/", "/*TITLE*/", "/*SCRIPT*/", "/*STYLE*/", "javascript:alert(1)", "'+alert(1)+'", "__proto__",
    "constructor", "toString", "hasOwnProperty", "=cmd|' /C calc'!A0", "+1", "-1", "@x", "%s", "%n", "{0}", "{}",
    "select", "SELECT", "NULL", "null", "true", "1", "1e5", "0x1", "é", "表", "Ω", "𝒳", "🙂", "a\u0301", "İ", "ß", "ﬁ",
    "x" * 64, "x" * 256, "é" * 128, "CON", "NUL", "_SUCCESS", "_temporary", "_delta_log", "metadata", "a=b", "p=1",
    "__HIVE_DEFAULT_PARTITION__", "a#b", "a&b", "a|b", "a>b", "a^b", "!", "a@b", "a+b", "a--b", "--", "-", "-rf", "#",
)  # fmt: skip

_PIECES = (
    *"ab/.\\ \t'\"`;:,-_$%*?[]{}()<>&|#!@=+~^\n\r\x00\x1b\x07\u202e\u2028\ud800é表", "..", "../", "--", "/*", "*/",
    "${env:A}", "${x}", "drop table t", "::", "::error::", "</script>", "<!--", "\\'", '""', "''",
)  # fmt: skip


def random_names(count: int, seed: int) -> Iterator[str]:
    """Names made of pieces that mean something somewhere."""
    dice = random.Random(seed)
    for _ in range(count):
        yield "".join(dice.choice(_PIECES) for _ in range(dice.randint(1, 8)))
