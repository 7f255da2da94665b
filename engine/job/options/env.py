"""The `env` block: the settings of the whole job."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Final

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import Span
from catalog.masks import Masks
from catalog.options import Option, Options, OptionType
from catalog.secret_names import is_secret_name
from catalog.spark_version import NEWEST
from connectors.interface.incremental import duration
from engine.job.compat.unsupported_options import ENV
from engine.job.model.job import Accelerator, Env, ReadLimit, Tuning
from engine.job.model.shared_jars import JARS
from engine.job.model.tree import Entry, MapNode, Node, ScalarNode, TextNode
from engine.job.options.check_options import check_options
from engine.job.options.executor_options import executors
from engine.job.options.interval_option import INTERVAL_OPTIONS, read_interval
from engine.job.options.listener_options import LISTENERS, read_listeners
from engine.job.options.secret_options import Secrets, Shade
from engine.job.options.spark_settings import ALLOWS_HTTP, fetches_unencrypted, misspelt_setting

OPTIONS: Final = (
    Option("job.name", OptionType.STRING, "The job's name; without one, that of its file."),
    Option("job.mode", OptionType.STRING, "BATCH or STREAMING.", default="BATCH", choices=("BATCH", "STREAMING")),
    Option("parallelism", OptionType.INTEGER, "Maximum number of pipelines at once, and of tasks of a source.",
           default=2, minimum=1, alternatives=("execution.parallelism",)),
    Option("max_concurrent_pipelines", OptionType.INTEGER,
           "The slots for which pipelines queue, first come, first served; a pipeline takes as many as the largest "
           "`parallelism` of its sources. By default `parallelism`.", minimum=1),
    Option("slot_timeout_seconds", OptionType.NUMBER,
           "A pipeline that has waited so long for its slots fails, and a job that has waited so long for an executor "
           "of the cluster. Without it, there is no limit.", minimum=0),
    Option("slots.mode", OptionType.STRING,
           "The executors of a cluster. `dynamic`: they come and go with the work (Spark's dynamic allocation), "
           "between `slots.min` and `slots.max`. `fixed`: there are `slots.max` all the time. By default, what Spark "
           "is set to.", choices=("fixed", "dynamic")),
    Option("slots.min", OptionType.INTEGER, "The fewest executors of `slots.mode = dynamic`.", minimum=0),
    Option("slots.max", OptionType.INTEGER, "The most executors.", minimum=1),
    Option("slots.idle_timeout", OptionType.INTEGER,
           "Seconds after which an executor without work goes, with `slots.mode = dynamic`.", minimum=1),
    LISTENERS,
    Option("job.retry.times", OptionType.INTEGER, "How often a pipeline is retried after a transient error.",
           default=3, minimum=0),
    Option("job.retry.interval.seconds", OptionType.NUMBER, "Seconds between two attempts.", default=3.0, minimum=0),
    Option("failure_policy", OptionType.STRING, "What the other pipelines do when one has failed.",
           default="stop", choices=("stop", "continue")),
    Option("tags", OptionType.LIST, "Words by which `--select tag:…` finds the job in its project.",
           element=OptionType.STRING),
    Option("owner", OptionType.STRING, "Who is responsible for the job."),
    Option("description", OptionType.STRING, "What the job is for (default: the comment that the file starts with)."),
    Option("depends_on", OptionType.LIST,
           "Jobs of the project that run before this one, besides those whose datasets it reads.",
           element=OptionType.STRING),
    *INTERVAL_OPTIONS,
    Option("state_dir", OptionType.STRING, "Where runs and journals are recorded (default: `PENSTOCK_STATE_DIR`)."),
    Option("state.keep_runs", OptionType.STRING,
           "How long the records of runs that have ended are kept, `90 days` (default: for ever). What a removed run "
           "has committed is known by the marks of its targets alone."),
    Option("stream.trigger", OptionType.STRING,
           "When micro-batches of a streaming job run: `available_now` (until all that is there is read, then the job "
           "ends), `once` (the same in one micro-batch), or an interval, `30 seconds`. Default: `checkpoint.interval`, "
           "else `10 seconds`."),
    Option("stream.watermark_policy", OptionType.STRING,
           "The event time of a stream of several sources: `min` (default), that of the slowest, which waits for a "
           "source without rows; `max`, that of the fastest, for which rows of the others come late. It is chosen at "
           "the first start of a checkpoint.", choices=("min", "max")),
    Option("stream.checkpoint", OptionType.STRING,
           "The directory of a streaming job's checkpoints (default: `streams/<job>` in the state directory)."),
    Option("metrics_file", OptionType.STRING,
           "A file for metrics in Prometheus' text format. Of a batch job: rows, bytes, seconds, CPU time, written at "
           "its end. Of a streaming job: rows, micro-batches, latency and lag, rewritten after each micro-batch. Its "
           "folder can be that of node_exporter's textfile collector.", alternatives=("stream.metrics_file",)),
    Option("checkpoint.interval", OptionType.INTEGER, "Milliseconds between two micro-batches of a streaming job.",
           minimum=1, alternatives=("execution.checkpoint.interval",)),
    Option("read_limit.rows_per_second", OptionType.INTEGER,
           "The most rows that are read in a second from each source, over all its tasks.", minimum=1),
    Option("read_limit.bytes_per_second", OptionType.INTEGER,
           "The most bytes, of the values of its columns, that are read in a second from each source.", minimum=1),
    Option("jars", OptionType.STRING,
           "Jars that the job needs, separated by `;` or `,`: more of Spark's setting `spark.jars`."),
    Option("tuning.hadoop", OptionType.BOOLEAN,
           "Replaces parts of Hadoop where a run on one machine writes many small tables (docs/tuning.md).",
           default=False),
    Option("tuning.late_compiler", OptionType.BOOLEAN,
           "Has Java's optimizing compiler begin later, in a batch job (docs/tuning.md).", default=False),
    Option("accelerator", OptionType.STRING,
           "`comet` has Apache DataFusion Comet execute what it can of a job natively (docs/acceleration.md).",
           default=Accelerator.NONE.value, choices=tuple(accelerator.value for accelerator in Accelerator)),
    Option("reuse_batch_plans", OptionType.BOOLEAN,
           "Whether a streaming job uses the plan of its rows again for each micro-batch.", default=True),
    Option("chaining", OptionType.BOOLEAN,
           "Whether generated queries become one with the queries that they read, where that changes no row.",
           default=True),
    Option("shade.identifier", OptionType.STRING, "How sensitive options are encrypted.",
           default=Shade.NONE.value, choices=tuple(shade.value for shade in Shade)),
    Option("sql.dialect", OptionType.STRING,
           "The SQL of `Sql` transforms: Spark's, or Apache SeaTunnel's with its functions and their semantics, of "
           "its 2.3 line or of 3.x. Without it, `spark`, or what `--compat` names.",
           choices=tuple(compat.value for compat in Compat)),
    Option("shade.options", OptionType.LIST, "Further options that are encrypted.", element=OptionType.STRING),
)  # fmt: skip

FIXED: Final[Mapping[str, str]] = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "false",
    "spark.sql.timeType.enabled": "true",
    "spark.sql.variable.substitute": "false",  # else Spark replaces `${…}` in values, and by environment variables
}
"""Settings under which every job runs, since validation assumes them."""

STATIC: Final = frozenset({"spark.python.sql.dataFrameDebugging.enabled"}) | frozenset(
    f"spark.sql.{name}"
    for name in (
        "warehouse.dir", "catalogImplementation", "globalTempDatabase", "sources.schemaStringLengthThreshold",
        "filesourceTableRelationCacheSize", "codegen.cache.maxEntries", "codegen.comments", "debug",
        "hive.thriftServer.singleSession", "queryExecutionListeners", "streaming.streamingQueryListeners",
        "cache.serializer", "ui.retainedExecutions", "broadcastExchange.maxThreadThreshold",
        "resultQueryStage.maxThreadThreshold", "subquery.maxThreadThreshold", "event.truncate.length",
        "legacy.sessionInitWithConfigDefaults", "defaultUrlStreamHandlerFactory.enabled", "streaming.ui.enabled",
        "streaming.ui.retainedProgressUpdates", "streaming.ui.retainedQueries", "metadataCacheTTLSeconds",
        "streaming.ui.enabledCustomMetricList", "hive.version",
        "hive.metastore.version", "hive.metastore.jars", "hive.metastore.jars.path",
        "hive.metastore.sharedPrefixes", "hive.metastore.barrierPrefixes",
        "sources.disabledJdbcConnProviderList", "extensions.test.loadFromCp", "shuffleExchange.maxThreadThreshold",
        "catalog.spark_catalog.defaultDatabase",
    )
)  # fmt: skip
"""Spark's static settings (`StaticSQLConf`, `HiveUtils`), fixed when the application starts. `spark.sql.extensions` is
one too, but a job may need it: the session is started with those of all its jobs."""


def read_env(
    node: MapNode | None,
    default_name: str,
    diagnostics: Diagnostics,
    masks: Masks,
    compat: Compat = Compat.OFF,
) -> Env:
    """The settings of a job; without an `env` block, the defaults. Its secrets are added to `masks`."""
    if node is None:
        return Env(default_name, dialect=compat, masks=masks)
    if compat.is_seatunnel:
        node = _with_known_shade(node, diagnostics)
    spark = [entry for entry in node.entries if entry.key == "spark" or entry.key.startswith("spark.")]
    others = tuple(entry for entry in node.entries if entry not in spark)
    options = check_options(
        replace(node, entries=others), OPTIONS, diagnostics, owner="`env`", secrets=Secrets(masks=masks),
        compat=compat, unsupported=ENV,
    )  # fmt: skip
    return Env(
        name=options.optional_string("job.name") or default_name,
        mode=options.string("job.mode"),
        parallelism=options.integer("parallelism"),
        retry_times=options.integer("job.retry.times"),
        retry_interval_seconds=float(str(options["job.retry.interval.seconds"])),
        failure_policy=options.string("failure_policy"),
        spark={
            **executors(options, diagnostics),
            **_with_jars(spark_settings(spark, diagnostics, masks, compat), options),
        },
        options=options,
        places={
            **({JARS: place} if options.get("jars") is not None and (place := options.span("jars")) else {}),
            **{name: _place(name, setting, leaf) for setting in spark for name, leaf in _leaves(setting.key, setting)},
        },
        dialect=Compat(options.optional_string("sql.dialect") or compat),
        slots=options.optional_integer("max_concurrent_pipelines"),
        slot_timeout=_seconds(options, "slot_timeout_seconds"),
        listeners=read_listeners(options, diagnostics),
        read_limit=ReadLimit(
            options.optional_integer("read_limit.rows_per_second"),
            options.optional_integer("read_limit.bytes_per_second"),
        ),
        masks=masks,
        tuning=_tuning(options, diagnostics),
        reuses_batch_plans=options.flag("reuse_batch_plans"),
        chains=options.flag("chaining"),
        interval=read_interval(options, diagnostics),
        keep_runs=_keep_runs(options, diagnostics),
        accelerator=_accelerator(options, diagnostics),
    )


def _keep_runs(options: Options, diagnostics: Diagnostics) -> timedelta | None:
    text = options.optional_string("state.keep_runs")
    kept = None if text is None else duration(text)
    if text is not None and not kept:
        message = f"`state.keep_runs` must be a duration, found `{text}`"
        diagnostics.error("PEN2004", message, options.span("state.keep_runs"), 'state.keep_runs = "90 days"')
    return kept


def _with_jars(settings: Mapping[str, str], options: Options) -> Mapping[str, str]:
    """The settings with the jars of the option `jars`, after those of `spark.jars`."""
    jars = [jar.strip() for jar in re.split("[;,]", options.optional_string("jars") or "") if jar.strip()]
    if not jars:
        return settings
    given = settings.get(JARS)
    return {**settings, JARS: ",".join([*([given] if given else ()), *jars])}


def _with_known_shade(node: MapNode, diagnostics: Diagnostics) -> MapNode:
    """The block without a `shade.identifier` that no plug-in has: SeaTunnel then reads secrets as they are written
    (`ConfigShadeUtils.decryptConfig`), which is warned of."""
    name = "shade.identifier"
    entry = node.entry(name)
    if entry is None or not isinstance(entry.value, TextNode) or not entry.value.is_resolved:
        return node
    if entry.value.value.lower() in [shade.value for shade in Shade]:
        return node
    message = f"`{name}` is none of those that are known: secrets are read as they are written"
    help = f"known: {', '.join(f'`{shade.value}`' for shade in Shade)}"
    diagnostics.warning("PEN2004", message, entry.value.place.span, help)
    return _without(node, entry)


def _without(node: MapNode, left_out: Entry) -> MapNode:
    kept = tuple(
        replace(entry, value=_without(entry.value, left_out)) if isinstance(entry.value, MapNode) else entry
        for entry in node.entries
        if entry is not left_out
    )
    return replace(node, entries=kept)


def _accelerator(options: Options, diagnostics: Diagnostics) -> Accelerator:
    """The accelerator of a batch job; a stream runs without one."""
    found = Accelerator(options.string("accelerator"))
    if found is Accelerator.NONE or options.string("job.mode") != "STREAMING":
        return found
    message = "`accelerator` has no effect on a streaming job: its micro-batches run in Spark alone"
    diagnostics.warning("PEN2011", message, options.span("accelerator"), "leave it out")
    return Accelerator.NONE


def _tuning(options: Options, diagnostics: Diagnostics) -> frozenset[Tuning]:
    found = frozenset(part for part in Tuning if options.flag(f"tuning.{part.value}"))
    if Tuning.LATE_COMPILER in found and options.string("job.mode") == "STREAMING":
        message = "`tuning.late_compiler` is for batch jobs: a stream runs long enough for Java's compiler"
        diagnostics.error("PEN2011", message, options.span("tuning.late_compiler"), "leave it out")
    return found


def _seconds(options: Options, name: str) -> float | None:
    value = options.get(name)
    return None if value is None else float(str(value))


def spark_settings(
    entries: Iterable[Entry], diagnostics: Diagnostics, masks: Masks, compat: Compat = Compat.OFF
) -> dict[str, str]:
    """The `spark.*` settings as text; one that a job cannot set is an error at its location (under `compat`: a warning,
    and left out)."""
    report = diagnostics.warning if compat.is_seatunnel else diagnostics.error
    settings: dict[str, str] = {}
    for top, name, entry in ((setting, *leaf) for setting in entries for leaf in _leaves(setting.key, setting)):
        place = _place(name, top, entry)
        value = _text(entry.value)
        if is_secret_name(name):
            masks.hide(entry.value.place.source, entry.value.place.start, entry.value.place.end)
            masks.add(value)
        if value is None:
            diagnostics.error("PEN2004", f"`{name}` must be a text or a number", entry.value.place.span)
        elif name in STATIC:
            report(
                "PEN2014", f"`{name}` is fixed when the Spark application starts: a job cannot set it",
                place, f"set it for the application, with `spark-submit --conf {name}=…`",
            )  # fmt: skip
        elif name in FIXED and value.lower() != FIXED[name].lower():
            report(
                "PEN2014", f"`{name}` is always `{FIXED[name]}`: that is what queries are checked for",
                place, "leave it out",
            )  # fmt: skip
        else:
            if fetches_unencrypted(name, value):
                message = f"`{name}` fetches code by plain HTTP, which others on the network can change"
                diagnostics.error("PEN1604", message, place, f"use https, or set {ALLOWS_HTTP}=1 where that is safe")
            if meant := misspelt_setting(name):
                message = f"`{name}` is no setting of Spark {NEWEST}"
                diagnostics.warning("PEN2003", message, place, f"did you mean `{meant}`?")
            settings[name] = value
    return settings


def is_of_application(name: str) -> bool:
    """Whether a `spark.*` setting applies to the whole application, not to each job's session."""
    return not name.startswith("spark.sql.") or name == "spark.sql.extensions"


def _place(name: str, top: Entry, leaf: Entry) -> Span:
    """The name as a whole where it is written with dots, else its last part."""
    first, last = top.key_place.span, leaf.key_place.span
    is_dotted = first.line == last.end_line and last.end_column - first.column == len(name)
    return Span(first.file, first.line, first.column, last.end_line, last.end_column) if is_dotted else last


def _leaves(name: str, entry: Entry) -> Iterator[tuple[str, Entry]]:
    if not isinstance(entry.value, MapNode):
        yield name, entry
        return
    for column in entry.value.entries:
        yield from _leaves(f"{name}.{column.key}", column)


def _text(node: Node) -> str | None:
    match node:
        case TextNode():
            return node.value
        case ScalarNode(value=bool(), written=written):
            return written.lower()
        case ScalarNode(written=written):
            return written
        case _:
            return None
