"""Words of a question: single words, other forms, near spellings, and words that no paper contains."""

import pytest

from indexer.glossary.given import read_glossary
from retriever.query_plan import QUESTION
from retriever.spelling import is_ordinary, near_spellings
from tests.generator.sample_index import found as found_in_sample
from tests.retriever.made_papers import found, ids, index_fixture, index_of, opened

# Each word is in one paper, and always before a particle.
SINGLE_WORDS = {
    "생성": ("영상 자료의 증강", "신경망으로 영상을 생성하였다. 생성된 영상을 실물과 비교하였다."),
    "꽃게": ("서해의 어업", "꽃게를 잡는 어선의 수를 조사하였다. 꽃게의 어획량은 줄었다."),
    "민감도": ("진단 검사의 비교", "검사의 민감도를 구하고, 민감도가 높은 순서로 나열하였다."),
    "보고서": ("기업의 공시", "지속가능경영 보고서를 펴내는 기업이 늘었다. 보고서의 분량을 재었다."),
    "비단": ("조선 후기의 직물", "비단을 수입한 상인을 다룬다. 비단의 값은 면포보다 높았다."),
}
# Words that share syllables with these, in shorter papers.
BESIDE = [
    ("꽃 그림", "꽃을 그린 화가."),
    ("민감한 사람", "민감한 사람의 감정."),
    ("사건의 보고", "사건을 보고한 사람."),
    ("생의 의미", "생의 의미를 묻는다."),
    ("비 오는 날", "비가 오는 날."),
]
YOUTH = [
    {"id": "YOUTH", "title": "청소년의 수면", "abstract": "청소년은 밤에 늦게 잔다."},
    {"id": "ADOLESCENT", "title": "Sleep", "abstract": "An adolescent sleeps late."},
    {"id": "BOY", "title": "A boy and his dog", "abstract": "The boy walks; the boy sleeps."},
    {"id": "BOY-KO", "title": "소년과 개", "abstract": "소년은 개와 걷는다."},
]
FORMS = [
    {
        "id": "FORMS",
        "title": "Models",
        "abstract": "On knowledge distillation (KD) and a controller area network (CAN).",
    },
    {"id": "LONG", "title": "Teachers", "abstract": "Knowledge distillation shrinks a network. It can fail."},
    {"id": "SHORT", "title": "Losses", "abstract": "KD with a soft loss, compared with pruning."},
    {"id": "TROPONIN", "title": "Hearts", "abstract": "Troponin rises after surgery on dendrites."},
    {"id": "FERMENT", "title": "발효", "abstract": "김치의 발효를 온도에 따라 관찰하였다."},
]


@pytest.fixture(scope="module")
def singles(tmp_path_factory):
    rows = [*((word, *text) for word, text in SINGLE_WORDS.items()), *((row[0], *row) for row in BESIDE)]
    papers = [{"id": name, "title": title, "abstract": text} for name, title, text in rows]
    with index_of(tmp_path_factory.mktemp("singles"), *papers) as index:
        yield index


@pytest.fixture(scope="module")
def youth(tmp_path_factory):
    home = tmp_path_factory.mktemp("youth")
    (home / "glossary.tsv").write_text("청소년\tadolescent\n소년\tboy\n", encoding="utf-8")
    with index_of(home, *YOUTH, glossary=read_glossary(home / "glossary.tsv")) as index:
        yield index


forms = index_fixture(*FORMS)


@pytest.mark.parametrize("method", ["shrag", "or", "paper"])
@pytest.mark.parametrize("word", SINGLE_WORDS)
def test_a_single_korean_word_finds_its_paper_first(singles, word, method):
    assert ids(singles, word, method)[0] == word


def test_a_whole_word_of_the_glossary_is_not_searched_for_by_its_part(youth):
    """청소년 (adolescent) is analysed as 청 and 소년 (boy)."""
    for question in ("청소년", "청소년의 수면은 어떠한가?"):
        result = found(youth, question)

        words = {query.name: query.query for query in result.queries}[QUESTION]
        assert "boy" not in words
        assert "boy" not in result.strategy.en
        assert "adolescent" in result.strategy.en
        assert [hit.doc_id for hit in result.hits][:2] == ["YOUTH", "ADOLESCENT"]
    assert "boy" in found(youth, "소년").strategy.en


