"""Parts of structs, and of arrays and maps of them, by dotted name."""

from catalog.types.datatypes import STRING, UNKNOWN, Array, DataType, Field, Map, Struct
from sql.types.casts import can_cast
from sql.types.expression_type import NOT_KNOWN, Typed


def field_of(typed: Typed, name: str) -> Typed | None:
    """What `x.name` is; None if Spark refuses it. `.name` of an array of structs is the array of the fields."""
    match typed.type:
        case Struct() as struct:
            field = _only(struct, name)
            return Typed(field.type, typed.nullable or field.nullable) if field else None
        case Array(Struct() as struct, contains_null):
            field = _only(struct, name)
            return Typed(Array(field.type, contains_null or field.nullable), typed.nullable) if field else None
        case Map(key, value) if key == UNKNOWN or can_cast(STRING, key):
            return Typed(value, True)
        case type_ if type_ == UNKNOWN or (isinstance(type_, Array) and type_.element == UNKNOWN):
            return NOT_KNOWN
        case _:
            return None


def refusal(owner: str, type: DataType, name: str) -> tuple[str, str]:
    """The code and the words for a field that `field_of` does not give."""
    known = [field.lower() for field in field_names(type)]
    many = known.count(name.lower())
    if many > 1:
        return "PEN3003", f"`{name}` is ambiguous: {owner} has {many} fields of that name"
    what = f"has no field `{name}`" if known or owner == str(type) else f"is of type {type}, which has no fields"
    return "PEN3005", f"{owner} {what}"


def field_names(type: DataType) -> list[str]:
    struct = type.element if isinstance(type, Array) else type
    return [field.name for field in struct.fields] if isinstance(struct, Struct) else []


def _only(struct: Struct, name: str) -> Field | None:
    found = struct.named(name)
    return found[0] if len(found) == 1 else None
