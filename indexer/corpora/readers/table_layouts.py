"""Known layouts of tables: KCI, RISS, DBpia and others with Korean headings, and exports of databases.

Sources of the headings: the export of KCI's search results (반출), the file "한국연구재단_KCI논문정보" of
data.go.kr, the export of theses by RISS, the labels of papers at RISS and DBpia, the CSV exports of Scopus,
Zotero, PubMed and OpenAlex, the tab-delimited files of Web of Science.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from indexer.corpora.readers.bibliography import (
    columns_of,
    reference_record,
    split_keywords,
    values_by_key,
)
from indexer.corpora.readers.markup import without_markup
from indexer.corpora.readers.references import TAGS_OF_FORMAT
from indexer.corpora.readers.streams import Stream

# Headings without spaces, in lower case, by the keys of `reference_record` (see `values_by_key`).
KOREAN = {
    "title": "논문명 논문명(국문) 논문제목 제목 국문제목 서명 자료명 표제",
    "title2": "논문영어명 논문명(외국어) 논문명(영문) 영문제목 영문논문명 기타서명 대등서명 다른표제",
    "abstract": "초록 국문초록 초록(국문) 국문초록(abstract) 한글초록 요약 영문초록 영어초록 초록(영문) "
    "초록(외국어) 다국어초록(multilingualabstract) 외국어초록",
    "authors": "저자 저자명 저자(한글) 집필자",
    "dates": "발행연도 발행년도 발행년 출판년 출판연도 출판년도 발행일 발행연월 발행년월 출판일",
    "journal": "학술지명 학술지명(국문) 간행물명 저널명 잡지명 수록지명 학술지",
    "publisher": "발행기관명 발행기관 발행처 출판사 학회명 대학 수여대학 학위수여기관",
    "keywords": "저자키워드 키워드 키워드(국문) 키워드(외국어) 영문키워드 주제어 주제어(키워드) 색인어",
    "doi": "doi doi식별코드",
    "url": "url 링크 원문url 상세url",
    "volume": "권",
    "issue": "호",
    "host": "권호 권호사항 권/호",
    "first_page": "시작페이지",
    "last_page": "끝페이지",
    "pages": "페이지 수록면 수록페이지 쪽수",
    "issn": "issn",
    "isbn": "isbn",
    "accession": "논문id 논문관리번호 제어번호 uci식별코드 uci",
    "language": "언어 작성언어 본문언어",
    "cited_by_count": "인용된총횟수 피인용횟수 피인용수 인용횟수",
    "subjects": "주제분야",
    "affiliation": "주저자소속기관",
    "thesis": "학위논문사항",
    "type": "유형 자료유형",
}
EXPORTS = """
key             scopus                      zotero                    pubmed
id              -                           -                         pmid
pmcid           -                           -                         pmcid
title           title                       title                     title
abstract        abstract                    abstractnote              -
authors         authors                     author                    authors
dates           year                        publicationyear           publicationyear
journal         sourcetitle                 publicationtitle          journal/book
publisher       publisher                   publisher                 -
keywords        authorkeywords,indexkeywords manualtags,automatictags -
doi             doi                         doi                       doi
url             link                        url                       -
volume          volume                      volume                    -
issue           issue                       issue                     -
first_page      pagestart                   -                         -
last_page       pageend                     -                         -
pages           -                           pages                     -
issn            issn                        issn                      -
isbn            isbn                        isbn                      -
series          -                           series                    -
place           -                           place                     -
accession       eid                         -                         -
citation_key    -                           key                       -
language        languageoforiginaldocument  language                  -
note            -                           notes                     -
cited_by_count  citedby                     -                         -
type            documenttype                itemtype                  -
"""
SCOPUS, ZOTERO, PUBMED = columns_of(EXPORTS).values()
OPENALEX = {
    "id": "id",
    "title": "title",
    "dates": "publication_year",
    "abstract": "abstract",
    "doi": "doi",
    "journal": "primary_location.source.display_name",
    "authors": "authorships.author.display_name",
    "publisher": "primary_location.source.host_organization_name",
    "type": "type",
    "keywords": "keywords.display_name",
    "cited_by_count": "cited_by_count",
    "language": "language",
    "url": "primary_location.landing_page_url",
}
WEB_OF_SCIENCE = {key: tags.lower() for key, tags in TAGS_OF_FORMAT["wos"].items()}
# The layouts, with headings that a table must have, at least one of each group.
LAYOUTS: tuple[tuple[Mapping[str, str], tuple[str, ...]], ...] = (
    (SCOPUS, ("eid", "sourcetitle", "title")),
    (ZOTERO, ("key", "itemtype", "title")),
    (PUBMED, ("pmid", "title", "journal/book")),
    (OPENALEX, ("authorships.author.display_name", "publication_year")),
    (WEB_OF_SCIENCE, ("pt", "ti", "so ut")),
    (KOREAN, (KOREAN["title"], f"{KOREAN['authors']} {KOREAN['dates']} {KOREAN['journal']}")),
)
OPENALEX_ADDRESS = "https://openalex.org/"


def layout_of(header: Sequence[str]) -> Mapping[str, str]:
    """Return the headings of a known layout by key, in their order in the header; none for another table."""
    names = dict.fromkeys(map(_folded, header))
    for keys, groups in LAYOUTS:
        if not any(map(names.keys().isdisjoint, map(str.split, groups))):
            return {key: _ordered(alternatives, names) for key, alternatives in keys.items()}
    return {}


def _ordered(alternatives: str, names: Iterable[str]) -> str:
    listed = map(str.split, alternatives.split("|"))
    return "|".join(" ".join(name for name in names if name in group) for group in listed)


@cache
def _folded(heading: str) -> str:
    return "".join(heading.split()).lower()


def record_in(
    cells: Sequence[str], header: Sequence[str], layout: Mapping[str, str], stream: Stream
) -> dict[str, Any]:
    """Return the record of a row, in Paper's keys; other columns are kept under their headings.

    Of headings that differ only in case or spaces, the first is read.
    """
    given = {name: text for name, cell in zip(header, cells, strict=True) if (text := cell.strip())}
    firsts: dict[str, str] = {}  # headings by their folded form
    for name in header:
        firsts.setdefault(_folded(name), name)
    first = {folded: given[name] for folded, name in firsts.items() if name in given}
    values = {folded: [text.removeprefix(OPENALEX_ADDRESS)] for folded, text in first.items()}
    found, names = values_by_key(layout, values)
    read = {firsts[folded] for folded in names}
    further: dict[str, Any] = {name: text for name, text in given.items() if name not in read}
    found["authors"] = found.get("authors", [])[:1]
    further |= {  # with affiliations
        f"csv:{firsts[folded]}": first[folded]
        for folded in layout.get("authors", "").split()
        if "(" in first.get(folded, "")
    }
    keywords = (keyword for text in found.get("keywords", ()) for keyword in split_keywords(_parts(text)))
    found["keywords"] = list(dict.fromkeys(keywords))
    record = reference_record(found, stream)
    return {f"csv:{name}" if name in record else name: text for name, text in further.items()} | record


def _parts(text: str) -> list[str]:
    """Return the parts of a cell between bars, without markup."""
    return without_markup(text).split("|")
