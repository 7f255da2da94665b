"""CREATE TABLE and CREATE VIEW of a SQL job file, read token by token."""

from collections.abc import Callable

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import PlacedText
from catalog.tables.violation import OnViolation
from sql.script.foreign_statements import CREATE_INSTEAD
from sql.script.statements import ColumnDefinition, CreateTable, CreateView, ExpectDefinition, KeyDefinition, Property
from sql.script.tokens import ScriptSyntaxError, TokenCursor, unquoted

COLUMN_STOPS = ("NOT", "NULL", "DEFAULT", "COMMENT", "PRIMARY", "PRIMARY KEY", "UNIQUE", "GENERATED", "CONSTRAINT", ",")
CREATE_CLAUSES = {
    "LIKE": "CREATE VIEW name AS SELECT * FROM table takes its columns, or list them",
}
"""What to write for clauses behind a CREATE that a job file does not have."""
NO_CLAUSES = {
    "USING": "name the connector in WITH ('connector' = '…')",
    "TBLPROPERTIES": "write the options of the connector in WITH (…)",
    "OPTIONS": "write the options of the connector in WITH (…)",
    "LOCATION": "the path is an option of the connector, in WITH (…)",
    "CLUSTERED": "bucketing is not supported",
    "CLUSTER BY": "clustering is an option of the connector, in WITH (…)",
    "CLUSTER": "clustering is an option of the connector, in WITH (…)",
}


def read_create(cursor: TokenCursor, comments: tuple[str, ...], diagnostics: Diagnostics) -> CreateTable | CreateView:
    """What follows CREATE."""
    or_replace = cursor.take("OR", "REPLACE")
    is_temporary = cursor.take("TEMPORARY") or cursor.take("TEMP")
    if cursor.take("VIEW"):
        return _create_view(cursor, comments, diagnostics, or_replace)
    if is_temporary or not (cursor.take("TABLE") or cursor.take("TABLES")):
        if is_temporary:
            raise cursor.error("expected `VIEW`", CREATE_INSTEAD["TEMPORARY"])
        cursor.take("OR")
        raise cursor.error("expected `TABLE`, `TABLES` or `VIEW`", CREATE_INSTEAD.get(cursor.word()))
    return _create_table(cursor, comments, diagnostics, or_replace)


def _create_table(
    cursor: TokenCursor, comments: tuple[str, ...], diagnostics: Diagnostics, or_replace: bool
) -> CreateTable:
    text = cursor.between(0, len(cursor.tokens))
    cursor.take("IF", "NOT", "EXISTS")
    name = cursor.name("the name of a table")
    body = _Body(cursor, diagnostics)
    if cursor.word() == "(":
        body.read_columns(with_types=True)
    body.read_clauses()
    query = body.read_query() if cursor.take("AS") or cursor.word() in ("SELECT", "FROM") else None
    return CreateTable(
        name, text, tuple(body.columns), tuple(body.keys), tuple(body.expectations), body.comment,
        body.partitioned_by, tuple(body.properties), query, or_replace, comments,
    )  # fmt: skip


def _create_view(
    cursor: TokenCursor, comments: tuple[str, ...], diagnostics: Diagnostics, or_replace: bool
) -> CreateView:
    text = cursor.between(0, len(cursor.tokens))
    cursor.take("IF", "NOT", "EXISTS")
    name = cursor.name("the name of a view")
    body = _Body(cursor, diagnostics)
    if cursor.word() == "(":
        body.read_columns(with_types=False)
    body.read_clauses()
    if body.partitioned_by:
        raise ScriptSyntaxError("a view has no partitions", body.partitioned_by[0].span())
    query = None
    if cursor.take("AS"):
        query = body.read_query()
    elif not body.properties:
        raise cursor.error("expected `AS` and a query", "or WITH ('transform' = '…') for a transform by its name")
    return CreateView(
        name, text, query, tuple(body.columns), tuple(body.expectations), body.comment, tuple(body.properties),
        or_replace, comments,
    )  # fmt: skip


