"""Harvested records give the same papers as the responses of a repository in a file."""

import pytest

from indexer.corpora.papers import Paper
from indexer.corpora.readers.formats import read_metadata
from indexer.corpora.readers.items import DeadLetter
from tests.indexer.corpora.readers.records import one


def dc(inner, container="oai_dc:dc"):
    return (
        f'<{container} xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:x="urn:x" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/">{inner}</{container}>'
    )


DC = dc("<dc:title>논의 메탄</dc:title><dc:creator>강, 가은</dc:creator><dc:date>2023-08</dc:date>")


def test_a_harvest_gives_the_same_paper_as_a_response():
    response = (
        "<OAI-PMH><ListRecords><record><header><identifier>oai:x:1</identifier></header><metadata>"
        f"{DC}</metadata></record></ListRecords></OAI-PMH>"
    )

    harvested = read_metadata(DC.encode(), "oai:x:1", "repository.example.ac.kr")

    assert isinstance(harvested, Paper)
    assert harvested.record() == {"source": "repository.example.ac.kr"} | one(
        "dublin-core", response, "a.xml"
    )


@pytest.mark.parametrize("container", ["oai_dc:dc", "x:qualifieddc", "x:metadata", "x:other"])
def test_harvested_records_are_read_in_any_container(container):
    paper = read_metadata(
        dc("<dc:title>A</dc:title>", container).encode(), "oai:x:a b", "repository.example.ac.kr"
    )

    assert isinstance(paper, Paper)
    assert (paper.id, paper.title) == ("oai:x:a%20b", "A")


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        (dc("<dc:creator>Kim</dc:creator>"), "title"),
        ('<mods xmlns="http://www.loc.gov/mods/v3"><titleInfo/></mods>', "mods"),
        ("<dc><b></dc>", "XML"),
        ('<!DOCTYPE dc [<!ENTITY b "c">]><dc>&b;</dc>', "XML"),
        ("not XML", "XML"),
    ],
)
def test_a_record_that_cannot_be_read_is_a_dead_letter_with_its_identifier(metadata, reason):
    letter = read_metadata(metadata.encode(), "oai:x:1", "x")

    assert isinstance(letter, DeadLetter)
    assert letter.file == "oai:x:1"
    assert reason in letter.reason