@pytest.mark.parametrize(
    ("question", "paper", "note"),
    [
        ("KD 손실", "LONG", "KD is also searched for as knowledge distillation"),
        (
            "소형 모형의 knowledge distillation",
            "SHORT",
            "knowledge distillation is also searched for as KD",
        ),
        ("트로포닌의 기준", "TROPONIN", "트로포닌 is also searched for as troponin (by its sound)"),
    ],
)
def test_abbreviations_and_loanwords_find_their_other_forms(forms, question, paper, note):
    result = found(forms, question)

    assert paper in {hit.doc_id for hit in result.hits}
    assert result.notes == (note,)


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("bitcoin price volatility", ("bitcoin",)),
        ("Goryeo", ()),  # 고려 is known
        ("비트코인의 가격은 얼마나 흔들리는가?", ("비트코인",)),
        ("What are the best ways to brew Kombucha, please?", ("brew", "Kombucha")),
        ("그 논은 이따금 마르는가?", ()),
        ("그때 논에서 잰 떡은?", ("떡",)),
        ("thermal runaway", ()),
        ("덴드라이트", ()),  # its counterpart is known
        ("복습의 영향", ()),  # that of review, although it is not searched for as review
        ("고려청자의 비색은?", ("고려청자", "비색")),  # 고려 is known
        ("보금자리주택과 웃음거리", ("보금자리주택", "웃음거리")),
        ("zero-knowledge proofs", ("zero-knowledge", "proofs")),
        ("cobbalt", ()),  # its near spelling is known
        ("thermal runaway, excluding kombucha", ()),
    ],
)
def test_words_that_no_paper_contains_are_named(sample, question, unknown):
    assert found_in_sample(sample, question).unknown_words == unknown


TEXTS = [
    "axolotl axolotl axolotls hallucination islands segmentation",
    "axolotm axolotl",
    "covid 2019 201900 graph gram bead beat",
    "Theatre fibre catalogue haemoglobin naïve optimisation",
    "알고리즘 콘텐츠 어플리케이션",
]


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    papers = [{"id": f"W{number}", "title": "", "abstract": text} for number, text in enumerate(TEXTS)]
    with index_of(tmp_path_factory.mktemp("words"), *papers) as index:
        yield index


def near(index, word, tag=""):
    """Return the near spellings of a word of one token, as they are written."""
    [(token, *_)] = index.analyzer.analyze(word) if word.isascii() else [(word,)]
    spellings = near_spellings(word, token, index.engine.lexicon, index.glossary, tag=tag)
    return [written for written, _ in spellings]


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        *((typed, ["axolotl"]) for typed in ("axlotl", "axoltol", "axolotll", "axilotl", "Axlotl")),
        ("axolotq", ["axolotl", "axolotm"]),  # the word of more passages first
        ("axlotq", []),  # two errors in a short word
        ("halucinaton", ["hallucination"]),  # two in a long one
        ("islnds", ["islands"]),  # words are compared, not stems
        ("naiv", ["naïve"]),
        ("알고리듬", ["알고리즘"]),
        ("어플레케이션", ["어플리케이션"]),
        ("애플리케이션", []),  # another first syllable
        ("bea", []),
        ("콘츠", []),
    ],
)
def test_a_word_with_few_typing_errors_finds_its_spelling(words, typed, found):
    assert near(words, typed) == found


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("grape", []),
        ("bread", []),
        ("theater", ["theatre"]),
        ("fiber", ["fibre"]),
        ("optimization", ["optimisation"]),
        ("catalog", ["catalogue"]),
        ("hemoglobin", ["haemoglobin"]),
    ],
)
def test_an_ordinary_word_has_its_other_english_spelling_alone(words, typed, found):
    assert is_ordinary(typed)
    assert near(words, typed) == found


def test_a_search_by_a_near_spelling_says_so(tmp_path_factory):
    with opened(tmp_path_factory) as index:
        result = found(index, "해나리 군집의 이동")

        assert result.hits[0].passage_id == "DECOMPOSED"
        assert "해나리 is in no paper; searched as 해파리" in result.notes
        assert ids(index, "axoltol limb")[0] == "DOI-1"
        assert ids(index, "axoltol", "or") == []
