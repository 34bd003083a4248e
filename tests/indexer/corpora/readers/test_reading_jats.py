"""JATS: front matter in two languages, full text, reference list; files, sets and OAI-PMH responses."""

import pytest

from indexer.corpora.readers import read_corpus
from tests.indexer.corpora.readers.items import items_of
from tests.indexer.corpora.readers.records import one, read

FRONT = """<front><journal-meta>
<journal-title-group><journal-title>논 학회지</journal-title></journal-title-group>
<issn pub-type="epub">1234-5678</issn>
<publisher><publisher-name>논 학회</publisher-name>
</publisher></journal-meta>
<article-meta><article-id pub-id-type="pmc">PMC77</article-id>
<article-id pub-id-type="doi">10.5555/Paddy.2</article-id>
<article-categories><subj-group><subject>Original</subject></subj-group></article-categories>
<title-group><article-title>논의 메탄<xref ref-type="fn">*</xref></article-title>
<subtitle>두 해의 측정</subtitle>
<trans-title-group xml:lang="en"><trans-title>Methane of <italic>rice</italic> paddies</trans-title>
</trans-title-group></title-group>
<contrib-group><contrib contrib-type="author"><name-alternatives>
<name xml:lang="ko"><surname>강</surname><given-names>가은</given-names></name>
<name xml:lang="en"><surname>Kang</surname><given-names>Ga Eun</given-names></name>
</name-alternatives></contrib>
<contrib contrib-type="author"><collab>논 연구회</collab></contrib>
<contrib contrib-type="editor"><name><surname>Lee</surname></name></contrib></contrib-group>
<pub-date pub-type="epub"><year>2024</year></pub-date><pub-date pub-type="ppub"><year>2023</year></pub-date>
<volume>12</volume><issue>3</issue><fpage>101</fpage><lpage>118</lpage>
<permissions><license xlink:href="https://creativecommons.org/licenses/by/4.0/"><p>Open</p></license></permissions>
<abstract><title>초록</title><sec><title>목적</title><p>메탄을 재었다.</p></sec></abstract>
<abstract abstract-type="graphical"><p>그림</p></abstract>
<trans-abstract xml:lang="en"><p>Methane was measured.</p></trans-abstract>
<kwd-group xml:lang="ko"><kwd>메탄</kwd></kwd-group><kwd-group xml:lang="en"><kwd>methane</kwd></kwd-group>
</article-meta></front>"""
BODY = """<body><sec><title>서론</title><p>벼는 <xref>[1]</xref> 물에서 자란다.</p>
<sec><title>배경</title><p>배경 문단.<fig><caption><p>그림 설명</p></caption></fig></p></sec></sec>
<table-wrap><table><tr><td>1</td></tr></table></table-wrap></body>"""
BACK = """<back><ref-list><ref id="r1"><element-citation><person-group><name><surname>Kim</surname>
<given-names>A</given-names></name></person-group><article-title>Paddies</article-title><year>2001</year>
<pub-id pub-id-type="doi">10.1/x</pub-id></element-citation></ref>
<ref><mixed-citation>Lee B. Soil. 2002.</mixed-citation></ref></ref-list></back>"""
ARTICLE = (
    '<article xmlns:xlink="http://www.w3.org/1999/xlink" article-type="research-article" xml:lang="ko">'
    f"{FRONT}{BODY}{BACK}</article>"
)
DOCTYPE = '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS v1.2 20190208//EN" "JATS-archivearticle1.dtd">\n'


