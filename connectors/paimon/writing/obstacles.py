"""Properties of an existing Paimon table that a write cannot serve, reported before the run."""

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Options
from catalog.tables.savemode import DataSaveMode, SchemaSaveMode, WriteMode
from catalog.tables.table import CatalogTable
from connectors.paimon.paimon_options import unfit_for_spanning_keys, unserved_property
from connectors.paimon.table_address import address_span, shown
from connectors.paimon.table_files import Schema, spans_partitions


def refuse_for_table(schema: Schema, incoming: CatalogTable, options: Options, diagnostics: Diagnostics) -> None:
    """Report what a table with this schema does not accept; nothing for one that the write makes anew."""
    if options.choice("schema_save_mode", SchemaSaveMode) is SchemaSaveMode.RECREATE_SCHEMA:
        return
    _refuse_kind(schema, options, diagnostics)
    _refuse_keys(schema, incoming, options, diagnostics)
    mode = options.choice("write_mode", WriteMode)
    if mode is WriteMode.OVERWRITE_PARTITIONS and not schema.get("partitionKeys"):
        help = "write_mode = append adds the rows; a table gets its partitions when it is created"
        message = f"write_mode overwrite_partitions needs partitions, and `{shown(options)}` has none"
        diagnostics.error("PEN4004", message, options.span("write_mode"), help)


def _refuse_kind(schema: Schema, options: Options, diagnostics: Diagnostics) -> None:
    table_options, name = schema.get("options") or {}, f"the Paimon table `{shown(options)}`"
    reason = None
    keys, spans = schema.get("primaryKeys") or (), spans_partitions(schema)
    if str(table_options.get("type", "table")) != "table":
        reason = f"{name} is of the type {table_options['type']}, whose files other systems write"
    elif str(table_options.get("bucket", "-1")) == "-2":
        reason = f"{name} postpones its buckets (bucket = -2): rows are not readable before a compaction by Flink"
    elif spans and (unfit := unfit_for_spanning_keys(table_options)):
        reason = f"the primary key of {name} spans partitions, and a table with {unfit}"
    elif keys and (engine := table_options.get("merge-engine", "deduplicate")) != "deduplicate":
        reason = f"{name} has the merge engine {engine}, and only rows for `deduplicate` are written"
    elif table_options.get("changelog-producer", "none") == "input":
        reason = f"{name} has changelog-producer = input, whose change log is not written"
    elif unserved := unserved_property(table_options):
        reason = f"{name} has {unserved}"
    if reason is not None:
        help = "write to a table with a fixed number of buckets and the merge engine deduplicate"
        diagnostics.error("PEN4004", reason, address_span(options), help)


def _refuse_keys(schema: Schema, incoming: CatalogTable, options: Options, diagnostics: Diagnostics) -> None:
    """Rows match those of the table by its primary key; a table without one takes appends only."""
    mode, keys = options.choice("write_mode", WriteMode), tuple(schema.get("primaryKeys") or ())
    replaces = options.choice("data_save_mode", DataSaveMode) is DataSaveMode.DROP_DATA
    own = incoming.schema.primary_key
    given = options.strings("primary_keys") or (own.columns if own else ())
    if mode.needs_key and not keys:
        message = f"write_mode {mode.value} needs a primary key, and the Paimon table `{shown(options)}` has none"
        help = "write_mode = append adds the rows; a table gets its primary key when it is created"
        diagnostics.error("PEN4004", message, options.span("write_mode"), help)
    elif mode.needs_key and given and {key.lower() for key in given} != {key.lower() for key in keys}:
        message = f"the primary key of the Paimon table `{shown(options)}` is ({', '.join(keys)})"
        listed = ", ".join(f'"{key}"' for key in keys)
        diagnostics.error("PEN4008", message, options.span("primary_keys"), f"primary_keys = [{listed}]")
    elif keys and not mode.needs_key:
        what = "replaces" if replaces else "updates"
        message = f"the Paimon table `{shown(options)}` has a primary key, by which a written row {what} another"
        diagnostics.error("PEN4004", message, options.span("write_mode"), "write_mode = upsert")
    sequence = options.optional_string("sequence_field")
    ordered = [name.strip().lower() for name in str((schema.get("options") or {}).get("sequence.field", "")).split(",")]
    if (
        mode.needs_key
        and keys
        and sequence is not None
        and not spans_partitions(schema)
        and ordered != [sequence.lower()]
    ):
        found = "no sequence.field" if ordered == [""] else f"the sequence.field {', '.join(ordered)}"
        message = f"the Paimon table `{shown(options)}` has {found}: `{sequence}` would not order its rows"
        help = "set the table's option sequence.field to it, or leave `sequence_field` out"
        diagnostics.error("PEN2011", message, options.span("sequence_field"), help)