class _Body:
    """What stands behind the name of a table or view, gathered clause by clause."""

    def __init__(self, cursor: TokenCursor, diagnostics: Diagnostics) -> None:
        self.cursor, self.diagnostics = cursor, diagnostics
        self.columns: list[ColumnDefinition] = []
        self.keys: list[KeyDefinition] = []
        self.expectations: list[ExpectDefinition] = []
        self.properties: list[Property] = []
        self.comment: PlacedText | None = None
        self.partitioned_by: tuple[PlacedText, ...] = ()

    def read_columns(self, *, with_types: bool) -> None:
        self._read_list(lambda: self._element(with_types))

    def read_clauses(self) -> None:
        cursor = self.cursor
        while True:
            if cursor.take("COMMENT"):
                self.comment = cursor.string("a comment")
            elif cursor.take("PARTITIONED", "BY"):
                self.partitioned_by = self.cursor.names()
            elif cursor.take("WITH"):
                self._read_list(self._property)
            elif help := NO_CLAUSES.get(cursor.word()):
                raise cursor.error("a clause that a job file does not have", help)
            else:
                return

    def read_query(self) -> PlacedText:
        cursor = self.cursor
        if cursor.at_end:
            raise cursor.error("expected a query")
        start, cursor.index = cursor.index, len(cursor.tokens)
        return cursor.between(start, cursor.index)

    def _read_list(self, element: Callable[[], None]) -> None:
        """`(element, …)`; an invalid element is reported and the next one is read."""
        cursor = self.cursor
        cursor.expect("(")
        while True:
            try:
                element()
                if cursor.word() not in (",", ")"):
                    raise cursor.error("expected `,` or `)`")
            except ScriptSyntaxError as error:
                cursor.skip_element()
                if cursor.at_end:
                    raise
                self.diagnostics.error("PEN3001", error.message, error.span, error.help)
            if cursor.take(")"):
                return
            cursor.expect(",")

    def _element(self, with_types: bool) -> None:
        cursor = self.cursor
        if cursor.word() == "CONSTRAINT":
            cursor.index += 1
            self._constraint(cursor.name("the name of a constraint"))
        elif _starts_key(cursor):
            self._key(None)
        else:
            self._column(with_types)

    def _constraint(self, name: PlacedText) -> None:
        cursor = self.cursor
        if cursor.take("EXPECT"):
            self._expect(name)
        elif cursor.take("CHECK"):
            condition = cursor.parenthesized("a condition")
            self.expectations.append(ExpectDefinition(name, condition))
        elif _starts_key(cursor):
            self._key(name)
        else:
            raise cursor.error("expected `EXPECT`, `CHECK`, `PRIMARY KEY` or `UNIQUE`")

    def _expect(self, name: PlacedText) -> None:
        cursor = self.cursor
        condition = cursor.parenthesized("a condition")
        action, quarantine = OnViolation.FAIL, None
        if cursor.take("ON"):
            cursor.expect("VIOLATION")
            action = self._on_violation()
            if action is OnViolation.QUARANTINE:
                cursor.expect("INTO")
                quarantine = cursor.name("the name of a table")
        self.expectations.append(ExpectDefinition(name, condition, action, quarantine))

    def _on_violation(self) -> OnViolation:
        cursor = self.cursor
        for action, noise in (("FAIL", "UPDATE"), ("DROP", "ROW"), ("WARN", ""), ("QUARANTINE", "")):
            if cursor.take(action):
                if noise:
                    cursor.take(noise)
                return OnViolation(action)
        raise cursor.error("expected `FAIL`, `DROP`, `WARN` or `QUARANTINE INTO table`")

    def _key(self, name: PlacedText | None) -> None:
        cursor = self.cursor
        is_primary = cursor.take("PRIMARY", "KEY") or not cursor.take("UNIQUE")
        self.keys.append(KeyDefinition(self.cursor.names(), is_primary, name))
        cursor.take("NOT", "ENFORCED")

    def _column(self, with_types: bool) -> None:
        cursor = self.cursor
        name = cursor.name("a column")
        type = cursor.until(*COLUMN_STOPS, what=f"the type of `{name.value}`") if with_types else None
        nullable, default, comment = True, None, None
        while cursor.word() not in (",", ")", ""):
            if cursor.take("NOT", "NULL"):
                nullable = False
            elif cursor.take("NULL"):
                nullable = True
            elif cursor.take("DEFAULT"):
                default = cursor.until("NOT", "COMMENT", "PRIMARY", "PRIMARY KEY", ",", what="a value")
            elif cursor.take("PRIMARY", "KEY"):
                self.keys.append(KeyDefinition((name,), True))
            elif cursor.take("COMMENT"):
                comment = cursor.string("a comment")
            elif cursor.word() == "GENERATED":
                raise cursor.error("a column is not generated here", "compute it in the query that fills the table")
            else:
                raise cursor.error("expected `,`, `)`, `NOT NULL`, `DEFAULT`, `PRIMARY KEY` or `COMMENT`")
        self.columns.append(ColumnDefinition(name, type, nullable, default, comment))

    def _property(self) -> None:
        cursor = self.cursor
        key = cursor.string("an option") if cursor.word() == "" else cursor.until("=", ",", what="an option")
        cursor.expect("=")
        if cursor.word() == "" and not cursor.at_end:
            if cursor.word(1) == "" and cursor.word(2) == "=":
                first, after = cursor.tokens[cursor.index : cursor.index + 2]
                place = cursor.text.span(after.start, after.end + 1)
                self.diagnostics.error("PEN3001", f"a comma is missing before {cursor.raw(after)}", place)
                cursor.index += 1
                self.properties.append(Property(key, unquoted(cursor.text.slice(first.start, first.end + 1))))
                self._property()
                return
            self.properties.append(Property(key, cursor.string(f"the value of `{key.value}`")))
        else:
            value = cursor.until(",", what=f"the value of `{key.value}`")
            self.properties.append(Property(key, value, is_text=False))


def _starts_key(cursor: TokenCursor) -> bool:
    pair = f"{cursor.word()} {cursor.word(1)}"
    return cursor.word() == "PRIMARY KEY" or pair in ("PRIMARY KEY", "UNIQUE (")
