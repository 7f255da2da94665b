"""What the typer notes about nodes for the namer."""

from sqlglot import exp

from sql.types.printed_forms import PrintedForms


def test_facts_are_those_of_the_node_itself():
    forms, node, equal = PrintedForms(), exp.column("a"), exp.column("a")
    forms.note_shape(node, "days")
    forms.note_texts(node, ("a", "b"))
    assert (forms.shape(node), forms.texts(node)) == ("days", ("a", "b"))
    assert (forms.shape(equal), forms.texts(equal)) == (None, ())


def test_arguments_are_those_of_the_call_unless_others_are_noted():
    forms, call = PrintedForms(), exp.Anonymous(this="f", expressions=[exp.column("a"), exp.column("b")])
    assert forms.arguments(call) == call.expressions
    forms.note_arguments(call, (call.expressions[1],))
    assert forms.arguments(call) == (call.expressions[1],)
