"""Parts of structs, and of arrays and maps of them, by dotted name."""

from catalog.datatypes import STRING, UNKNOWN, Array, DataType, Map, Struct
from sql.typed import NOT_KNOWN, Typed


def field_of(typed: Typed, name: str) -> Typed | None:
    """What `x.name` is; None where Spark refuses it. `.name` of an array of structs is the array of the fields."""
    match typed.type:
        case Struct() as struct:
            field = struct.field(name)
            if field is None:
                return None
            return Typed(field.type, typed.nullable or field.nullable)
        case Array(Struct() as struct, contains_null):
            field = struct.field(name)
            if field is None:
                return None
            return Typed(Array(field.type, contains_null or field.nullable), typed.nullable)
        case Map(key, value) if key in (STRING, UNKNOWN):
            return Typed(value, True)
        case type_ if type_ == UNKNOWN or (isinstance(type_, Array) and type_.element == UNKNOWN):
            return NOT_KNOWN
        case _:
            return None


def is_ambiguous(type: DataType, name: str) -> bool:
    """Whether a struct has several fields of that name, which Spark refuses to choose from."""
    struct = type.element if isinstance(type, Array) else type
    return isinstance(struct, Struct) and sum(each.name.lower() == name.lower() for each in struct.fields) > 1


def field_names(type: DataType) -> list[str]:
    struct = type.element if isinstance(type, Array) else type
    return [field.name for field in struct.fields] if isinstance(struct, Struct) else []
