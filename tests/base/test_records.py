"""JSON of values: fields as annotated, or those of `record_fields`."""

from dataclasses import dataclass
from typing import Annotated, Any

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


def test_a_record_has_the_fields_of_the_value_as_json():
    book = Book("Sea ice", 1.23456, (Author("Kim"),), 0, "A3")

    assert book.as_record() == {"title": "Sea ice", "weight": 1.23, "authors": [{"name": "Kim"}], "pages": 0}


def test_a_record_omits_empty_and_unknown_values_where_the_field_says_so():
    assert Book("Sea ice").as_record() == {"title": "Sea ice", "weight": 0.0}


def test_record_fields_replace_the_fields_of_the_value_also_within_another_one():
    shelf = Shelf((Book("Sea ice"), Book("Air surveys")), open=object())
    shown = {"first": {"title": "Sea ice", "weight": 0.0}, "count": 2}

    assert shelf.as_record() == shown
    assert Library((shelf,)).as_record() == {"shelves": [shown]}
