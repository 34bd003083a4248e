"""Exchanges with each service, written by hand from its published formats; all papers are invented."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

SECRET = "s3cret-key-of-32-characters-long"
CONTACT = "library@example.org"
TITLE = "Methane from flooded rice paddies"
TITLE2 = "A second paper that says little"


@dataclass(frozen=True)
class Asked:
    """A request as a service gets it."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def parameters(self) -> dict[str, list[str]]:
        """What stands in the address and in a form."""
        return {**parse_qs(urlsplit(self.target).query), **parse_qs(self.body.decode())}

    def one(self, name: str) -> str:
        return self.parameters.get(name, [""])[0]


@dataclass(frozen=True)
class Exchange:
    """What a service answers when all goes well, and what is made of it."""

    kind: str
    found: Callable[[Asked], bytes]
    nothing: Callable[[Asked], bytes]
    ids: tuple[str, str]
    settings: Mapping[str, str] = field(default_factory=dict)


def as_json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


OPENALEX: dict[str, Any] = {
    "meta": {"count": 2},
    "results": [
        {
            "id": "https://openalex.org/W101",
            "doi": "https://doi.org/10.5555/PADDY.1",
            "title": "Methane from flooded <i>rice</i> paddies",
            "publication_year": 2019,
            "language": "en",
            "relevance_score": 12.5,
            "authorships": [{"author": {"display_name": "Ara Kim"}}, {"author": None}],
            "primary_location": {
                "landing_page_url": "https://example.org/paddy",
                "source": {"display_name": "Invented Soils", "host_organization_name": "Nobody's Press"},
            },
            "abstract_inverted_index": {
                "Paddies": [0],
                "emit": [1, 4],
                "methane;": [2],
                "drains": [3],
                "less.": [5],
            },
            "keywords": [{"display_name": "Methane"}],
            "referenced_works": ["https://openalex.org/W102", "https://openalex.org/W103"],
            "cited_by_count": 7,
        },
        {"id": "https://openalex.org/W102", "title": TITLE2, "abstract_inverted_index": None},
    ],
}

SCHOLAR: list[dict[str, Any]] = [
    {
        "paperId": "a" * 40,
        "title": TITLE,
        "abstract": "Paddies emit methane; drains emit less.",
        "year": 2019,
        "externalIds": {"DOI": "10.5555/PADDY.1"},
        "authors": [{"authorId": "1", "name": "Ara Kim"}, {"authorId": None, "name": None}],
        "venue": "IS",
        "journal": {"name": "Invented Soils"},
        "fieldsOfStudy": ["Agriculture"],
        "citationCount": 7,
        "url": "https://example.org/paddy",
    },
    {"paperId": "b" * 40, "title": TITLE2, "abstract": None, "authors": None, "externalIds": None},
]


def scholar(asked: Asked) -> bytes:
    if asked.path.endswith("/batch"):
        ids = json.loads(asked.body)["ids"]
        by_id = {p["paperId"]: p for p in SCHOLAR} | {"DOI:10.5555/paddy.1": SCHOLAR[0]}
        return as_json([by_id.get(each) for each in ids])
    inside = {"references": "citedPaper", "citations": "citingPaper"}.get(asked.path.rpartition("/")[2])
    data = [{inside: paper} for paper in SCHOLAR] if inside else SCHOLAR
    return as_json({"total": 2, "offset": 0, "data": data})


ATOM = f"""<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:arxiv="http://arxiv.org/schemas/atom">
  <title>ArXiv Query</title>
  <entry>
    <id>http://arxiv.org/abs/1901.00001v2</id>
    <published>2019-01-01T00:00:00Z</published>
    <title>Methane from flooded
      rice paddies</title>
    <summary>  Paddies emit methane; drains emit less.
    </summary>
    <author><name>Ara Kim</name></author>
    <arxiv:doi>10.5555/PADDY.1</arxiv:doi>
    <arxiv:journal_ref>Invented Soils 1 (2019) 1-2</arxiv:journal_ref>
    <category term="physics.ao-ph"/>
  </entry>
  <entry><id>http://arxiv.org/abs/hep-th/9901001</id><title>{TITLE2}</title></entry>
</feed>""".encode()
NO_ATOM = b'<feed xmlns="http://www.w3.org/2005/Atom"><title>ArXiv Query</title></feed>'

