"""Values that no program likes to be given, and `shrag` called with them in this process."""

import json
import unicodedata
from typing import NamedTuple

from hypothesis import strategies as st

from tests.generator.sample_index import called

SIGNS = tuple("!?.…()[]{}\"'“”「」『<>&|^~*+-–=:;,/\\#@%$_`·ㆍ（）：")
CHARACTERS = (
    *"가각ㄱ\u1100\u1161aAé\u0344三國あאก𝒜0０²½😀 \t\n\r\x0b\x1c\x1e\x1f\x7f\x85\xa0\u2028\u2029",
    *"\u200b\u200d\u202e\ufeff\ufffd\U0010ffff\ue000İßǆﬁ꛲",
    *("e\u0301", "🇰🇷", "👨‍👩‍👧"),
)
WORDS = (
    *"AND OR NOT title: 제목: year: lang: journal: id: part: year:2019..1999 ^2 ^^ ~3 ~9999 ^1e9".split(),
    *'"a"~ .. // http://a.b C++ nan NaN -1 1e999 null None true ../.. %s %00 ${HOME} {0} <script>'.split(),
    *("'; DROP TABLE pairs;--", "\\u0000", "[bold]", "[/]", ":smile:", "methane", "메탄", "논에서", "the"),
)
TEXTS = st.lists(st.sampled_from((*SIGNS, *CHARACTERS, *WORDS)), min_size=1, max_size=12).map(
    "".join
) | st.lists(st.sampled_from((*WORDS, *SIGNS)), min_size=1, max_size=12).map(" ".join)
RUNS = tuple(sign * 3_000 for sign in (*'!("-a가ㄱ', "\u0301", "🇰🇷", "가(a)", "있다.", "a AND "))

# Of any type, as a field of a record may hold them.
JSON_VALUES = (
    '[null, true, 0, -1, 2020, 2101, 1180591620717411303424, 1.5, 1e308, [], [[]], ["a"], [""], [null], [1],'
    '["a", ["b"]], {}, {"a": {}}, {"id": 1}, "", " ", "x", "2020", "a\\u0000b", "a\\nb", "\\ud800",'
    '"\\u202e", "e\\u0301", "<b>x</b>", "&amp;lt;", "[[", "((((", "X@en", "X#1", "../x"]'
)
VALUES = (*json.loads(JSON_VALUES), "가" * 600, unicodedata.normalize("NFD", "논문"), "x" * 5_000)


class Ended(NamedTuple):
    """How a call of `shrag` ended."""

    code: int
    out: str
    err: str


def call(*arguments: object) -> Ended:
    """Call `shrag` in this process; whatever it was given it ends with a result or with what is wrong."""
    done = called(*arguments)
    code = done.returncode
    ended_so = Ended(code, done.stdout, done.stderr)
    shown = f"{arguments!r:.300} → {ended_so!r:.500}"
    assert code in {0, 1, 2}, shown
    assert "Traceback" not in ended_so.err, shown
    assert "unexpected: " not in ended_so.err, shown
    assert not code or ended_so.err.strip(), shown
    assert len(ended_so.err) < 20_000, shown
    return ended_so


def as_json(record: object) -> str:
    """Write a record as one line, lone surrogates as they are written in JSON."""
    return json.dumps(record, ensure_ascii=True)
