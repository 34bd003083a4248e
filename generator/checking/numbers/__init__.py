"""Numbers of a text, and signs that a number of a sentence is not the sources'."""
