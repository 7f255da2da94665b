import pytest
from sqlglot import exp, parse_one

from sql.parsing.tree_nodes import classes_of, tree_nodes
from sql.scopes.misplaced_functions import is_query

TREE = parse_one("select a, f(b, (select max(c) from u)) as x from t join v using (id) where a in (1, 2)")
QUERIES = classes_of(exp.Query)


def test_the_nodes_are_those_of_walk():
    assert [id(node) for node in tree_nodes(TREE)] == [id(node) for node in TREE.walk()]


def test_what_is_within_a_leaf_is_left_out():
    item = TREE.expressions[1]
    assert [id(node) for node in tree_nodes(item, QUERIES)] == [id(node) for node in item.walk(prune=is_query)]
    assert len(tree_nodes(item, QUERIES)) < len(tree_nodes(item))


@pytest.mark.parametrize("base", [exp.Query, exp.Func, exp.SetOperation])
def test_the_classes_are_those_of_the_instances(base):
    nodes = [*TREE.walk(), *parse_one("select 1 union select count(*) from (select 2)").walk()]
    assert all((type(node) in classes_of(base)) == isinstance(node, base) for node in nodes)