def test_an_article_is_read_with_its_full_text():
    assert one("jats", DOCTYPE + ARTICLE, "a.nxml") == {
        "id": "10.5555/paddy.2",
        "title": "논의 메탄: 두 해의 측정",
        "title2": "Methane of rice paddies",
        "abstract": "목적: 메탄을 재었다.",
        "abstract2": "Methane was measured.",
        "lang": "ko",
        "authors": ["강가은", "논 연구회"],
        "year": 2023,
        "journal": "논 학회지",
        "publisher": "논 학회",
        "keywords": ["메탄", "methane"],
        "subjects": ["Original"],
        "volume": "12",
        "issue": "3",
        "pages": "101-118",
        "issn": "1234-5678",
        "doi": "10.5555/Paddy.2",
        "pmcid": "PMC77",
        "license": "https://creativecommons.org/licenses/by/4.0/",
        "type": "article-journal",
        "body": "## 서론\n\n벼는 [1] 물에서 자란다.\n\n### 배경\n\n배경 문단.",
        "references": ["10.1/x"],
        "reference_list": [
            {
                "text": "Kim A Paddies 2001 10.1/x",
                "title": "Paddies",
                "year": 2001,
                "doi": "10.1/x",
                "authors": ["Kim, A"],
            },
            {"text": "Lee B. Soil. 2002."},
        ],
    }


SET = f"<pmc-articleset>{ARTICLE}{ARTICLE.replace('Paddy.2', 'Paddy.3')}</pmc-articleset>"
HARVESTED = f"""<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords>
<record><header status="deleted"><identifier>oai:a:1</identifier></header></record>
<record><header><identifier>oai:a:2</identifier></header>
<metadata>{ARTICLE.replace("<article ", '<article xmlns="https://jats.nlm.nih.gov/ns" ')}</metadata></record>
</ListRecords></OAI-PMH>"""


@pytest.mark.parametrize(
    ("text", "ids"), [(SET, ["10.5555/paddy.2", "10.5555/paddy.3"]), (HARVESTED, ["oai:a:2"])]
)
def test_several_articles_are_read_from_one_file(tmp_path, text, ids):
    (tmp_path / "articles.xml").write_text(text, "utf-8")

    corpus = read_corpus([tmp_path])

    assert (corpus.format, [item.id for item in items_of(corpus)]) == ("jats", ids)


def test_a_truncated_article_is_one_dead_letter():
    (dead,) = read("jats", DOCTYPE + ARTICLE[:-200], "a.nxml")

    assert dead.reason.startswith("invalid XML")


def test_an_article_without_doi_has_the_id_of_pubmed_central():
    text = ARTICLE.replace('<article-id pub-id-type="doi">10.5555/Paddy.2</article-id>', "")

    assert one("jats", text, "a.xml")["id"] == "PMC77"


def article(title="A", abstract="", references=""):
    return (
        '<article xmlns:mml="http://www.w3.org/1998/Math/MathML"><front><article-meta><title-group>'
        f"<article-title>{title}</article-title></title-group><abstract>{abstract}</abstract></article-meta>"
        f"</front><back><ref-list>{references}</ref-list></back></article>"
    )


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("CO<sub>2</sub> in <italic>Oryza</italic>s", "CO2 in Oryzas"),
        ("A<break/>B", "A B"),
        (
            "Waves in <mml:math><mml:mi> N </mml:mi>\n<mml:mo>+</mml:mo></mml:math>-coupled",
            "Waves in N+-coupled",
        ),
        (
            "<alternatives><tex-math>$$x$$</tex-math><mml:math><mml:mi>x</mml:mi></mml:math></alternatives>",
            "x",
        ),
        ("R&amp;amp;D &lt;i&gt;x&lt;/i&gt;", "R&D x"),
    ],
)
def test_inline_markup_is_removed(title, text):
    record = one("jats", article(title, f"<sec><title>Aim</title><p>{title}</p></sec>"), "a.xml")

    assert (record["title"], record["abstract"]) == (text, f"Aim: {text}")


REF = "<ref><mixed-citation>{}</mixed-citation></ref>"


@pytest.mark.parametrize(
    "references",
    [
        f"<ref-list>{REF.format('A')}</ref-list><ref-list><ref-list>{REF.format('B')}</ref-list></ref-list>",
        "<ref><mixed-citation>A</mixed-citation><mixed-citation>B</mixed-citation></ref>",
        f"{REF.format('A')}<ref>B</ref>",
    ],
    ids=["nested lists", "two citations in one item", "an item without a citation"],
)
def test_each_reference_is_read_once(references):
    record = one("jats", article(references=references), "a.xml")

    assert record["reference_list"] == [{"text": "A"}, {"text": "B"}]
