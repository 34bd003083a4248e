"""Records of a format's reader, from the text of a file."""

from io import BufferedReader, BytesIO

from indexer.corpora.readers.formats import read_items
from indexer.corpora.readers.streams import Stream


def read(format_, content, name):
    """Return the items of a file called `name` in the folder `papers`."""
    encoded = content if isinstance(content, bytes) else content.encode()
    return list(
        read_items(Stream(f"papers/{name}", BufferedReader(BytesIO(encoded)), root="papers"), format_)
    )


def one(format_, content, name):
    """Return the record of a file with a single one."""
    (paper,) = read(format_, content, name)
    return paper.record() | ({"body": paper.body} if paper.body else {})
