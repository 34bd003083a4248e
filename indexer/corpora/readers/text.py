"""Plain text: one paper per file, with the title in the first line."""

from collections.abc import Iterator

from indexer.corpora.full_text.plain import record_of_text
from indexer.corpora.readers.documents import NoDocument, document_id, read_utf8
from indexer.corpora.readers.items import Item, admitted, dead_letter
from indexer.corpora.readers.streams import Stream


def read_text(stream: Stream) -> Iterator[Item]:
    """Read one paper."""
    try:
        text = read_utf8(stream)
    except NoDocument as error:
        yield dead_letter(stream.name, 0, str(error))
        return
    title, _, rest = text.strip().partition("\n")
    record = {"id": document_id(stream), "title": " ".join(title.split()), **record_of_text(rest)}
    yield admitted(record, stream.name, 0, text[:200].encode())
