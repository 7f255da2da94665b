"""Typing a call: its function, the number and kinds of its arguments, and its result."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from catalog.diagnostics.diagnostic import did_you_mean
from catalog.spark_version import SparkVersion
from catalog.types.datatypes import STRING, UNKNOWN, VOID, Array, DataType, Map, has_unknown, is_numeric
from sql.functions.argument_kinds import kind
from sql.functions.catalogue import Signature, flags, function_names, signatures
from sql.functions.foreign_functions import FILE_READERS, FOREIGN_FUNCTIONS, READ_FILES
from sql.functions.modifiers import check_modifiers, check_unit, check_values
from sql.functions.rules import RULES
from sql.functions.rules.argument_checks import becomes_null
from sql.functions.rules.call import Call
from sql.parsing.call_names import call_name
from sql.types.casts import forces_null
from sql.types.expression_type import NOT_KNOWN, Scope, Typed
from sql.types.mismatch import Mismatch
from sql.types.type_family import kind_of
from sql.types.type_names import parse_schema

Infer = Callable[[exp.Expr, Scope], Typed]


PARAMETERS = {
    **dict.fromkeys(("explode", "explode_outer", "posexplode", "posexplode_outer"), ("collection",)),
    **dict.fromkeys(("inline", "inline_outer", "variant_explode", "variant_explode_outer"), ("input",)),
    "mask": ("str", "upperchar", "lowerchar", "digitchar", "otherchar"),
    "count_min_sketch": ("column", "epsilon", "confidence", "seed"),
}
"""The names of arguments, of functions that take them by name."""

GAPS = {"mask.upperchar": "X", "mask.lowerchar": "x", "mask.digitchar": "n"}
"""What an argument is that is left out before one that is given by name."""

_IN_WORDS = {
    "summable": "numbers and intervals",
    "number": "numbers",
    "numeric": "numbers",
    "integral": "integers",
    "orderable": "values that can be ordered",
    "hashable": "values of any type but map",
    "number_or_interval": "numbers and intervals",
    "number_or_any_interval": "numbers and intervals",
    "approximable": "numbers, dates, timestamps and intervals",
    "moment": "dates and timestamps",
    "instant": "dates and timestamps",
    "sketchable": "booleans, numbers, dates and timestamps",
    "comparable_array": "arrays of values that can be ordered",
}
"""Kinds of arguments whose names are not those of types."""

_WITHOUT_STARS = frozenset(("any_value", "first", "last"))
"""Functions that are rules of Spark's grammar, which expands no star in them; `first_value(*)` is a call."""

SYNTACTIC = {"lambda": NOT_KNOWN, "unit": Typed(STRING, False, True)}
"""Arguments that are no expressions of their own."""


