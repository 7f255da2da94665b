"""What a connector of another package implements and imports: everything it needs is here.

    from connectors.interface import CatalogTable, Column, Option, Options, OptionType, ScanTask, Source

The interface is provisional until its version 1.0: a change that breaks a connector raises `INTERFACE_VERSION` and is
listed in the changelog. Names that are not exported here may change at any time. `connectors.interface.testing` has the
tests that every source and sink must pass.
"""

from typing import Final

from catalog.diagnostics.diagnostic import (
    Diagnostic,
    Diagnostics,
    JobError,
    PenstockError,
    RunError,
    Severity,
    did_you_mean,
    job_error,
    run_error,
)
from catalog.diagnostics.source import Span
from catalog.options import EVOLUTION_OPTION, KEY_OPTIONS, SAVE_OPTIONS, Option, Options, OptionType, Value
from catalog.quoting import quote, quote_text
from catalog.secret_names import is_secret_name, redacted
from catalog.tables.ddl import columns_to_ddl
from catalog.tables.evolution import SchemaEvolution
from catalog.tables.row_kind import ROW_KIND, RowKind
from catalog.tables.savemode import Action, DataSaveMode, SchemaSaveMode, TargetState, WriteMode
from catalog.tables.table import CatalogTable, Column, PrimaryKey, TablePath, TableSchema
from catalog.types.datatypes import (
    BIGINT,
    BINARY,
    BOOLEAN,
    CALENDAR_INTERVAL,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    INTEGRAL_TYPES,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    UNKNOWN,
    VARIANT,
    VOID,
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    Struct,
)
from catalog.types.typenames import parse_type, to_ddl
from connectors.commits.claim import RunClaim
from connectors.commits.marks import MarkState, WriteMark
from connectors.interface.incremental import INCREMENTAL, Incremental, NewRows, ReadProgress, Since, incremental_of
from connectors.interface.row_sink import RowSink, RowWrite
from connectors.interface.row_source import RowSource
from connectors.interface.run_context import RowChanges, RunContext
from connectors.interface.schema_option import SCHEMA_EXAMPLE, SCHEMA_OPTION, declared_table
from connectors.interface.sink import Sink, SinkCapabilities, WriteTask
from connectors.interface.sink_abilities import (
    PendingCommit,
    SupportsClone,
    SupportsCounts,
    SupportsGroupCommit,
    SupportsKeptRows,
    SupportsKnownTable,
    SupportsMaintenance,
    SupportsMarks,
    SupportsStagedRows,
    SupportsStagedTable,
    SupportsStatements,
)
from connectors.interface.source import SOURCE_QUERY, STREAM, ScanTask, Source, SourceCapabilities, StreamState
from connectors.interface.source_abilities import (
    SOURCE_PARTITION,
    ConnectionLimit,
    SupportsAcknowledgement,
    SupportsConnectionLimit,
    SupportsHeldPosition,
    SupportsIncremental,
    SupportsNewColumns,
    SupportsPartitionTimes,
    SupportsSizeEstimate,
    SupportsStreaming,
    SupportsTablePatterns,
    SupportsTableSets,
    SupportsUntypedColumns,
)
from connectors.shared.spark_types import columns_of
from connectors.shared.staged import Staged, secret, secret_mapping
from connectors.storage.filesystem import Files, as_uri, committing, files_at

INTERFACE_VERSION: Final = "0.1"
"""The version of what is exported here; provisional until 1.0."""

__all__ = [
    "BIGINT",
    "BINARY",
    "BOOLEAN",
    "CALENDAR_INTERVAL",
    "DATE",
    "DOUBLE",
    "EVOLUTION_OPTION",
    "FLOAT",
    "INCREMENTAL",
    "INT",
    "INTEGRAL_TYPES",
    "INTERFACE_VERSION",
    "KEY_OPTIONS",
    "ROW_KIND",
    "SAVE_OPTIONS",
    "SCHEMA_EXAMPLE",
    "SCHEMA_OPTION",
    "SMALLINT",
    "SOURCE_PARTITION",
    "SOURCE_QUERY",
    "STREAM",
    "STRING",
    "TIMESTAMP",
    "TIMESTAMP_NTZ",
    "TINYINT",
    "UNKNOWN",
    "VARIANT",
    "VOID",
    "Action",
    "Array",
    "CatalogTable",
    "Column",
    "ConnectionLimit",
    "DataSaveMode",
    "DataType",
    "Decimal",
    "Diagnostic",
    "Diagnostics",
    "Field",
    "Files",
    "Incremental",
    "JobError",
    "Map",
    "MarkState",
    "NewRows",
    "Option",
    "OptionType",
    "Options",
    "PendingCommit",
    "PenstockError",
    "PrimaryKey",
    "ReadProgress",
    "RowChanges",
    "RowKind",
    "RowSink",
    "RowSource",
    "RowWrite",
    "RunClaim",
    "RunContext",
    "RunError",
    "ScanTask",
    "SchemaEvolution",
    "SchemaSaveMode",
    "Severity",
    "Since",
    "Sink",
    "SinkCapabilities",
    "Source",
    "SourceCapabilities",
    "Span",
    "Staged",
    "StreamState",
    "Struct",
    "SupportsAcknowledgement",
    "SupportsClone",
    "SupportsConnectionLimit",
    "SupportsCounts",
    "SupportsGroupCommit",
    "SupportsHeldPosition",
    "SupportsIncremental",
    "SupportsKeptRows",
    "SupportsKnownTable",
    "SupportsMaintenance",
    "SupportsMarks",
    "SupportsNewColumns",
    "SupportsPartitionTimes",
    "SupportsSizeEstimate",
    "SupportsStagedRows",
    "SupportsStagedTable",
    "SupportsStatements",
    "SupportsStreaming",
    "SupportsTablePatterns",
    "SupportsTableSets",
    "SupportsUntypedColumns",
    "TablePath",
    "TableSchema",
    "TargetState",
    "Value",
    "WriteMark",
    "WriteMode",
    "WriteTask",
    "as_uri",
    "columns_of",
    "columns_to_ddl",
    "committing",
    "declared_table",
    "did_you_mean",
    "files_at",
    "incremental_of",
    "is_secret_name",
    "job_error",
    "parse_type",
    "quote",
    "quote_text",
    "redacted",
    "run_error",
    "secret",
    "secret_mapping",
    "to_ddl",
]
