"""Statistics of searches without personal data, in the server's store; off by default.

Counted are the searches of a day (UTC) by index and by number of words. A question that found nothing is
stored with its day alone, and only if

- it has at most `MOST_WORDS` words and no address, long number or @ (`may_be_stored`), and
- several different callers asked it (`statistics_callers`) within `WAITS_DAYS`. Before, only keyed hashes of
  the question, and of question and caller together, are stored. They do not show the question, the caller,
  or that two questions have the same caller. The key is in the same file: a person who can read it can test
  guesses.
"""

import hmac
import re
import sqlite3
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from unicodedata import normalize

from base.logs import get_logger
from server.settings import ServerSettings
from server.store import Store

MOST_COUNTED_WORDS = 20
MOST_WORDS = 12  # of a stored question: a longer one may tell a story
WAITS_DAYS = 30
MOST_WAITING = 10_000  # questions between two writes
ADD_SEARCHES = (
    "INSERT INTO statistics VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET number = number + excluded.number"
)
ADD_QUESTION = "INSERT INTO unanswered VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET number = number + 1"
ADD_WAITING = "INSERT INTO waiting VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET day = excluded.day"
PERSONAL = re.compile(r"@|://|www\.|[0-9][0-9 ().-]{5,}[0-9]|[0-9]{5}")

log = get_logger("server")


def may_be_stored(question: str) -> bool:
    """Check that a question is short and contains no address of a person or page, and no long number."""
    text = normalize("NFKC", question)
    return 0 < len(text.split()) <= MOST_WORDS and len(text) <= 200 and not PERSONAL.search(text)  # noqa: PLR2004


class SearchStatistics:
    """The statistics of one process; a kill loses at most a minute. For one event loop."""

    def __init__(self, store: Store, settings: ServerSettings) -> None:
        """Keep the store and the settings."""
        self._store, self._settings = store, settings
        self._searches: Counter[tuple[str, str, int]] = Counter()  # since the last write
        self._without_results: list[tuple[str, str, str, str]] = []  # day, index, question, caller

    def note(self, index: str, question: str, hits: int, caller: str) -> None:
        """Count a search; `caller` is as `Caller.counted_as`."""
        if not self._settings.statistics or not question.strip():
            return
        day = datetime.now(UTC).date().isoformat()
        words = min(len(question.split()), MOST_COUNTED_WORDS)
        self._searches[day, index, words] += 1
        if not hits and may_be_stored(question) and len(self._without_results) < MOST_WAITING:
            text = " ".join(normalize("NFKC", question).split())
            self._without_results.append((day, index, text, caller))

    def take(self) -> Callable[[], None]:
        """Return a function that writes the counts since the last call; only `take` is for the event loop."""
        taken = self._searches, self._without_results
        self._searches, self._without_results = Counter(), []
        return partial(self._write, *taken)

    def _write(
        self, searches: Counter[tuple[str, str, int]], questions: list[tuple[str, str, str, str]]
    ) -> None:
        """Add counts to the store, and remove old ones; a failure is logged, and the counts are lost."""
        if not searches:
            return
        today, days = datetime.now(UTC).date(), self._settings.statistics_days
        try:
            secret = self._store.secret("statistics")
            with self._store.changing() as database:
                database.executemany(ADD_SEARCHES, [(*key, number) for key, number in searches.items()])
                for question in questions:
                    self._add(database, secret, *question)
                for table, age in (("statistics", days), ("unanswered", days), ("waiting", WAITS_DAYS)):
                    oldest = (today - timedelta(days=age)).isoformat()
                    database.execute(f"DELETE FROM {table} WHERE day < ?", (oldest,))  # noqa: S608
        except Exception as error:  # noqa: BLE001 - the next write may succeed
            log.warning("statistics not written", error=str(error))

    def _add(
        self, database: sqlite3.Connection, secret: bytes, day: str, index: str, question: str, caller: str
    ) -> None:
        """Store a question that enough callers asked, otherwise the hashes of question and caller."""
        folded = question.casefold()
        asked = hmac.digest(secret, folded.encode(), "sha256")
        by = hmac.digest(secret, f"{folded}\0{caller}".encode(), "sha256")
        database.execute(ADD_WAITING, (asked, by, day))
        (callers,) = database.execute("SELECT count(*) FROM waiting WHERE question = ?", (asked,)).fetchone()
        if callers >= self._settings.statistics_callers:
            database.execute(ADD_QUESTION, (day, index, question))


def read_statistics(
    store: Store, days: int, may_see: Callable[[str], bool] = lambda _: True
) -> dict[str, Any]:
    """Return the counts of the last days by day, by index and by words, and the questions without results.

    Only indexes for which `may_see` is true are counted.

    Raises:
        StoreUnusable: the store cannot be read.
    """
    since = (datetime.now(UTC).date() - timedelta(days=days - 1)).isoformat()
    searches = store.rows("SELECT * FROM statistics WHERE day >= ?", since)
    questions = store.rows("SELECT * FROM unanswered WHERE day >= ? ORDER BY day DESC, question", since)
    seen = [row for row in searches if may_see(row[1])]

    def counted(name: str, column: int) -> list[dict[str, Any]]:
        counts: Counter[Any] = Counter()
        for row in seen:
            counts[row[column]] += row[-1]
        return [{name: value, "searches": number} for value, number in sorted(counts.items())]

    return {
        "since": since,
        "days": counted("day", 0),
        "indexes": counted("index", 1),
        "words": counted("words", 2),
        "without_results": [
            {"question": question, "index": index, "day": day, "searches": number}
            for day, index, question, number in questions
            if may_see(index)
        ],
    }
