"""OpenAlex's works: responses of the API, and the JSON lines of its snapshot.

The keys are documented in "Work object" of OpenAlex's technical documentation. The id is `W…`, as in the
references. Keys that repeat others, such as `locations`, are left out.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from indexer.corpora.normal_forms import DOI_PREFIX
from indexer.corpora.readers.bibliography import languages, present, type_named, year_within
from indexer.corpora.readers.items import Item
from indexer.corpora.readers.json_values import at, citations, items, table, text
from indexer.corpora.readers.jsonl import read_records
from indexer.corpora.readers.markup import without_markup
from indexer.corpora.readers.streams import Stream

TELLING = frozenset("abstract_inverted_index referenced_works authorships cited_by_api_url".split())
KEPT = ("is_retracted", "is_paratext", "publication_date", "fwci", "grants", "sustainable_development_goals")
MOST_PLACES = 200_000  # words of an abstract


def is_openalex(record: Mapping[str, Any]) -> bool:
    """Check for a work of OpenAlex."""
    return not TELLING.isdisjoint(record)


def read_openalex(stream: Stream) -> Iterator[Item]:
    """Read works: the results of a response, or one per line."""
    return read_records(stream, named_as_paper)


def named_as_paper(work: Mapping[str, Any]) -> Mapping[str, Any]:
    """Convert a work to Paper's keys."""
    place, numbers = table(work.get("primary_location")), table(work.get("biblio"))
    title = without_markup(text(work.get("title")) or text(work.get("display_name")))
    abstract = abstract_of(work.get("abstract_inverted_index"))
    pages = dict.fromkeys(filter(None, (text(numbers.get("first_page")), text(numbers.get("last_page")))))
    keywords = [text(at(each, "display_name")) for each in items(work.get("keywords"))]
    values = {
        "id": _identifier(work.get("id")),
        "title": title,
        "abstract": abstract,
        "authors": [
            name
            for each in items(work.get("authorships"))
            if (name := text(at(each, "author", "display_name")) or text(at(each, "raw_author_name")))
        ],
        "year": year_within(text(work.get("publication_year"))),
        "journal": text(at(place, "source", "display_name")),
        "publisher": text(at(place, "source", "host_organization_name")),
        "issn": text(at(place, "source", "issn_l")),
        "keywords": list(dict.fromkeys(filter(None, keywords))),
        "topics": [name for each in items(work.get("topics")) if (name := text(at(each, "display_name")))],
        "doi": DOI_PREFIX.sub("", text(work.get("doi"))),
        "pmid": text(at(work, "ids", "pmid")).rpartition("/")[2],
        "url": text(place.get("landing_page_url")) or text(work.get("id")),
        "volume": text(numbers.get("volume")),
        "issue": text(numbers.get("issue")),
        "pages": "-".join(pages),
        "type": type_named(text(work.get("type"))),
        "references": [id_ for each in items(work.get("referenced_works")) if (id_ := _identifier(each))],
        "cited_by_count": citations(work.get("cited_by_count")),
    }
    kept = {key: work[key] for key in KEPT if key in work}
    return present(kept | values) | languages(text(work.get("language")), title or abstract)


def abstract_of(inverted: Any) -> str:
    """Restore an abstract from its inverted index, the places of each word."""
    placed = [
        (place, word)
        for word, places in table(inverted).items()
        for place in items(places)[:MOST_PLACES]
        if isinstance(place, int) and not isinstance(place, bool)
    ]
    placed.sort(key=lambda each: each[0])
    return without_markup(" ".join(word for _, word in placed))


def _identifier(address: Any) -> str:
    """Return the id of an address such as https://openalex.org/W123."""
    return text(address).rstrip("/").rpartition("/")[2]
