"""The functions of SeaTunnel's SQL that Spark lacks, by known values."""

import pytest

from engine.functions.des import decrypted, encrypted
from engine.functions.murmur import murmur64


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", 0),
        ("hello world", 5998619086395760910),
        ("The quick brown fox jumps over the lazy dog", -2068352364225029268),
        (None, None),
    ],
)
def test_murmur64_is_the_lower_half_of_murmurhash3(text, value):
    assert murmur64(text) == value


def test_des_goes_both_ways():
    secret = encrypted("1234567890", "Joy Ding")
    assert secret == "+jXI7ngL1UzB8yoBYEVgoQ=="
    assert decrypted("12345678", secret) == "Joy Ding"  # the key is the password's first eight bytes
    assert encrypted("12345678", None) is None


def test_des_leaves_a_text_that_it_did_not_encrypt():
    assert decrypted("12345678", "Joy Ding") == "Joy Ding"


def test_des_needs_eight_characters():
    with pytest.raises(ValueError, match="8 characters"):
        encrypted("short", "x")