def infer_call(node: exp.Anonymous, scope: Scope, infer: Infer) -> Typed:
    """The type of a call; unknown functions, wrong counts and types of arguments are reported."""
    name = call_name(node).lower()
    known = signatures(name, scope.spark)
    if not known:
        _each(node.expressions, scope, infer)
        scope.report("PEN3006", node, f"there is no function `{name}`", _nearest(name, scope.spark))
        return NOT_KNOWN
    if known[0].kind == "table":
        _each(node.expressions, scope, infer)
        scope.report("PEN3006", node, f"`{name}` is a table function, not a value", f"write `FROM {name}(…)`")
        return NOT_KNOWN
    check_modifiers(node, known[0], scope)
    nodes, typed, is_open = arguments(node, scope)
    if any(isinstance(argument, exp.Kwarg) for argument in nodes) or is_open:
        _each([argument for argument, known_ in zip(nodes, typed, strict=True) if known_ is None], scope, infer)
        return NOT_KNOWN
    fitting = [candidate for candidate in known if candidate.fits(len(nodes))]
    if not fitting:
        _each([argument for argument, known_ in zip(nodes, typed, strict=True) if known_ is None], scope, infer)
        scope.report("PEN3007", node, f"`{name}` takes {_counts(known)}, {_many(len(nodes))} given")
        return NOT_KNOWN
    signature = fitting[0]
    given = [
        known_ or SYNTACTIC.get(signature.kind_at(index)) or infer(argument, scope)
        for index, (argument, known_) in enumerate(zip(nodes, typed, strict=True))
    ]
    check_values(name, nodes, scope)
    if signature.kind_at(0) == "unit":
        check_unit(name, nodes[0], scope)
    if "named_by_type" in signature.flags and given[0].type != UNKNOWN:
        scope.printed.note_shape(node, kind_of(given[0].type))
    if "types_nulls" in signature.flags:
        for expression, arg in zip(nodes, given, strict=True):
            if arg.type == VOID:
                scope.printed.note_texts(expression, ("NULL",))
    args = _cast(signature, nodes, given, scope)
    if args is None:
        _lambdas(signature, nodes, scope, infer)
        return NOT_KNOWN
    found = _result(node, signature, Call(name, nodes, args, given, scope, infer))
    if name == "array" and isinstance(found.type, Array):
        found = replace(found, elements=tuple(becomes_null([arg], found.type.element) for arg in given))
    if name == "from_json":
        scope.printed.note_shape(node, kind_of(found.type))
    return found


def _each(nodes: Sequence[exp.Expr], scope: Scope, infer: Infer) -> None:
    for node in nodes:
        infer(node, scope)


def arguments(node: exp.Anonymous, scope: Scope) -> tuple[list[exp.Expr], list[Typed | None], bool]:
    """The arguments, what is known of those that a star stands for, and whether a star's columns are not known."""
    nodes: list[exp.Expr] = []
    typed: list[Typed | None] = []
    for argument in _in_order(node, list(_unwrapped(node.expressions)), scope):
        if isinstance(argument, exp.Star) or (isinstance(argument, exp.Column) and isinstance(argument.this, exp.Star)):
            is_count = call_name(node).lower() == "count" and isinstance(argument, exp.Star)
            if is_count and len(_plain(node)) == 1:
                if isinstance(node.expressions[0], exp.Distinct):
                    starred = scope.expand(argument) or ()
                    scope.printed.note_texts(argument, tuple(column.name for column in starred))
                return [argument], [Typed(VOID, False)], False
            columns = scope.expand(argument)
            if call_name(node).lower() in _WITHOUT_STARS and len(_plain(node)) == 1:
                message = f"`{call_name(node)}` takes no `*`"
                scope.report("PEN3017", argument, message, "name the column")
                columns = None
            if columns is None:
                return [argument], [NOT_KNOWN], True
            scope.printed.note_texts(argument, tuple(column.name for column in columns))
            nodes += [_of_star(argument, column.name) for column in columns]
            typed += [column.typed for column in columns]
        else:
            nodes.append(argument)
            typed.append(None)
    return nodes, typed, False


def _of_star(star: exp.Expr, name: str) -> exp.Expr:
    """A column that a star stands for, whose location is that of the star."""
    column = exp.column(name)
    column.parent = star
    return column


def _plain(node: exp.Anonymous) -> list[exp.Expr]:
    return list(_unwrapped(node.expressions))


