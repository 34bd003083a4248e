"""Known layouts of tables: KCI, RISS, DBpia and others with Korean headings, Scopus, Zotero.

Sources of the headings: the export of KCI's search results (반출), the file "한국연구재단_KCI논문정보" of
data.go.kr, the export of theses by RISS, the labels of papers at RISS and DBpia, the CSV exports of Scopus
and Zotero.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from indexer.corpora.readers.bibliography import (
    doi_among,
    in_language,
    languages,
    person_named,
    present,
    record_id,
    split_keywords,
    type_named,
    year_within,
)
from indexer.corpora.readers.markup import without_markup
from indexer.corpora.readers.streams import Stream

# Headings without spaces, in lower case, by the key of their values. Several headings of a key are joined.
KOREAN = {
    "title": "논문명 논문명(국문) 논문제목 제목 국문제목 서명 자료명 표제",
    "title2": "논문영어명 논문명(외국어) 논문명(영문) 영문제목 영문논문명 기타서명 대등서명 다른표제",
    "abstract": "초록 국문초록 초록(국문) 국문초록(abstract) 한글초록 요약",
    "abstract2": "영문초록 영어초록 초록(영문) 초록(외국어) 다국어초록(multilingualabstract) 외국어초록",
    "authors": "저자 저자명 저자(한글) 집필자",
    "year": "발행연도 발행년도 발행년 출판년 출판연도 출판년도 발행일 발행연월 발행년월 출판일",
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
SCOPUS = {
    "title": "title",
    "abstract": "abstract",
    "authors": "authors",
    "year": "year",
    "journal": "sourcetitle",
    "publisher": "publisher",
    "keywords": "authorkeywords indexkeywords",
    "doi": "doi",
    "url": "link",
    "volume": "volume",
    "issue": "issue",
    "first_page": "pagestart",
    "last_page": "pageend",
    "issn": "issn",
    "isbn": "isbn",
    "accession": "eid",
    "language": "languageoforiginaldocument",
    "cited_by_count": "citedby",
    "type": "documenttype",
}
ZOTERO = {
    "title": "title",
    "abstract": "abstractnote",
    "authors": "author",
    "year": "publicationyear",
    "journal": "publicationtitle",
    "publisher": "publisher",
    "keywords": "manualtags automatictags",
    "doi": "doi",
    "url": "url",
    "volume": "volume",
    "issue": "issue",
    "pages": "pages",
    "issn": "issn",
    "isbn": "isbn",
    "series": "series",
    "place": "place",
    "citation_key": "key",
    "language": "language",
    "note": "notes",
    "type": "itemtype",
}
# The layouts, with headings that a table must have, at least one of each group.
LAYOUTS: tuple[tuple[Mapping[str, str], tuple[str, ...]], ...] = (
    (SCOPUS, ("eid", "sourcetitle", "title")),
    (ZOTERO, ("key", "itemtype", "title")),
    (KOREAN, (KOREAN["title"], f"{KOREAN['authors']} {KOREAN['year']} {KOREAN['journal']}")),
)
TEXTS = (
    *("publisher", "url", "volume", "issue", "host", "issn", "isbn", "subjects", "affiliation", "thesis"),
    *("series", "place", "note"),
)
BETWEEN_NAMES = re.compile(r"\s*[;|]\s*")
BETWEEN_KOREAN_NAMES = re.compile(r"\s*[,·/]\s*")
KOREAN_NAMES = re.compile(r"[가-힣]{2,5}(?:\s*[,·/]\s*[가-힣]{2,5})+")
COUNT = re.compile(r"[\d,]{1,15}")

Layout = Mapping[int, str]


def layout_of(header: Sequence[str]) -> dict[int, str]:
    """Return the keys of the columns of a known layout by their places; none for another table."""
    names = [_normal(name) for name in header]
    for keys, required in LAYOUTS:
        if all(not set(group.split()).isdisjoint(names) for group in required):
            key_of = {name: key for key, listed in keys.items() for name in listed.split()}
            return {place: key_of[name] for place, name in enumerate(names) if name in key_of}
    return {}


def _normal(heading: str) -> str:
    return "".join(heading.split()).lower()


def record_in(cells: Sequence[str], header: Sequence[str], layout: Layout, stream: Stream) -> dict[str, Any]:
    """Return the record of a row, in Paper's keys; other columns are kept under their headings."""
    found: dict[str, list[str]] = {}
    for place, key in layout.items():
        if text := cells[place].strip():
            found.setdefault(key, []).append(text)
    first = {key: texts[0] for key, texts in found.items()}
    title, title2 = (without_markup(first.get(key, "")) for key in ("title", "title2"))
    title, title2 = (title, title2) if title else (title2, "")
    abstracts = [without_markup(first[key]) for key in ("abstract", "abstract2") if key in first]
    spoken = languages(first.get("language", ""), title)
    abstract, abstract2 = in_language(abstracts, spoken["lang"])
    authors = _names(first.get("authors", ""))
    doi = doi_among(found.get("doi", [])) or first.get("doi", "")
    citations = first.get("cited_by_count", "")
    years = [year for text in found.get("year", []) if (year := year_within(text))]
    accession, key = first.get("accession", ""), first.get("citation_key", "")
    values = {
        "id": record_id(stream, doi=doi, accession=accession, key=key, content=(title, *authors, *years)),
        "title": title,
        "title2": title2,
        "abstract": abstract,
        "abstract2": abstract2,
        "authors": authors,
        "year": years[0] if years else None,
        "journal": first.get("journal", ""),
        "keywords": _keywords(found.get("keywords", [])),
        "doi": doi,
        "pages": first.get("pages", "") or "-".join(_pages(first)),
        "cited_by_count": int(citations.replace(",", "")) if COUNT.fullmatch(citations) else None,
        "type": "thesis" if "thesis" in first else type_named(first.get("type", "")),
        "accession_number": accession,
        "citation_key": key,
        **{key: first.get(key, "") for key in TEXTS},
    }
    further = {
        header[place]: text
        for place, cell in enumerate(cells)
        if place not in layout and header[place] and (text := cell.strip())
    }
    return present({f"csv:{name}" if name in values else name: text for name, text in further.items()}) | (
        present(values) | spoken
    )


def _names(text: str) -> list[str]:
    """Split names at semicolons; Korean ones without semicolons also at commas."""
    korean = KOREAN_NAMES.fullmatch(text)
    names = (BETWEEN_KOREAN_NAMES if korean else BETWEEN_NAMES).split(text)
    return [person_named(name) for name in names if name]


def _keywords(texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(keyword for text in texts for keyword in split_keywords([text])))


def _pages(first: Mapping[str, str]) -> dict[str, None]:
    """Return the first and the last page, once if they are the same."""
    return dict.fromkeys(first[key] for key in ("first_page", "last_page") if key in first)
