"""The masks of a session: what it knows to be secret, and nothing of another session."""

import pickle

from catalog.diagnostics.source import SourceFile
from catalog.masks import Masks


def test_a_known_secret_is_masked_wherever_it_is_a_word_of_its_own():
    masks = Masks()
    masks.add("sesame")
    assert masks.text("the password is sesame, not sesames") == "the password is ******, not sesames"
    assert masks.value({"a": ["sesame", 1], "token": "x"}) == {"a": ["******", 1], "token": "******"}


def test_another_session_does_not_know_it():
    Masks().add("sesame")
    assert Masks().text("sesame") == "sesame"


def test_a_secret_is_masked_in_json_too():
    masks = Masks()
    masks.add('open "sesame"')
    assert masks.known(r'{"error": "open \"sesame\""}') == '{"error": "******"}'


def test_short_words_are_not_masked():
    masks = Masks()
    masks.add("key")
    assert masks.text("a key") == "a key"


def test_ranges_are_known_by_the_name_and_the_text_of_a_file():
    masks = Masks()
    masks.hide(SourceFile("a.conf", "x = 1"), 4, 5)
    assert masks.hidden(SourceFile("a.conf", "x = 1")) == {(4, 5)}
    assert not masks.hidden(SourceFile("a.conf", "x = 2"))
    assert not masks.hidden(SourceFile("b.conf", "x = 1"))


def test_those_of_another_process_are_added():
    theirs, ours = Masks(), Masks()
    theirs.add("sesame")
    theirs.hide(SourceFile("a.conf", "x = 1"), 4, 5)
    ours.merge(pickle.loads(pickle.dumps(theirs)))
    assert ours.text("sesame") == "******"
    assert ours.hidden(SourceFile("a.conf", "x = 1")) == {(4, 5)}


def test_a_password_that_is_an_ordinary_word_is_masked_as_a_value_alone():
    masks = Masks()
    for word in ("root", "password", "test"):
        masks.add(word)
    for plain in ("relative to the root of the project.", '"root": 1', "password = x", "run the test (test) first"):
        assert masks.known(plain) == plain
    for text, shown in {
        "FATAL: for user root:root@h": "FATAL: for user root:******@h", "user 'root'@'h'": "user '******'@'h'",
        '{"a": "root"}': '{"a": "******"}', "password = root": "password = ******", "/root/x": "/******/x",
        "password=password": "password=******", "[test]": "[******]", "select `root`": "select `******`",
    }.items():  # fmt: skip
        assert masks.known(text) == shown
