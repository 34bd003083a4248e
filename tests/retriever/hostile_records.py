"""Records of papers with whatever a corpus may hold, for exports and citations."""

from hypothesis import strategies as st

from tests.hostile import TEXTS, VALUES

# Whatever a record holds: values of any type, and texts that the formats would obey.
HOSTILE = (
    "ER  - ",
    "x\r\nER  - \r\nTY  - JOUR\r\nTI  - injected",
    "x\u2028ER  - \x85TY  - JOUR\x0bTI  - injected",
    "TY  - JOUR",
    "}",
    "{{{",
    "}, author = {injected}}\n@article{injected, title={x}",
    "\\input{/etc/passwd}",
    "\\",
    "$x_2^{a}$ % comment",
    '"# @string{a = "b"}',
    '=HYPERLINK("http://example.org")',
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1+1",
    "\r=1+1",
    "＝1+1",
    '"=1+1',
    "a\x00b\x1b[31m\x9b",
    "a, b, c, d",
    "and",
    "Kim and Lee",
    "others",
    ",",
    "\ud800",
    "\ufeff\ufffe",
    "<b>&amp;</b>]]>",
)
FIELDS = (
    *("title", "title2", "abstract", "journal", "publisher", "doi", "url", "lang", "doc_id", "further"),
    *("volume", "issue", "pages"),
)
NAMES = st.sampled_from(HOSTILE) | TEXTS
RECORD = st.fixed_dictionaries(
    {"id": st.text(st.characters(exclude_categories=("Z", "C")), min_size=1, max_size=20)},
    optional={
        **dict.fromkeys(FIELDS, NAMES | st.sampled_from(VALUES)),
        "authors": st.lists(NAMES, max_size=4) | st.sampled_from(VALUES),
        "keywords": st.lists(NAMES, max_size=4) | st.sampled_from(VALUES),
        "year": st.integers(1000, 2100) | st.sampled_from(VALUES),
    },
)
