"""Names and texts as Spark SQL reads them."""


def quote(name: str) -> str:
    """A name as a quoted identifier."""
    return "`" + name.replace("`", "``") + "`"


def quote_text(value: str) -> str:
    """A value as a string literal (escapes as with `spark.sql.parser.escapedStringLiterals` off)."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