def _in_order(node: exp.Anonymous, nodes: list[exp.Expr], scope: Scope) -> list[exp.Expr]:
    """Arguments given by name, at their places; as they are where that can't be done."""
    named = [argument for argument in nodes if isinstance(argument, exp.Kwarg)]
    if not named:
        return nodes
    name = call_name(node).lower()
    names = PARAMETERS.get(name)
    if names is None and (known := signatures(name, scope.spark)):
        if known[0].result == "@cast":  # `date(x => ...)`, where Spark looks at no name
            return [argument.expression if isinstance(argument, exp.Kwarg) else argument for argument in nodes]
        scope.report("PEN3007", named[0], f"`{name}` takes no arguments by name", "give them by position")
    if names is None:
        return nodes
    placed = [argument for argument in nodes if not isinstance(argument, exp.Kwarg)]
    given: dict[str, exp.Expr] = {}
    for keyword in named:
        parameter = keyword.name.lower()
        if parameter not in names:
            scope.report(
                "PEN3007", keyword, f"`{name}` has no argument named `{keyword.name}`", f"it has {', '.join(names)}"
            )
        elif parameter in given or parameter in names[: len(placed)]:
            scope.report("PEN3007", keyword, f"the argument `{keyword.name}` is given twice")
        given[parameter] = keyword.expression
    for parameter in names[len(placed) :]:
        if not given:
            break
        missing = GAPS.get(f"{name}.{parameter}")
        if parameter not in given and missing is None:
            break
        placed.append(given.pop(parameter) if parameter in given else exp.Literal.string(missing))
    if given:
        if len(placed) < len(names):
            _refuse_missing(name, names[len(placed)], given, named[0], scope)
        return nodes
    scope.printed.note_arguments(node, tuple(placed))
    return placed


def _refuse_missing(name: str, parameter: str, given: Mapping[str, exp.Expr], first: exp.Expr, scope: Scope) -> None:
    """Report a required argument that is missing among those given by name."""
    known = signatures(name, scope.spark)
    required = PARAMETERS[name][: len(known[0].required)] if known else ()
    if parameter in required and parameter not in given:
        scope.report("PEN3007", first, f"`{name}` needs its argument `{parameter}`", f"add `{parameter} => …`")


def _unwrapped(nodes: Sequence[exp.Expr]) -> Iterator[exp.Expr]:
    for node in nodes:
        if isinstance(node, exp.Distinct):
            yield from _unwrapped(node.expressions)
        elif isinstance(node, (exp.IgnoreNulls, exp.RespectNulls, exp.Order)):
            yield from _unwrapped([node.this])
        else:
            yield node


def _result(node: exp.Anonymous, signature: Signature, call: Call) -> Typed:
    nodes, args = call.nodes, call.args
    foldable = signature.kind == "scalar" and not signature.is_random and all(arg.foldable for arg in args)
    try:
        found = _type(signature, call)
    except Mismatch as error:
        place = nodes[error.argument] if error.argument is not None and error.argument < len(nodes) else node
        call.scope.report(error.code, place, error.message)
        return NOT_KNOWN
    if isinstance(found, Typed):
        nullable = found.nullable if signature.nullable in ("@", "no") else _nullable(signature, args)
        if signature.nullable == "any" and signature.result.startswith("@"):
            nullable = found.nullable
        is_guessed = found.type == UNKNOWN and signature.nullable != "@"
        return Typed(found.type, nullable or is_guessed, foldable and found.type != UNKNOWN)
    return Typed(found, _nullable(signature, args) or found == UNKNOWN, foldable)


def _lambdas(signature: Signature, nodes: Sequence[exp.Expr], scope: Scope, infer: Infer) -> None:
    """Columns within lambda functions are named even where the call can't be typed."""
    for index, node in enumerate(nodes):
        if signature.kind_at(index) == "lambda":
            infer(node, scope)