PUBMED = f"""<?xml version="1.0" ?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN"
 "https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">
<PubmedArticleSet>
<PubmedArticle><MedlineCitation><PMID Version="1">101</PMID><Article>
  <Journal><JournalIssue><PubDate><MedlineDate>2019 Jan-Feb</MedlineDate></PubDate></JournalIssue>
    <Title>Invented Soils</Title></Journal>
  <ArticleTitle>Methane from flooded <i>rice</i> paddies</ArticleTitle>
  <ELocationID EIdType="doi">10.5555/PADDY.1</ELocationID>
  <Abstract><AbstractText Label="RESULTS">Paddies emit methane;</AbstractText>
    <AbstractText>drains emit less.</AbstractText></Abstract>
  <AuthorList><Author><LastName>Kim</LastName><ForeName>Ara</ForeName></Author>
    <Author><CollectiveName>Paddy Group</CollectiveName></Author></AuthorList>
  </Article>
  <MeshHeadingList><MeshHeading><DescriptorName>Methane</DescriptorName></MeshHeading></MeshHeadingList>
  <KeywordList><Keyword>paddy</Keyword></KeywordList></MedlineCitation>
  <PubmedData><ArticleIdList><ArticleId IdType="pubmed">101</ArticleId></ArticleIdList>
    <ReferenceList><Reference><ArticleIdList><ArticleId IdType="pubmed">102</ArticleId></ArticleIdList>
    </Reference></ReferenceList></PubmedData></PubmedArticle>
<PubmedArticle><MedlineCitation><PMID>102</PMID><Article><ArticleTitle>{TITLE2}</ArticleTitle></Article>
</MedlineCitation></PubmedArticle>
</PubmedArticleSet>""".encode()


def pubmed(asked: Asked) -> bytes:
    if asked.path.endswith("efetch.fcgi"):
        return PUBMED
    if asked.path.endswith("elink.fcgi"):
        name = asked.one("linkname")
        return as_json(
            {
                "linksets": [
                    {"ids": [each], "linksetdbs": [{"linkname": name, "links": ["101", "102"]}]}
                    for each in asked.parameters["id"]
                ]
            }
        )
    return as_json({"esearchresult": {"count": "2", "idlist": ["101", "102"]}})


WIKIPEDIA = {
    "batchcomplete": True,
    "query": {
        "pages": [
            {"pageid": 102, "ns": 0, "title": TITLE2, "index": 2},
            {
                "pageid": 101,
                "ns": 0,
                "title": TITLE,
                "index": 1,
                "extract": "Paddies emit methane; drains emit less.",
                "fullurl": "https://en.wikipedia.org/wiki/Paddy",
            },
        ]
    },
}

SCIENCEON = f"""<?xml version="1.0" encoding="UTF-8"?>
<MetaData><resultSummary><statusCode>200</statusCode><TotalCount>2</TotalCount></resultSummary>
<parameterData><item metaCode="ParameterValue"><![CDATA[{{"BI":"methane"}}]]></item></parameterData>
<recordList>
<record><item metaCode="CN"><![CDATA[JAKO200000000001]]></item>
  <item metaCode="DBCode"><![CDATA[JAKO]]></item>
  <item metaCode="Title"><![CDATA[{TITLE}]]></item>
  <item metaCode="Title2"><![CDATA[논에서 나오는 메탄]]></item>
  <item metaCode="Abstract"><![CDATA[Paddies emit <b>methane</b>; drains emit less.]]></item>
  <item metaCode="Author"><![CDATA[Ara Kim]]></item>
  <item metaCode="Pubyear"><![CDATA[2019]]></item>
  <item metaCode="JournalName"><![CDATA[Invented Soils]]></item>
  <item metaCode="DOI"><![CDATA[http://dx.doi.org/10.5555/PADDY.1]]></item>
  <item metaCode="ContentURL"><![CDATA[javascript:alert(1)]]></item></record>
<record><item metaCode="CN"><![CDATA[JAKO200000000002]]></item>
  <item metaCode="Title"><![CDATA[{TITLE2}]]></item></record>
</recordList></MetaData>""".encode()
NO_SCIENCEON = (
    b"<MetaData><resultSummary><statusCode>200</statusCode></resultSummary><recordList/></MetaData>"
)


def scienceon(asked: Asked, answer: bytes = SCIENCEON) -> bytes:
    if asked.path.endswith("tokenrequest.do"):
        return as_json({"access_token": "0123456789abcdef", "refresh_token": "fedcba9876543210"})
    return answer


EXCHANGES = {
    each.kind: each
    for each in (
        Exchange(
            "openalex",
            lambda asked: as_json(OPENALEX),
            lambda asked: as_json({"meta": {"count": 0}, "results": []}),
            ("W101", "W102"),
            {"api_key": SECRET},
        ),
        Exchange(
            "semantic_scholar",
            scholar,
            lambda asked: as_json({"total": 0, "offset": 0}),
            ("a" * 40, "b" * 40),
            {"api_key": SECRET},
        ),
        Exchange("arxiv", lambda asked: ATOM, lambda asked: NO_ATOM, ("1901.00001", "hep-th/9901001")),
        Exchange(
            "pubmed",
            pubmed,
            lambda asked: as_json({"esearchresult": {"count": "0", "idlist": []}}),
            ("101", "102"),
            {"api_key": SECRET},
        ),
        Exchange(
            "wikipedia",
            lambda asked: as_json(WIKIPEDIA),
            lambda asked: as_json({"batchcomplete": True}),
            ("101", "102"),
            {"language": "en"},
        ),
        Exchange(
            "scienceon",
            scienceon,
            lambda asked: scienceon(asked, NO_SCIENCEON),
            ("JAKO200000000001", "JAKO200000000002"),
            {"client_id": "id-of-the-client", "api_key": SECRET, "mac_address": "AA-BB-CC-DD-EE-FF"},
        ),
    )
}
