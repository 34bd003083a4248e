"""Items of a corpus, whose types differ from line to line, and records of the text of a file."""

from io import BufferedReader, BytesIO

from indexer.corpora.papers import Paper
from indexer.corpora.readers import DeadLetter
from indexer.corpora.readers.formats import read_items
from indexer.corpora.readers.streams import Stream


def items_of(corpus):
    return list(corpus)


def ids(corpus):
    return [item.id for item in corpus if isinstance(item, Paper)]


def dead(corpus):
    return [item for item in corpus if isinstance(item, DeadLetter)]


def read(format_, content, name):
    """Return the items of a file called `name` in the folder `papers`."""
    encoded = content if isinstance(content, bytes) else content.encode()
    return list(
        read_items(Stream(f"papers/{name}", BufferedReader(BytesIO(encoded)), root="papers"), format_)
    )
