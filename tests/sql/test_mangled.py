"""No text makes the analyzer raise, or take long."""

import pytest

from tests.oracle import mangled


def test_mangled_texts_neither_raise_nor_hang():
    assert list(mangled.failures(400)) == []


@pytest.mark.soak
def test_many_mangled_texts_neither_raise_nor_hang():
    assert list(mangled.failures(200_000, seed=1_000)) == []
