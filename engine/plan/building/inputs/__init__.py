"""The inputs of a block: several as one, their names in a query, and what the output takes over from them."""
