"""Keys in a node's meta under which the typer records what the printed form depends on."""

from typing import Final

SHAPE: Final = "spark_shape"
"""What decides how an operator or a call is printed beside its operands: that a sum has dates, that a side is NULL."""
STARRED: Final = "spark_starred"
"""What is printed in place of an argument: the columns that a star stands for, or the NULL that Spark puts there."""
PLACED: Final = "spark_placed"
"""The arguments of a call in the order of its parameters, where some were given by name."""
WORD: Final = "spark_word"
"""The call that a bare word such as `current_date` stands for."""
