"""Given pairs: the user's file, and the general glossary."""

import pytest

from base.errors import InvalidCall
from indexer.analysis import ANALYZERS, Decompound
from indexer.glossary.given import GENERAL, Entry, GivenPairs, parse_glossary, read_glossary
from indexer.glossary.storage import Glossary
from indexer.ingest import IngestRequest, build_index
from indexer.settings import IndexerSettings
from indexer.versions.store.build_folder import GLOSSARY
from tests.indexer.made_corpora import write_jsonl

BILINGUAL: tuple[str, Decompound, None] = ("bilingual", "discard", None)


def own_pairs(text):
    return GivenPairs(parse_glossary(text.encode(), "own.tsv"), general=False).pairs(*BILINGUAL)[0]


def test_a_file_has_a_pair_a_line_and_comments():
    text = "# ours\n회복탄력성\tresilience  # x\n\n주석\ttin\t<\n납\tlead\t>\n회복탄력성\tresilience\n"

    assert parse_glossary(text.encode(), "own.tsv") == (
        Entry("회복탄력성", "resilience"),
        Entry("주석", "tin", "ko"),
        Entry("납", "lead", "en"),
    )


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b"resilience\t\xed\x9a\x8c\xeb\xb3\xb5", "not a pair"),
        ("회복탄력성 resilience".encode(), "not a pair"),
        ("회복탄력성\t".encode(), "not a pair"),
        ("납\tlead\tmetal".encode(), "only > or <"),
        ("납\tlead\t>\tmore".encode(), "only > or <"),
        (b"\xff\xfe", r"not UTF-8 \(byte 1\)"),
        ("납\tle\x1bad".encode(), r".*U\+001B"),
        ("납\tle\u202ead".encode(), r".*U\+202E"),
        ("가".encode() * 81 + b"\tlong", ".*81"),
    ],
)
def test_an_invalid_line_is_an_error_with_its_number(line, complaint):
    with pytest.raises(InvalidCall, match=rf"^own\.tsv, line 2: {complaint}"):
        parse_glossary("해안\tcoast\n".encode() + line + b"\n", "own.tsv")


@pytest.mark.parametrize(
    ("line", "korean", "target"),
    [
        ("지식 그래프\tknowledge graphs", ("지식", "그래프"), None),
        ("비만\tobesity", ("비만",), None),  # alone, the analysis cuts it
        ("이주\tmigration", ("이주",), None),
        ("설사\tdiarrhea", ("설사",), None),
        ("간호사 소진\tnurse burnout", ("간호", "사", "소진"), None),
        ("타당성\tvalidity", ("타당",), None),
        ("돌봄\tcare", ("돌보",), None),
        ("주석\ttin\t<", ("주석",), "ko"),
    ],
)
def test_a_term_is_analysed_as_the_index_is(line, korean, target):
    pair = own_pairs(line)[0]
    assert (pair.korean_tokens, pair.target, pair.sources) == (korean, target, ("user",))


@pytest.mark.parametrize("analyzer", ANALYZERS)
def test_the_general_glossary_serves_every_analyzer(analyzer):
    entries = read_glossary(GENERAL)
    _, pairs = GivenPairs().pairs(analyzer, "discard", None)

    assert len(entries) >= 18_000
    assert len(pairs) > 0.99 * len(entries)
    assert {pair.sources for pair in pairs} == {("general",)}
    assert GivenPairs(general=False).pairs(analyzer, "discard", None) == ([], [])


@pytest.mark.parametrize(
    ("title", "abstract", "kept"),
    [
        ("Methane of rice paddies", "Methane.", True),
        ("논의 메탄", "메탄이다.", True),
        ("Rice", "Rice.", False),
    ],
)
def test_an_index_keeps_the_general_pairs_with_a_side_in_it(tmp_path, title, abstract, kept):
    corpus = write_jsonl(tmp_path / "corpus.jsonl", [{"id": "P1", "title": title, "abstract": abstract}])
    build_index(IngestRequest(name="x", paths=[str(corpus)]), IndexerSettings(home=tmp_path / "home"))
    with Glossary(tmp_path / "home" / "x" / "versions" / "000001" / GLOSSARY) as glossary:
        found = {(pair.korean, pair.english) for pair in glossary.pairs()}
    assert (("메탄", "methane") in found) == kept
