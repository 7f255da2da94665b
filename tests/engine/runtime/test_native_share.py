"""What Comet says of a plan becomes a share and reasons; its operators count as those of Spark."""

import io

from catalog.diagnostics.source import PlacedText, SourceFile
from engine.runtime.counting.comet_operators import plain_counters, plain_description, plain_name
from engine.runtime.counting.counts import Execution, Operator, count_write
from engine.runtime.counting.fallback_places import _placed
from engine.runtime.counting.native_share import HEAD, Fallback, NativeShare, native_share, together
from engine.runtime.results import JobResult, PipelineResult
from engine.state.run_state import State
from engine.terminal.summary import print_summary

PLAN = f"""
(1) Scan parquet

{HEAD}
Execute InsertIntoHadoopFsRelationCommand
+-  WriteFiles [COMET: Native support for operator WriteFilesExec is disabled. Set spark.comet.write=true to enable it.]
   +- CometColumnarToRow
      +- CometBroadcastHashJoin
         :-  Project [COMET: soundex is not supported] [COMET-INFO: a native way is there]
         :  +- Filter
         :     +- CometColumnarToRow
         :        +- CometNativeScan parquet\x20
         +- CometBroadcastExchange
            +-  Scan csv  [COMET: Unsupported file format CSV (https://example.org/a). Set spark.comet.x=true to try.]

Comet accelerated 3 out of 8 eligible operators (37%). Final plan contains 2 transitions between Spark and Comet.
"""


def share() -> NativeShare:
    found = native_share(PLAN)
    assert found is not None
    return found


def test_the_write_and_conversions_are_not_counted():
    assert (share().native, share().operators) == (3, 6)


def test_reasons_are_without_advice_and_addresses():
    soundex, csv = share().fallbacks
    assert soundex == Fallback("Project", "soundex is not supported")
    assert csv == Fallback("Scan csv", "Unsupported file format CSV")


def test_a_plan_without_comet_has_no_share():
    assert native_share("== Physical Plan ==\nLocalTableScan") is None
    assert together([None, None]) is None


def test_shares_of_several_queries_are_added_with_each_reason_once():
    both = together([share(), None, share()])
    assert both is not None
    assert (both.native, both.operators, both.fallbacks) == (6, 12, share().fallbacks)


def test_a_function_is_found_in_the_sql():
    text = PlacedText.verbatim(SourceFile("job.sql", "-- x\nselect soundex(name) from a"), 5, 33)
    placed = _placed(Fallback("Project", "soundex is not supported"), [text])
    assert str(placed) == "Project: soundex is not supported (job.sql:2:8)"
    assert _placed(Fallback("Project", "upper is not supported"), [text]).place is None


def test_the_summary_and_the_record_say_what_was_native():
    pipeline = PipelineResult("1", State.FINISHED, 1, 0.5, native=share())
    result, out = JobResult("job", "r1", State.FINISHED, 1.0, (pipeline,)), io.StringIO()
    print_summary(result, out)
    assert "comet: 3 of 6 operators are native\n  by Spark: Project: soundex is not supported\n" in out.getvalue()
    assert result.counts["accelerator"] == {
        "native": 3,
        "operators": 6,
        "fallbacks": ["Project: soundex is not supported", "Scan csv: Unsupported file format CSV"],
    }
    assert "accelerator" not in JobResult("job", "r1", State.FINISHED, 1.0, ()).counts


def test_operators_of_comet_have_the_names_of_spark():
    assert [plain_name(name) for name in ("CometFilter", "CometWindowExec", "CometWindowGroupLimitExec", "Filter")] == [
        "Filter", "Window", "WindowGroupLimit", "Filter",
    ]  # fmt: skip
    assert plain_description("CometFilter", "CometFilter [a#1, b#2L], (a#1 > 3)") == "Filter (a#1 > 3)"
    assert plain_description("CometFilter", "CometFilter [a#1], isnotnull(a#1)") == "Filter isnotnull(a#1)"
    assert plain_counters("CometHashJoin", {"Number of rows produced": "3"})["number of output rows"] == "3"


def test_rows_of_native_filters_and_joins_are_counted():
    nodes = (
        (0, "Execute InsertIntoHadoopFsRelationCommand", "…", {}),
        (1, "CometColumnarToRow", "…", {}),
        (2, "CometBroadcastHashJoin", "[id#8L], [id#12L], Inner, BuildRight", {"Number of rows produced": "40"}),
        (3, "CometFilter", "CometFilter [id#8L], (id#8L > 3)", {"number of output rows": "60"}),
        (4, "CometNativeScan parquet ", "…", {"number of output rows": "100"}),
        (5, "CometFilter", "CometFilter [id#12L], isnotnull(id#12L)", {"number of output rows": "5"}),
        (6, "CometNativeScan parquet ", "…", {"number of output rows": "9"}),
    )
    operators = tuple(
        Operator(id, plain_name(name), plain_description(name, text), plain_counters(name, counters))
        for id, name, text, counters in nodes
    )
    count = count_write("out", [Execution(operators, {0: (1,), 1: (2,), 2: (3, 5), 3: (4,), 5: (6,)})])
    assert (count.rows, count.filtered) == (40, 40)
