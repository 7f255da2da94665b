"""The outputs that options of a WITH list quarantine rows into.

CREATE VIEW crm WITH ('transform' = 'TableRoute', …, 'unknown_tables' = 'QUARANTINE', 'quarantine' = 'bad')
CREATE TABLE orders WITH (…, 'expectations' = '[{ condition = "id > 0", on_violation = QUARANTINE, quarantine = bad }]')
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import PlacedText
from engine.job.model.tree import Entry, ListNode, MapNode, TextNode
from engine.job.script.with_options import option_entries
from sql.script.statements import Property

_QUARANTINE: Final = "quarantine"
_EXPECTATIONS: Final = "expectations"


def quarantine_outputs(properties: Sequence[Property]) -> Iterator[PlacedText]:
    """The names of the outputs; errors in the options are reported where their block is made."""
    naming = [property for property in properties if property.key.value in (_QUARANTINE, _EXPECTATIONS)]
    for entry in option_entries((), naming, Diagnostics()):
        for option in (entry, *_of_rules(entry)):
            if option.key == _QUARANTINE and isinstance(option.value, TextNode):
                yield option.value.text


def with_outputs(entries: Iterable[Entry], output: Callable[[PlacedText], PlacedText]) -> Iterator[Entry]:
    """The entries of a block, each name of a quarantine replaced by its `output`."""
    for entry in entries:
        if entry.key == _QUARANTINE and isinstance(entry.value, TextNode):
            yield replace(entry, value=replace(entry.value, text=output(entry.value.text)))
        elif entry.key == _EXPECTATIONS and isinstance(entry.value, ListNode):
            rules = tuple(
                replace(rule, entries=tuple(with_outputs(rule.entries, output))) if isinstance(rule, MapNode) else rule
                for rule in entry.value.items
            )
            yield replace(entry, value=replace(entry.value, items=rules))
        else:
            yield entry


def _of_rules(entry: Entry) -> Iterator[Entry]:
    if entry.key == _EXPECTATIONS and isinstance(entry.value, ListNode):
        for rule in entry.value.items:
            yield from rule.entries if isinstance(rule, MapNode) else ()
