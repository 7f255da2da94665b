"""Fails the job before the commit if rows violate a rule: Apache SeaTunnel's Assert sink."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics, RunError
from catalog.options import Option, Options, OptionType
from catalog.tables.savemode import Action, DataSaveMode, SchemaSaveMode, TargetState, WriteMode
from catalog.tables.table import CatalogTable
from connectors.assert_.assert_rule import AssertRule
from connectors.assert_.read_rules import read_rules
from connectors.interface.run_context import RunContext
from connectors.interface.sink import Sink, SinkCapabilities, WriteTask
from connectors.shared.spark_types import columns_of
from connectors.shared.staged import Staged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class AssertStaged(Staged):
    """Nothing is staged: the rules were checked."""


class Assert(Sink[AssertStaged]):
    name: ClassVar[str] = "Assert"
    doc: ClassVar[str] = "Fails the job, before anything is committed, where the rows break a rule."
    sink_options: ClassVar[tuple[Option, ...]] = (
        Option(
            "rules",
            OptionType.MAP,
            "`row_rules = [{ rule_type = MIN_ROW, rule_value = 1 }]`, `field_rules = [{ field_name, field_type, "
            "field_value = [{ rule_type = NOT_NULL, equals_to = 1 }] }]` with the rule types NOT_NULL, NULL, MIN, MAX, "
            'MIN_LENGTH and MAX_LENGTH, `condition_rules = [{ condition = "amount > 0" }]` in Spark SQL, and '
            "`catalog_table_rule { primary_key_rule, constraint_key_rule, column_rule, table_identifier_rule }`. Rules "
            "of several tables are in `tables_configs = [{ table_path, row_rules, … }]`; `table-names` lists them.",
            required=True,
        ),
        Option(
            "null_equals_all",
            OptionType.BOOLEAN,
            "Whether NULL satisfies every `equals_to`; under `--compat seatunnel` it always does.",
            default=False,
        ),
    )
    staged_type: ClassVar[type[Staged]] = AssertStaged
    aborts_without_spark: ClassVar[bool] = True
    sink_capabilities: ClassVar[SinkCapabilities] = SinkCapabilities(
        allows_concurrent_runs=True,
        schema_save_modes=(SchemaSaveMode.CREATE_SCHEMA_WHEN_NOT_EXIST, SchemaSaveMode.IGNORE),
        data_save_modes=(DataSaveMode.APPEND_DATA,),
        row_kind_modes=(WriteMode.APPEND,),
    )

    def validate(self, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
        tuple(read_rules(options, table, diagnostics))

    def inspect(self, spark: "SparkSession", task: WriteTask) -> TargetState:
        return TargetState(exists=False, is_known=False)

    def prepare(self, spark: "SparkSession", task: WriteTask, actions: Sequence[Action]) -> AssertStaged:
        return AssertStaged()

    def stage(self, spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: AssertStaged) -> AssertStaged:
        rules = _rules(task, df)
        aggregates = ["count(*)"]
        for rule in rules:
            if rule.keeps is not None:
                broken = f"not coalesce({rule.keeps}, false)"
                example = f"first(case when {broken} then coalesce(cast({rule.actual} as string), 'NULL') end, true)"
                aggregates += [f"count_if({broken})", example if rule.actual else "cast(null as string)"]
        row = df.selectExpr(*(f"{aggregate} as a{index}" for index, aggregate in enumerate(aggregates))).first()
        assert row is not None
        values = iter(row[1:])
        broken_rules = [verdict for rule in rules if (verdict := _verdict(rule, row[0], values))]
        if broken_rules:
            raise RunError(broken_rules)
        return prepared

    def commit(self, spark: "SparkSession", staged: AssertStaged, run: RunContext) -> None:
        pass

    def abort(self, spark: "SparkSession", staged: AssertStaged, run: RunContext) -> None:
        pass


connector = Assert()


def _verdict(rule: AssertRule, rows: int, values: Iterator[object]) -> Diagnostic | None:
    if rule.keeps is None:
        if (rule.least is None or rows >= rule.least) and (rule.most is None or rows <= rule.most):
            return None
        return Diagnostic("PEN5006", f"{rule.text}: there are {rows:,} rows", rule.span)
    broken, example = next(values), next(values)
    if not broken:
        return None
    found = f", the first of them `{example}`" if example is not None else ""
    return Diagnostic("PEN5006", f"{rule.text}: {broken:,} of {rows:,} rows break it{found}", rule.span)


def _rules(task: WriteTask, df: "DataFrame") -> tuple[AssertRule, ...]:
    """The rules; they are checked again if the columns were not known before the run."""
    table, diagnostics = task.table, Diagnostics()
    if table.is_open:
        schema = replace(table.schema, columns=columns_of(df.schema))
        table = replace(table, schema=schema, is_open=False)
    rules = tuple(read_rules(task.options, table, diagnostics))
    if diagnostics.has_errors:
        raise RunError([item for item in diagnostics if item.severity.value == "error"])
    return rules
