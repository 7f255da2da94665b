"""What every source holds to; the tests of a source subclass it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Options, Value
from catalog.tables.table import CatalogTable
from connectors.interface.incremental import INCREMENTAL, Since
from connectors.interface.source import ScanTask, Source
from connectors.interface.source_abilities import SupportsIncremental
from connectors.interface.testing.common import check_import, check_options
from connectors.interface.testing.driving import options_of
from connectors.shared.spark_types import columns_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class SourceSuite:
    """`source`: the connector. `expected`: the rows that it yields, in any order, in the columns of its table.

    `filter`: Spark SQL that holds for some of the rows, for a source with `filter_pushdown`. `column`: that by which
    a source that `SupportsIncremental` is read.
    """

    source: ClassVar[Source]
    expected: ClassVar[Sequence[tuple[Any, ...]]]
    filter: ClassVar[str] = ""
    column: ClassVar[str] = ""

    def given(self, tmp_path: Path) -> Mapping[str, Value]:
        """The options of a block that yields `expected`; called once for each test, with a directory of its own."""
        raise NotImplementedError

    @pytest.fixture
    def options(self, tmp_path: Path) -> Options:
        return options_of(self.source.source_options, self.given(tmp_path))

    @pytest.fixture
    def table(self, options: Options) -> CatalogTable:
        diagnostics = Diagnostics()
        (table,) = self.source.tables(options, diagnostics)
        assert [str(diagnostic) for diagnostic in diagnostics] == []
        return table

    def read(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        return self.source.read(spark.newSession(), task)

    def test_options_are_documented_and_named_once(self) -> None:
        check_options(self.source.source_options)

    def test_importing_it_imports_no_spark(self) -> None:
        check_import(self.source)

    def test_options_and_abilities_agree(self) -> None:
        names = {option.name for option in self.source.source_options}
        assert (INCREMENTAL.name in names) == isinstance(self.source, SupportsIncremental)

    def test_rows_have_the_columns_and_types_of_the_table(
        self, spark: "SparkSession", options: Options, table: CatalogTable
    ) -> None:
        df = self.read(spark, ScanTask(options, table))
        assert _sorted(df) == sorted(map(tuple, self.expected), key=repr)
        if not table.is_open:
            found = [(column.name, column.type) for column in columns_of(df.schema)]
            assert found == [(column.name, column.type) for column in table.columns]

    def test_each_column_can_be_read_alone(self, spark: "SparkSession", options: Options, table: CatalogTable) -> None:
        if not self.source.source_capabilities.column_pushdown:
            return  # the engine selects the columns
        for index, name in enumerate(table.schema.names):
            df = self.read(spark, ScanTask(options, table, (name,)))
            assert df.columns == [name]
            assert _sorted(df) == sorted(((row[index],) for row in self.expected), key=repr)

    def test_filters_hold(self, spark: "SparkSession", options: Options, table: CatalogTable) -> None:
        if not self.source.source_capabilities.filter_pushdown:
            return  # the engine filters the rows
        assert self.filter, "`filter` names a predicate for some of the rows"
        whole = self.read(spark, ScanTask(options, table))
        found = _sorted(self.read(spark, ScanTask(options, table, None, (self.filter,))))
        assert found == _sorted(whole.where(self.filter))
        assert 0 < len(found) < len(self.expected)

    def test_a_second_read_yields_the_same_rows(
        self, spark: "SparkSession", options: Options, table: CatalogTable
    ) -> None:
        if self.source.source_capabilities.is_deterministic:
            task = ScanTask(options, table)
            assert _sorted(self.read(spark, task)) == _sorted(self.read(spark, task))

    def test_a_second_incremental_read_yields_nothing(
        self, spark: "SparkSession", tmp_path: Path, table: CatalogTable
    ) -> None:
        source = self.source
        if not isinstance(source, SupportsIncremental):
            return
        assert self.column, "`column` names that by which the source is read"
        given = {**self.given(tmp_path), INCREMENTAL.name: {"column": self.column}}
        task = ScanTask(options_of(source.source_options, given), table)
        session = spark.newSession()
        first = source.read_new(session, task, Since())
        assert _sorted(first.df) == sorted(map(tuple, self.expected), key=repr)
        reached = first.reached()
        assert reached is not None, "rows were read"
        assert _sorted(source.read_new(session, task, Since(reached)).df) == []


def _sorted(df: "DataFrame") -> list[tuple[Any, ...]]:
    return sorted(map(tuple, df.collect()), key=repr)
