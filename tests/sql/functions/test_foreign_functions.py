from sql.functions.catalogue import function_names
from sql.functions.foreign_functions import FOREIGN_FUNCTIONS


def test_only_functions_that_spark_lacks_are_replaced_by_those_that_it_has():
    known = set(function_names())
    assert not known & set(FOREIGN_FUNCTIONS)
    called = {call.split("(")[0] for call in FOREIGN_FUNCTIONS.values()}
    assert called - known - {"if", "try_cast"} == set()  # these two are syntax
