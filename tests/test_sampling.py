"""What runs by default of a product of parameters."""

from itertools import combinations, product

from tests.sampling import pairwise, sampled


def test_each_pair_of_values_meets_by_default():
    cases = list(product("abc", "xyz", (0, 1, 2), (True, False)))
    found = pairwise(cases)
    assert [each.values for each in found] == cases
    by_default = [each.values for each in found if not each.marks]
    assert len(by_default) < len(cases) / 2
    for i, j in combinations(range(4), 2):
        assert {(case[i], case[j]) for case in cases} == {(case[i], case[j]) for case in by_default}


def test_of_a_suite_the_named_tests_and_the_own_ones_run_by_default():
    class Suite:
        def test_a(self): ...
        def test_b(self): ...
        def test_c(self): ...

    @sampled(Suite, "test_a")
    class Few(Suite):
        def test_c(self): ...
        def test_d(self): ...

    marked = {name for name in dir(Few) if name.startswith("test_") and hasattr(getattr(Few, name), "pytestmark")}
    assert marked == {"test_b"}
    assert not hasattr(Suite.test_b, "pytestmark")
