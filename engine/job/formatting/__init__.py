"""Job files with uniform white space: nothing else of them changes."""
