"""Schemas of responses: joined from the types of their values."""

from dataclasses import dataclass
from typing import Annotated

import pytest
from pydantic import Field
from typing_extensions import TypedDict

from base.records import IF_KNOWN, Recordable
from server.api import schemas
from server.api.schemas import Shaped, shape_schemas


class AuthorRecord(TypedDict):
    name: Annotated[str, Field(description="as printed")]


@dataclass(frozen=True, slots=True)
class Book(Recordable):
    """A book."""

    title: str = ""
    year: Annotated[int | None, IF_KNOWN] = None
    authors: tuple[AuthorRecord, ...] = ()


class Lent(TypedDict):
    """A book that was lent."""

    reader: str


@pytest.fixture(autouse=True)
def shapes(monkeypatch):
    monkeypatch.setattr(schemas, "SHAPES", {})


def test_a_shape_has_the_fields_of_its_parts_and_the_description_of_the_last():
    Shaped(Book, Lent, name="LentBook")

    found = shape_schemas()

    assert found.keys() == {"LentBook", "Author"}
    assert found["Author"]["properties"]["name"]["description"] == "as printed"
    lent = found["LentBook"]
    assert lent["description"] == "A book that was lent."
    assert lent["properties"].keys() == {"title", "year", "authors", "reader"}
    assert lent["properties"]["authors"]["items"] == {"$ref": "#/components/schemas/Author"}
    assert lent["properties"]["year"]["type"] == "integer"
    assert lent["required"] == ["title", "authors", "reader"]  # the default values are sent


def test_a_part_may_be_some_fields_of_a_type():
    Shaped((Book, ("title",)), Lent)

    assert shape_schemas()["Lent"]["properties"].keys() == {"title", "reader"}


def test_a_type_within_a_shape_must_not_have_the_name_of_another_shape():
    class Shelf(TypedDict):
        books: list[Book]

    Shaped(Book, Lent, name="Book")
    Shaped(Shelf)

    with pytest.raises(ValueError, match="Book"):
        shape_schemas()
