"""What the changes of a micro-batch make of each key, held against the table that they change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.diagnostics.diagnostic import RunError
from catalog.types.datatypes import BIGINT, STRING
from connectors.change_capture.log_position import LogPosition
from connectors.change_capture.net_changes import all_changes, net_changes
from connectors.change_capture.table_shape import UNSENT, RowChange, ShapeColumn, TableShape

SHAPE = TableShape(("s", "t"), (ShapeColumn("id", BIGINT, "int8"), ShapeColumn("name", STRING, "text")), (0,))


@st.composite
def histories(draw):
    """A table before, and changes as a log has them: with whole rows before, or with their keys only."""
    start = draw(st.dictionaries(st.integers(0, 5), st.sampled_from("abc"), max_size=4))
    rows, changes, is_full = dict(start), [], draw(st.booleans())
    for _ in range(draw(st.integers(0, 15))):
        key, name = draw(st.integers(0, 5)), draw(st.sampled_from("abcd"))
        if key not in rows:
            changes.append(RowChange(SHAPE, None, (key, name)))
            rows[key] = name
            continue
        before = (key, rows[key] if is_full else None)
        if draw(st.booleans()):
            changes.append(RowChange(SHAPE, before, None, is_full))
            del rows[key]
            continue
        moved = draw(st.sampled_from([key, *(free for free in range(6) if free not in rows)]))
        changes.append(RowChange(SHAPE, before, (moved, name), is_full))
        del rows[key]
        rows[moved] = name
    return start, changes, rows


@given(histories())
def test_net_changes_make_the_table_of_the_one_before(history):
    start, changes, rows = history
    found, seen = dict(start), set()
    for kind, (key, name), _ in net_changes(changes):
        assert key not in seen
        seen.add(key)
        assert (kind == "+I") == (key not in start)
        if kind == "-D":
            del found[key]
        else:
            found[key] = name
    assert found == rows


@given(histories())
def test_all_changes_in_their_order_make_it_too(history):
    start, changes, rows = history
    found = dict(start)
    for kind, (key, name), _ in all_changes(changes):
        if kind in ("-D", "-U"):
            found.pop(key, None)
        else:
            found[key] = name
    assert found == rows


def test_a_value_that_the_log_leaves_out_is_that_of_the_row_before():
    whole = RowChange(SHAPE, (1, "long"), (1, UNSENT))
    inserted = RowChange(SHAPE, None, (2, "long"))
    later = RowChange(SHAPE, (2, None), (2, UNSENT), has_before=False)
    assert [row for _, row, _ in net_changes([whole, inserted, later])] == [(1, "long"), (2, "long")]
    with pytest.raises(RunError, match=r"\[PEN5491\] an update of `s\.t` has no value for `name`"):
        list(net_changes([RowChange(SHAPE, (1, None), (1, UNSENT), has_before=False)]))


@pytest.mark.parametrize("text", ["0/16B3748", "1A/0", "binlog.000003:1234", "mysql-bin.1234567:4"])
def test_positions_are_read_as_they_are_written(text):
    assert str(LogPosition.parse(text)) == text


def test_positions_have_the_order_of_the_log():
    texts = ["binlog.000002:900", "binlog.000010:4", "binlog.000010:30"]
    assert sorted(map(LogPosition.parse, reversed(texts))) == [LogPosition.parse(text) for text in texts]
