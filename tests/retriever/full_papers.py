"""Papers with full texts, whose passages are chunks."""

WORDS = (
    ("anode", "The graphite anode swells when lithium enters its layers at high rates"),
    ("cathode", "The layered cathode loses oxygen when it is charged beyond its limit"),
    ("separator", "The ceramic separator keeps its shape at temperatures where polymer melts"),
)


def body(sentence: str, number: int) -> str:
    """Return a text of many numbered sentences, of which a chunk holds a few."""
    return " ".join(f"{sentence}, as measurement {place} of the series shows." for place in range(number))


FULL_PAPERS = [
    {
        "id": "LONG",
        "title": "Wear of lithium cells",
        "title2": "리튬 전지의 열화",
        "abstract": "We study how lithium cells wear.",
        "body": "\n\n".join(body(sentence, 12) for _, sentence in WORDS),
    },
    {"id": "SHORT", "title": "Ceramic separators", "abstract": "A ceramic separator made of alumina fibres."},
    {"id": "OTHER", "title": "Cathodes", "abstract": "Oxygen loss of a layered cathode in cells."},
    {"id": "TITLE-ONLY", "title": "Separators without text"},
    {"id": "TWIN-1", "title": "Editorial", "abstract": "On the cathode.", "year": 2001},
    {"id": "TWIN-2", "title": "Editorial", "abstract": "On the separator of cells.", "year": 2009},
]
