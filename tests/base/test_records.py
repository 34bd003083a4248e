"""JSON of values: fields as annotated, or those of `record_fields`."""

from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from typing_extensions import TypedDict

from base.records import IF_ANY, IF_KNOWN, INTERNAL, Recordable, rounded


@dataclass(frozen=True, slots=True)
class Author:
    name: str


@dataclass(frozen=True, slots=True)
class Book(Recordable):
    title: str
    weight: Annotated[float, rounded(2)] = 0.0
    authors: Annotated[tuple[Author, ...], IF_ANY] = ()
    pages: Annotated[int | None, IF_KNOWN] = None
    shelf: Annotated[str, INTERNAL] = ""


class Summary(TypedDict):
    first: Book
    count: int


@dataclass(frozen=True, slots=True)
class Shelf(Recordable):
    books: tuple[Book, ...]
    open: Any = None  # of no type that has JSON

    def record_fields(self) -> Summary:
        return {"first": self.books[0], "count": len(self.books)}


@dataclass(frozen=True, slots=True)
class Library(Recordable):
    shelves: tuple[Shelf, ...]


BOOK = Book("Sea ice", 1.23456, (Author("Kim"),), 0, "A3")
SHELF = Shelf((Book("Sea ice"), Book("Air surveys")), open=object())
SHOWN = {"first": {"title": "Sea ice", "weight": 0.0}, "count": 2}


@pytest.mark.parametrize(
    ("value", "record"),
    [
        (BOOK, {"title": "Sea ice", "weight": 1.23, "authors": [{"name": "Kim"}], "pages": 0}),
        (Book("Sea ice"), {"title": "Sea ice", "weight": 0.0}),  # empty and unknown values are omitted
        (SHELF, SHOWN),  # `record_fields` replace the fields of the value
        (Library((SHELF,)), {"shelves": [SHOWN]}),  # also within another one
    ],
)
def test_a_record_has_the_fields_of_the_value_as_json(value, record):
    assert value.as_record() == record
