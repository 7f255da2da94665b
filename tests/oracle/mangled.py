"""Texts that are no queries or jobs any more: with characters and tokens cut, doubled, swapped and put in.

`python -m tests.oracle.mangled 200000` analyzes that many and prints those that raise or take a second of CPU time.
Behind the number, the first seed may stand, and `jobs` for job files in HOCON and SQL instead of queries.
"""

import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator

from catalog.diagnostics.source import PlacedText
from sql.analyze import analyze
from tests.oracle.mutants import tokens
from tests.oracle.queries import QueryGenerator
from tests.oracle.tables import ALL

TABLES = {table.path.table: table for table in ALL}
MOST_SECONDS = 1.0
_NOISE = "'\"`()[]{}<>=!@#$%^&*|\\/;:,.?~+-_ \n\t\0é漢𝔘0x1eE9LSYDFBD"
_WORDS_TEXT = r"""
select from where group by order having limit union all with recursive as on using join left semi natural lateral view
pivot unpivot window over partition rows between and or not in is null like escape case when then else end cast interval
date timestamp array map struct exists distinct values table |> :: -> => <=> << >> >>> 1L 2.5BD 1e400 0xFF '' 'it''s'
r'\' explode count sum identifier transform collate version of tablesample percent * ** ( ) ((((((((
"""
_WORDS = _WORDS_TEXT.split()


def mangled(seed: int) -> str:
    """A text made of a random query by one to six changes."""
    return changed(QueryGenerator(seed).query(), random.Random(seed))


def changed(text: str, chooser: random.Random) -> str:
    """The text after one to six changes."""
    for _ in range(chooser.randint(1, 6)):
        text = chooser.choice(_CHANGES)(text, chooser)
    return text


def _cut(text: str, chooser: random.Random) -> str:
    start = chooser.randrange(len(text) + 1)
    return text[:start] + text[start + chooser.randint(1, 8) :]


def _put_in(text: str, chooser: random.Random) -> str:
    at = chooser.randrange(len(text) + 1)
    made = chooser.choice(_NOISE) if chooser.random() < 0.5 else f" {chooser.choice(_WORDS)} "
    return text[:at] + made + text[at:]


def _swap(text: str, chooser: random.Random) -> str:
    words = tokens(text)
    if len(words) < 2:
        return text
    first, second = sorted(chooser.sample(words, 2), key=lambda word: word.start)
    between = text[first.end : second.start]
    return text[: first.start] + second.text + between + first.text + text[second.end :]


def _drop_token(text: str, chooser: random.Random) -> str:
    words = tokens(text)
    if not words:
        return text
    word = chooser.choice(words)
    return text[: word.start] + text[word.end :]


def _double_token(text: str, chooser: random.Random) -> str:
    words = tokens(text)
    if not words:
        return text
    word = chooser.choice(words)
    return text[: word.end] + " " + word.text + text[word.end :]


def _end_early(text: str, chooser: random.Random) -> str:
    return text[: chooser.randrange(len(text) + 1)]


def _random_bytes(text: str, chooser: random.Random) -> str:
    return text + bytes(chooser.randrange(256) for _ in range(chooser.randint(1, 12))).decode("latin-1")


_CHANGES: tuple[Callable[[str, random.Random], str], ...] = (
    *(_cut, _put_in, _put_in, _swap, _drop_token, _double_token, _end_early, _random_bytes),
)


def failures(count: int, seed: int = 0) -> Iterator[str]:
    """What raises or is slow among `count` queries, one line each."""
    yield from failing(((number, mangled(number)) for number in range(seed, seed + count)), analyzed)


def analyzed(text: str) -> None:
    analyze(PlacedText.bare(text), TABLES)


def failing(texts: Iterable[tuple[int, str]], read: Callable[[str], object]) -> Iterator[str]:
    """The texts, each with its seed, at which `read` raises or is slow, one line each."""
    for number, text in texts:
        try:
            seconds = _seconds(text, read)
            if seconds > MOST_SECONDS:  # of the text itself: the first time may hold a garbage collection
                seconds = _seconds(text, read)
        except Exception as error:  # noqa: BLE001 -- any exception is the finding
            yield f"{number}: {error!r} :: {text!r}"
        else:
            if seconds > MOST_SECONDS:
                yield f"{number}: {seconds:.1f} s :: {text!r}"


def _seconds(text: str, read: Callable[[str], object]) -> float:
    """The CPU time that reading the text takes."""
    start = time.process_time()
    read(text)
    return time.process_time() - start


if __name__ == "__main__":
    from tests.oracle import mangled_jobs

    made = mangled_jobs.failures if "jobs" in sys.argv else failures
    numbers = [int(argument) for argument in sys.argv[1:] if argument != "jobs"]
    found = list(made(*numbers))
    print("\n".join(found) or "no exception, none slower than a second")
    sys.exit(bool(found))
