"""Notes of the server in Korean, in the words of the page (`page/words/said.ko.json`)."""

import json
import re
from functools import cache

from server.html.page_files import page_files


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    words = json.loads(page_files().files["words/said.ko.json"].content)
    return [(re.compile(pattern), korean) for pattern, korean in words.items()]


def in_korean(note: str) -> str:
    """Translate a note. The English is kept if there is no translation, or none for its details."""
    for pattern, words in _patterns():
        if found := pattern.search(note):
            korean = re.sub(r"\$(\d)", lambda group: found[int(group[1])] or "", words)
            return korean if pattern.pattern.endswith("$") else f"{korean} ({note})"
    return note
