"""The secrets within the texts of a file, whatever they are given for.

A connection text may be in an option that does not exist, a name, a setting: wherever a text is seen whole, its grammar
tells where its secrets are, which later is only seen in part. So may an option whose name says secret.
"""

import re
from itertools import islice
from typing import Final

from catalog.masks import Masks
from catalog.secret_names import is_secret_name, named_secrets, redacted_text
from engine.job.model.tree import ListNode, MapNode, Node, Place, ScalarNode, TextNode

_CONNECTION: Final = re.compile(r"^.{0,2000}(?:jdbc:|//).{0,2000}$", re.MULTILINE | re.IGNORECASE)
_LINES: Final = 500


def hide_texts(node: Node, masks: Masks) -> None:
    """Mask what looks like a secret in each text and key below the node, and hide their places."""
    match node:
        case TextNode():
            _hide(node.value, node.place, masks)
        case ListNode(items):
            for item in items:
                hide_texts(item, masks)
        case MapNode(entries):
            for entry in entries:
                _hide(entry.key, entry.key_place, masks)
                if is_secret_name(entry.key):
                    _hide_value(entry.value, masks)
                hide_texts(entry.value, masks)
        case ScalarNode():
            pass


def hide_connections(text: str, masks: Masks) -> None:
    """Mask the secrets of the connection texts in the lines of a file, and what stands after the keys of secrets: where
    it cannot be parsed, a message may show the piece of one that was taken for a key."""
    for line in islice(_CONNECTION.finditer(text), _LINES):
        masks.add_parts(line[0].partition("=")[2].strip() or line[0])
        masks.add_parts(line[0])
    for value in islice(named_secrets(text), _LINES):
        masks.add_rest(value)


def _hide(text: str, place: Place, masks: Masks) -> None:
    if redacted_text(text) != text:
        masks.add_parts(text)
        masks.hide(place.source, place.start, place.end)


def _hide_value(node: Node, masks: Masks) -> None:
    """Mask the value under the name of a secret; a number may be a password, `true` is none."""
    match node:
        case TextNode():
            masks.add(node.value)
        case ScalarNode(int() | float() as value, written=written) if not isinstance(value, bool):
            masks.add(written)
        case ListNode(items):
            for item in items:
                _hide_value(item, masks)
            return
        case MapNode(entries):
            for entry in entries:
                _hide_value(entry.value, masks)
            return
        case _:
            return
    masks.hide(node.place.source, node.place.start, node.place.end)
