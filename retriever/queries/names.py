"""The names of the queries of a plan, and the notes if none is left to send."""

QUESTION = "question"  # the whole question
NOTHING_TO_SEARCH = "nothing to search for: only stop words, punctuation or signs"
ALL_LEFT_OUT = "all queries are left out: nothing is searched for"
EXPRESSION = "expression"  # of the expert language
FEEDBACK = "feedback"  # terms of the best passages
BRIDGES = "bridges"  # names in the best passages, and the words that these leave uncovered
NEAREST = "nearest"  # the passages nearest to the question's vector; not a query of words


def progressive_name(n: int) -> str:
    """Return the name of the progressive query of the first n keywords."""
    return f"SQ{n}"


def progressive_number(name: str) -> int | None:
    """Return the n of SQn; None for another query."""
    number = name.removeprefix("SQ")
    return int(number) if number != name and number.isdecimal() else None
