"""Which table a block means: by the directory of its warehouse, or by a catalog of Spark's."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from catalog.diagnostics.diagnostic import Diagnostics, run_error
from catalog.options import Options
from catalog.quoting import parse_name, quote
from catalog.secret_names import is_secret_name, redacted
from catalog.tables.table import TablePath
from connectors.iceberg.seatunnel_options import catalog_config, hadoop_settings
from connectors.shared.staged import Staged, secret_mapping
from connectors.storage.filesystem import as_uri, files_at
from connectors.storage.object_store import StoreSettings
from connectors.storage.paths import local_path, target_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class TableAddress(Staged):
    """A table in a catalog of Spark's, and the settings (`spark.sql.catalog.…`) by which a session has that catalog.

    `folder`: the table's directory as a URI, where its warehouse is a directory.
    """

    catalog: str
    namespace: tuple[str, ...]
    table: str
    folder: str | None
    settings: Mapping[str, str]
    secrets: Mapping[str, str] = secret_mapping()

    @property
    def sql(self) -> str:
        return ".".join(quote(part) for part in (self.catalog, *self.namespace, self.table))

    def branch_sql(self, branch: str) -> str:
        return f"{self.sql}.{quote(f'branch_{branch}')}"

    def __str__(self) -> str:
        return self.folder or ".".join((self.catalog, *self.namespace, self.table))


def check_address(options: Options, diagnostics: Diagnostics) -> bool:
    """Report options that name no table, or two; whether they name one."""
    path, name, warehouse = (options.optional_string(key) for key in ("table_path", "table", "warehouse"))
    mark = diagnostics.mark()
    example = 'table_path = "catalog.db.table", or warehouse = "/data/warehouse" with table = "db.table"'
    if path is not None and (name is not None or warehouse is not None):
        other = "warehouse" if warehouse is not None else "table"
        diagnostics.error("PEN2011", f"`table_path` and `{other}` exclude each other", options.span(other), example)
    elif path is None and (name is None or not (warehouse or catalog_config(options))):
        missing = "`table`" if warehouse else "`warehouse`" if name else "`table_path`"
        diagnostics.error("PEN2011", f"no table is named: {missing} is missing", options.span(), example)
    key, text = ("table_path", path) if path is not None else ("table", name)
    if text is not None:
        try:
            if len(parse_name(text)) < (2 if key == "table_path" else 1):
                message = f"`{text}` names no catalog"
                diagnostics.error("PEN2004", message, options.span(key), 'table_path = "catalog.db.table"')
        except ValueError:
            diagnostics.error("PEN2004", f"`{text}` is no name of a table", options.span(key), example)
    return mark.is_last


def path_of(options: Options) -> TablePath | None:
    """The table's path: its names in a warehouse, and its catalog where the block names one; None where it names no
    table."""
    if options.get("use_regex") or not check_address(options, Diagnostics()):
        return None
    path = options.optional_string("table_path")
    catalog, names = (None, parse_name(options.string("table"))) if path is None else _split(parse_name(path))
    return TablePath(names[-1], None, ".".join(names[:-1]) or None, catalog)


def _split(names: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    return names[0], names[1:]


def folder_of(options: Options) -> str | None:
    """The table's directory as the options name it; None where a catalog knows it."""
    warehouse = options.optional_string("warehouse")
    if warehouse is None:
        return None
    return "/".join((warehouse.rstrip("/"), *parse_name(options.string("table"))))


def local_folder(options: Options) -> str | None:
    """The table's directory on this machine's disk, where it is on it."""
    folder = folder_of(options)
    return None if folder is None else local_path(folder)


def root_of(options: Options) -> str:
    """The directory of the tables as the options name it; empty where only a catalog knows it."""
    return options.optional_string("warehouse") or catalog_config(options).get("warehouse", "")


def target_of(options: Options) -> str | None:
    """The table as one text, however it is named; None where options that need not be checked yet name none."""
    if not options.get("use_regex") and not check_address(options, Diagnostics()):
        return None
    folder = folder_of(options)
    if folder is not None:
        return target_folder(folder)
    config = catalog_config(options)
    place = f"{config.get('uri') or config.get('type')}:" if config else ""
    return f"iceberg:{place}{options.string('table' if config else 'table_path')}"


@dataclass(frozen=True, slots=True)
class OpenCatalog:
    """A catalog of Spark's, and the settings by which a session has it; `root`: its directory as a URI, where it is
    one."""

    name: str
    root: str | None
    settings: Mapping[str, str]
    secrets: Mapping[str, str] = field(repr=False)


def address_of(spark: "SparkSession", options: Options) -> TableAddress:
    """Raises `RunError` (PEN5005) where the session has no such catalog."""
    path = options.optional_string("table_path")
    names = parse_name(options.string("table") if path is None else path)
    found = catalog_of(spark, options, None if path is None else names[0])
    *namespace, table = names if path is None else names[1:]
    folder = None if found.root is None else "/".join((found.root.rstrip("/"), *namespace, table))
    return TableAddress(found.name, tuple(namespace), table, folder, found.settings, found.secrets)


def catalog_of(spark: "SparkSession", options: Options, name: str | None) -> OpenCatalog:
    """The catalog of that name in the session, or the block's own. Raises `RunError` (PEN5005) where there is none."""
    warehouse, config = options.optional_string("warehouse"), dict(catalog_config(options))
    hadoop = hadoop_settings(options)
    StoreSettings.of(root_of(options), hadoop).apply(spark)
    if name is None:
        config |= {f"hadoop.{key}": value for key, value in hadoop.items()}
        root = as_uri(files_at(spark, warehouse)[1]) if warehouse is not None else None
        config |= {} if root is None else {"type": "hadoop", "warehouse": root}
        identity = root if root is not None and len(config) == len(_HADOOP) else repr(sorted(config.items()))
        own = f"penstock_{sha256(identity.encode()).hexdigest()[:12]}"
        return OpenCatalog(own, root, *_own_catalog(own, config))
    prefix = f"spark.sql.catalog.{name}"
    given = {key: value for key, value in spark.conf.getAll.items() if f"{key}.".startswith(f"{prefix}.")}
    if prefix not in given:
        message = f"the Spark session has no catalog `{name}`"
        help = f"env {{ {prefix} = org.apache.iceberg.spark.SparkCatalog, {prefix}.type = rest, {prefix}.uri = … }}"
        raise run_error("PEN5005", message, options.span("table_path"), help)
    return OpenCatalog(name, None, *_parted(given))


_HADOOP: Final = ("type", "warehouse")


def _own_catalog(name: str, config: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    prefix = f"spark.sql.catalog.{name}"
    return _parted(
        {
            prefix: "org.apache.iceberg.spark.SparkCatalog",
            **{f"{prefix}.{key}": value for key, value in config.items()},
            f"{prefix}.cache-enabled": "false",  # another session of this process may have written meanwhile
        }
    )


def _parted(given: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The settings that are no secrets, and those that are."""
    secrets = {key: value for key, value in given.items() if is_secret_name(key) or redacted(value) != value}
    return {key: value for key, value in given.items() if key not in secrets}, secrets