def _cast(signature: Signature, nodes: Sequence[exp.Expr], given: Sequence[Typed], scope: Scope) -> list[Typed] | None:
    """The arguments as cast to their kinds; None if one does not fit, which is reported."""
    args: list[Typed] = []
    fits = True
    for index, (node, arg) in enumerate(zip(nodes, given, strict=True)):
        wanted = signature.kind_at(index)
        if isinstance(node, exp.Lambda) and wanted != "lambda":
            scope.report("PEN3008", node, f"`{signature.name}` takes no lambda function here")
            fits = False
        if wanted in SYNTACTIC or arg.type == UNKNOWN:
            args.append(arg)
            continue
        taken = kind(wanted)
        if not taken.takes(arg.type) and not has_unknown(arg.type):
            scope.report("PEN3008", node, f"`{signature.name}` does not take {arg.type} here", _allowed(wanted))
            fits = False
        elif taken.is_constant and not arg.foldable and varies(node):
            scope.report("PEN3008", node, f"`{signature.name}` takes a constant here")
            fits = False
        elif wanted == "map!~" and isinstance(arg.type, Map) and {arg.type.key, arg.type.value} - {STRING, UNKNOWN}:
            scope.report("PEN3008", node, f"options are a map of strings, this is {arg.type}")
            fits = False
        elif taken.is_constant and not _is_number(arg, taken.target):
            scope.report("PEN3013", node, f"'{arg.value}' is no {taken.target}")
            fits = False
        target = taken.cast(arg.type)
        if target is arg.type:
            args.append(arg)
            continue
        nullable = arg.nullable or forces_null(arg.type, target)
        args.append(Typed(target, nullable, arg.foldable, arg.value, arg.elements))
    return args if fits else None


def varies(node: exp.Expr) -> bool:
    """Whether a value is of a row, of a subquery, or random."""
    if node.find(exp.Column, exp.Query) is not None:
        return True
    return any("random" in flags(call_name(call).lower()) for call in node.find_all(exp.Anonymous))


def _is_number(arg: Typed, target: DataType | None) -> bool:
    """Whether a string literal can be cast to the number that is taken; true of all else."""
    if not isinstance(arg.value, str) or arg.type != STRING or target is None or not is_numeric(target):
        return True
    try:
        float(arg.value)
    except ValueError:
        return False
    return True


def _allowed(wanted: str) -> str:
    kinds = (_IN_WORDS.get(kind, kind.replace("_", " ")) for kind in wanted.strip("=!~").split("|"))
    return f"it takes {', '.join(kinds)}"


def _type(signature: Signature, call: Call) -> DataType | Typed:
    result = signature.result
    if result.startswith("@"):
        if any(arg.type == UNKNOWN for arg in call.args) and not _tolerates(signature, len(call.args)):
            return NOT_KNOWN
        return RULES[result[1:]](call)
    if result.startswith("$"):
        return call.type(int(result[1:]) - 1)
    return parse_schema(result) or UNKNOWN


def _tolerates(signature: Signature, count: int) -> bool:
    """Whether a rule gives a type even for unknown arguments, as lambda functions are."""
    takes_lambda = any(signature.kind_at(index) == "lambda" for index in range(count))
    return takes_lambda or signature.name in ("struct", "named_struct", "equal_null", "array_contains", "width_bucket")


def _nullable(signature: Signature, args: Sequence[Typed]) -> bool:
    match signature.nullable:
        case "yes" | "@":
            return True
        case "no":
            return False
        case "any":
            return any(arg.nullable for arg in args)
        case positions:
            wanted = [int(part) - 1 for part in positions.split(",")]
            return any(args[index].nullable for index in wanted if index < len(args))


def _counts(known: Sequence[Signature]) -> str:
    if any(signature.repeated is not None for signature in known):
        return f"at least {_many(min(len(signature.required) for signature in known), 'argument')}"
    counts = sorted(
        {
            n
            for signature in known
            for n in range(len(signature.required), len(signature.required + signature.optional) + 1)
        }
    )
    shown = [str(count) for count in counts]
    text = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"
    return f"{text} argument" + ("" if counts == [1] else "s")


def _many(count: int, noun: str = "") -> str:
    if noun:
        return f"{count} {noun}" + ("" if count == 1 else "s")
    return f"{count} is" if count == 1 else f"{count} are"


def _nearest(name: str, spark: SparkVersion) -> str | None:
    if name in FILE_READERS:
        return READ_FILES
    if name == "stream":
        return "name the table alone: `SET 'job.mode' = 'STREAMING'` makes the job a stream"
    if name in FOREIGN_FUNCTIONS:
        return f"in Spark: `{FOREIGN_FUNCTIONS[name]}`"
    help = did_you_mean(name, function_names(spark))
    return help if help is not None and help.startswith("did") else None
