"""Random projects of jobs that read each other's columns, and edits of one column of one job."""

import random
from dataclasses import dataclass, replace

SOURCES = {
    "orders": {"id": "int", "customer": "int", "amount": "decimal(10,2)", "day": "date", "status": "string"},
    "customers": {"id": "int", "name": "string", "country": "string", "since": "date"},
}
EXPRESSIONS = {
    "int": [("{c} + 1", "int"), ("{c} * 2", "int"), ("abs({c})", "int"), ("{c} between 1 and 9", "boolean")],
    "string": [("upper({c})", "string"), ("length({c})", "int"), ("{c} like 'a%'", "boolean")],
    "date": [("year({c})", "int"), ("date_add({c}, 1)", "date"), ("last_day({c})", "date")],
    "decimal": [("-{c}", "decimal"), ("{c} > 10", "boolean")],
    "boolean": [("not {c}", "boolean"), ("{c} and true", "boolean")],
}
AGGREGATES = {"int": [("max({c})", "int"), ("count({c})", "bigint")], "date": [("min({c})", "date")],
              "decimal": [("max({c})", "decimal")], "string": [("count(distinct {c})", "bigint")]}  # fmt: skip
TYPES = ("string", "boolean", "bigint", "double", "decimal(20,4)", "date", "binary", "timestamp", "array<int>")
PARTS = ("", "", "distinct ")


@dataclass(frozen=True)
class Item:
    """A column of a query: its expression, name and kind of type; `*` for all columns."""

    text: str
    name: str
    kind: str

    def __str__(self) -> str:
        return self.text if self.text == "*" else f"{self.text} as {self.name}"


@dataclass(frozen=True)
class RandomJob:
    """`reads`: the names of jobs, in the order of the query's inputs; `declared`: the columns of the first that the
    reader declares. `end`: what follows the selected columns."""

    name: str
    reads: tuple[str, ...]
    items: tuple[Item, ...]
    end: str
    format: str = "parquet"
    declared: tuple[tuple[str, str], ...] = ()

    @property
    def query(self) -> str:
        return f"select {', '.join(map(str, self.items))} {self.end}"

    @property
    def text(self) -> str:
        """The job file."""
        if self.name in SOURCES:
            fields = ", ".join(f'{name} = "{type}"' for name, type in SOURCES[self.name].items())
            sources = f'LocalFile {{ plugin_output = raw, path = "raw/{self.name}", file_format_type = csv, ' \
                      f"schema {{ fields {{ {fields} }} }} }}"  # fmt: skip
            inputs = "raw"
        else:
            sources = "\n".join(self._source(read, number) for number, read in enumerate(self.reads))
            inputs = ", ".join(self.reads)
        sink = "Delta {" if self.format == "delta" else "LocalFile { file_format_type = parquet,"
        return (
            f"source {{ {sources} }}\n"
            f'transform {{ Sql {{ plugin_input = [{inputs}], plugin_output = out\n  query = """{self.query}""" }} }}\n'
            f'sink {{ {sink} plugin_input = out, path = "lake/{self.name}" }} }}\n'
        )

    def _source(self, read: str, number: int) -> str:
        name, _, form = read.partition("__")
        connector = "Delta {" if form == "delta" else "LocalFile { file_format_type = parquet,"
        fields = ", ".join(f'{column} = "{type}"' for column, type in self.declared)
        schema = f", schema {{ fields {{ {fields} }} }}" if self.declared and number == 0 else ""
        return f'{connector} plugin_output = {read}, path = "lake/{name}"{schema} }}'


def random_project(chance: random.Random, size: int = 8) -> dict[str, RandomJob]:
    """Jobs by their names, each after those that it reads."""
    jobs: dict[str, RandomJob] = {}
    for name, columns in SOURCES.items():
        items = tuple(Item(column, column, type.partition("(")[0]) for column, type in columns.items())
        jobs[name] = RandomJob(name, (), items, "from raw", chance.choice(("parquet", "delta")))
    columns = {name: job.items for name, job in jobs.items()}
    for number in range(size):
        job = _with_names(_random_job(f"job{number}", columns, jobs, chance))
        jobs[job.name] = job
        columns[job.name] = columns[job.reads[0].partition("__")[0]] if job.items[0].text == "*" else job.items
    return jobs


def _with_names(job: RandomJob) -> RandomJob:
    """The job with columns of different names."""
    return replace(job, items=tuple({item.name: item for item in job.items}.values()))


def _random_job(
    name: str, columns: dict[str, tuple[Item, ...]], jobs: dict[str, RandomJob], chance: random.Random
) -> RandomJob:
    first, second = chance.choice(list(columns)), chance.choice(list(columns))
    reads = [f"{each}__{jobs[each].format}" for each in (first, second)]
    format, form = chance.choice(("parquet", "delta")), chance.random()
    if form < 0.1:
        return RandomJob(name, (reads[0],), (Item("*", "*", ""),), f"from {reads[0]}", format)
    if form < 0.35:
        keys = [item for item in columns[first] if item.kind in ("string", "date", "boolean", "int")][:1]
        items = [Item(key.name, key.name, key.kind) for key in keys]
        for item in columns[first]:
            text, kind = chance.choice(AGGREGATES.get(item.kind, [("count({c})", "bigint")]))
            items.append(Item(text.format(c=item.name), f"of_{item.name}", kind))
        group = f"group by {', '.join(key.name for key in keys)}" if keys else ""
        return RandomJob(name, (reads[0],), tuple(items), f"from {reads[0]} {group}", format)
    left, right = ([item for item in columns[each] if item.kind == "int"] for each in (first, second))
    if form < 0.6 and first != second and left and right:
        own = [Item(f"a.{item.name}", item.name, item.kind) for item in columns[first]]
        other = [Item(f"b.{item.name}", f"b_{item.name}", item.kind) for item in columns[second][:2]]
        on = f"a.{chance.choice(left).name} = b.{chance.choice(right).name}"
        return RandomJob(name, tuple(reads), (*own, *other), f"from {reads[0]} a join {reads[1]} b on {on}", format)
    items = []
    for item in chance.sample(columns[first], chance.randint(1, len(columns[first]))):
        items.append(Item(item.name, item.name, item.kind))
        if item.kind in EXPRESSIONS and chance.random() < 0.6:
            text, kind = chance.choice(EXPRESSIONS[item.kind])
            items.append(Item(text.format(c=item.name), f"{item.name}_{len(items)}", kind))
    where = f"where {items[0].name} is not null" if chance.random() < 0.4 else ""
    return RandomJob(name, (reads[0],), tuple(items), f"from {reads[0]} {where}", format)


def mutated(jobs: dict[str, RandomJob], chance: random.Random) -> dict[str, RandomJob]:
    """The jobs with one column of one of them renamed, removed, or of another type."""
    job = chance.choice([job for job in jobs.values() if job.items[0].text != "*"])
    number = chance.randrange(len(job.items))
    item, items = job.items[number], list(job.items)
    edit = chance.choice(("rename", "remove", "retype", "retype"))
    if edit == "remove" and len(items) > 1:
        del items[number]
    elif edit == "retype":
        items[number] = replace(item, text=f"cast({item.text} as {chance.choice(TYPES)})")
    else:
        items[number] = replace(item, name=f"{item.name}_new")
    return {**jobs, job.name: replace(job, items=tuple(items))}
