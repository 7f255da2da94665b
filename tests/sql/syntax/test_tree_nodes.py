from sqlglot import parse_one

from sql.scopes.misplaced_functions import is_query
from sql.syntax.tree_nodes import tree_nodes

TREE = parse_one("select a, f(b, (select max(c) from u)) as x from t join v using (id) where a in (1, 2)")


def test_the_nodes_are_those_of_walk():
    assert [id(node) for node in tree_nodes(TREE)] == [id(node) for node in TREE.walk()]


def test_what_is_within_a_leaf_is_left_out():
    item = TREE.expressions[1]
    assert [id(node) for node in tree_nodes(item, is_query)] == [id(node) for node in item.walk(prune=is_query)]
    assert len(tree_nodes(item, is_query)) < len(tree_nodes(item))
