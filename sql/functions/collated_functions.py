"""What functions do with the collations of their arguments; asked of Spark 4.1 call by call.

Most functions do nothing with them: their result is a plain string, or has the type of an argument.
"""

from typing import Final

_STRICT: Final = """
btrim contains endswith equal_null find_in_set instr locate ltrim position replace rtrim startswith
substring_index translate trim
"""
STRICT: Final = frozenset(_STRICT.split())
"""Functions that compare: a collation that cannot be decided is an error."""
REFUSING_INDETERMINATE: Final = STRICT | {"upper", "lower", "initcap", "ucase", "lcase"}

_JOINING: Final = """
array array_append array_contains array_except array_intersect array_join array_position array_remove array_union
arrays_overlap coalesce concat concat_ws elt greatest if ifnull lag lead least levenshtein lpad mask nvl nvl2 overlay
regexp_replace rpad split_part str_to_map to_number try_to_number
"""
JOINING: Final = STRICT | frozenset(_JOINING.split())
"""Functions whose strings get one collation, that of the strongest."""
_CASTING: Final = "array_join concat concat_ws elt regexp_replace replace split_part translate"
CASTING: Final = frozenset(_CASTING.split())
"""Of these: functions whose numbers and NULLs become strings once the others have their collation."""
FIRST_OPERAND: Final = {"elt": 1, "nvl2": 1, "if": 1}
"""The first of the joined arguments, where it is not the first of all."""

_INHERITING: Final = """
conv format_string hex initcap json_tuple lcase left lower make_valid_utf8 printf regexp_extract regexp_extract_all
regexp_substr repeat reverse right sentences split substr substring try_validate_utf8 ucase upper validate_utf8
"""
INHERITING: Final = frozenset(_INHERITING.split())
"""Functions whose result has the collation of their first argument."""

_WRITTEN: Final = "btrim equal_null ifnull nvl nvl2 nullif decode position"
NAMED_AS_WRITTEN: Final = frozenset(_WRITTEN.split())
"""Functions in whose name a literal is shown without the collation that it gets."""

_PATTERNS: Final = """
ilike like regexp regexp_count regexp_extract regexp_extract_all regexp_instr regexp_like regexp_replace regexp_substr
rlike split
"""
PATTERNS: Final = frozenset(_PATTERNS.split())
"""Functions that match patterns: in strings that are compared by bytes or in lower case."""
_SEARCHES: Final = """
btrim contains endswith instr locate ltrim position replace rtrim split_part startswith str_to_map substring_index
translate trim
"""
SEARCHES: Final = frozenset(_SEARCHES.split())
"""Functions that search in strings, not where accents are ignored and case is not (`UNICODE_AI`)."""
UNCOLLATED: Final = frozenset(("collect_set", "count_min_sketch", "schema_of_csv", "schema_of_xml"))
"""Functions that take no string with a collation."""
SAME_TYPE: Final = {
    "element_at": (0, 1), "try_element_at": (0, 1), "map_contains_key": (0, 1), "array_insert": (0, 2),
    "array_prepend": (0, 1), "listagg": (0, 1), "string_agg": (0, 1), "map_concat": (0, 1),
}  # fmt: skip
"""Functions that give neither argument the other's collation: both must have one."""
