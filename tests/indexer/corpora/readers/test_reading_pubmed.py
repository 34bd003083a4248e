"""PubMed XML of efetch: articles, structured and translated abstracts, chapters of books, damage."""

from indexer.corpora.readers import read_corpus
from tests.indexer.corpora.readers.items import items_of
from tests.indexer.corpora.readers.records import one, read

HEAD = (
    '<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle 2025//EN"'
    ' "https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">\n<PubmedArticleSet>\n'
)
ARTICLE = """<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM">
<PMID Version="1">31452104</PMID>
<Article PubModel="Print">
<Journal><ISSN IssnType="Print">1234-5678</ISSN><JournalIssue CitedMedium="Print"><Volume>12</Volume>
<Issue>3</Issue><PubDate><MedlineDate>2019 Mar-Apr</MedlineDate></PubDate></JournalIssue>
<Title>Annals of paddies</Title><ISOAbbreviation>Ann Paddies</ISOAbbreviation></Journal>
<ArticleTitle>[Methane (CH<sub>4</sub>) of <i>rice</i> paddies].</ArticleTitle>
<Pagination><MedlinePgn>101-18</MedlinePgn></Pagination>
<ELocationID EIdType="doi" ValidYN="Y">10.5555/Paddy.2</ELocationID>
<Abstract><AbstractText Label="BACKGROUND">Rice emits methane.</AbstractText>
<AbstractText Label="RESULTS">It fell by 40&#37; &amp; more.</AbstractText>
<CopyrightInformation>(c) 2019</CopyrightInformation></Abstract>
<AuthorList CompleteYN="Y"><Author ValidYN="Y"><LastName>Jang</LastName><ForeName>Boram</ForeName>
<Initials>B</Initials></Author><Author><LastName>Kim</LastName><Initials>A</Initials><Suffix>Jr</Suffix></Author>
<Author><CollectiveName>Paddy Group</CollectiveName></Author></AuthorList>
<Language>kor</Language>
<PublicationTypeList><PublicationType UI="D016428">Journal Article</PublicationType></PublicationTypeList>
<VernacularTitle>논의 메탄.</VernacularTitle>
</Article>
<MeshHeadingList><MeshHeading><DescriptorName>Methane</DescriptorName></MeshHeading></MeshHeadingList>
<OtherAbstract Type="Publisher" Language="kor"><AbstractText>메탄이 줄었다.</AbstractText></OtherAbstract>
<KeywordList Owner="NOTNLM"><Keyword MajorTopicYN="N">rice</Keyword><Keyword>paddy</Keyword></KeywordList>
</MedlineCitation>
<PubmedData><ArticleIdList><ArticleId IdType="pubmed">31452104</ArticleId>
<ArticleId IdType="pmc">PMC7</ArticleId></ArticleIdList>
<ReferenceList><Reference><Citation>Kim A. Paddies. 2001.</Citation><ArticleIdList>
<ArticleId IdType="pubmed">11</ArticleId></ArticleIdList></Reference>
<Reference><Citation>Lee B. 2002.</Citation></Reference></ReferenceList></PubmedData></PubmedArticle>
"""
BOOK = """<PubmedBookArticle><BookDocument><PMID>7</PMID><Book><Publisher><PublisherName>NCBI</PublisherName>
</Publisher><BookTitle>Reviews</BookTitle><PubDate><Year>2020</Year></PubDate></Book>
<ArticleTitle>A chapter</ArticleTitle><AuthorList><Author><LastName>Lee</LastName><ForeName>B</ForeName>
</Author></AuthorList><Abstract>
<AbstractText>A text.</AbstractText></Abstract></BookDocument></PubmedBookArticle>
"""
TAIL = "<DeleteCitation><PMID>9</PMID></DeleteCitation></PubmedArticleSet>"


def test_an_article_is_read_with_all_its_values():
    assert one("pubmed", HEAD + ARTICLE + TAIL, "pubmed.xml") == {
        "id": "31452104",
        "title": "Methane (CH4) of rice paddies",
        "title2": "논의 메탄.",
        "abstract": "BACKGROUND: Rice emits methane. RESULTS: It fell by 40% & more.",
        "abstract2": "메탄이 줄었다.",
        "lang": "en",
        "declared_language": "kor",
        "authors": ["Jang, Boram", "Kim, A, Jr", "Paddy Group"],
        "year": 2019,
        "journal": "Annals of paddies",
        "journal_abbreviation": "Ann Paddies",
        "volume": "12",
        "issue": "3",
        "pages": "101-18",
        "issn": "1234-5678",
        "keywords": ["rice", "paddy"],
        "mesh": ["Methane"],
        "doi": "10.5555/Paddy.2",
        "pmid": "31452104",
        "pmcid": "PMC7",
        "url": "https://pubmed.ncbi.nlm.nih.gov/31452104/",
        "publication_types": ["Journal Article"],
        "type": "article-journal",
        "references": ["11"],
        "reference_list": [{"text": "Kim A. Paddies. 2001."}, {"text": "Lee B. 2002."}],
    }


def test_a_chapter_of_a_book_is_read():
    record = one("pubmed", HEAD + BOOK + TAIL, "pubmed.xml")

    assert (record["id"], record["title"], record["journal"]) == ("7", "A chapter", "Reviews")
    assert (record["year"], record["authors"], record["type"]) == (2020, ["Lee, B"], "chapter")


def test_articles_before_a_break_are_read_and_an_article_without_pmid_is_a_dead_letter():
    without = ARTICLE.replace('<PMID Version="1">31452104</PMID>', "")

    article, dead, broken = read("pubmed", HEAD + ARTICLE + without + ARTICLE[:300], "pubmed.xml")

    assert (article.id, dead.line, "id: " in dead.reason) == ("31452104", 32, True)
    assert broken.reason.startswith("invalid XML")


def test_the_format_is_recognised_by_its_elements(tmp_path):
    (tmp_path / "pubmed.xml").write_text(HEAD + ARTICLE + TAIL, "utf-8")

    corpus = read_corpus([tmp_path])

    assert (corpus.format, [item.id for item in items_of(corpus)]) == ("pubmed", ["31452104"])


def test_brackets_within_a_title_are_kept():
    article = (
        "<PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>Uptake of [18F]FDG in rats."
    )
    end = "</ArticleTitle></Article></MedlineCitation></PubmedArticle>"

    (paper,) = read("pubmed", article + end, "pubmed.xml")

    assert paper.title == "Uptake of [18F]FDG in rats."
