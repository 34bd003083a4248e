"""Years of publication in a question, and the words for papers that show them.

Years are years of publication only if the question mentions papers of that time: "studies since 2015",
"published before 2010", 최근 5년간의 연구. Other years belong to the subject: "from 1951 to 2010", 지난
20년간.
"""

import re

from base.patterns import lazy_regex

# "Research funding" and 연구비 are no papers.
ENGLISH_PAPERS = (
    r"(?:papers?|studies|articles?|literature|publications?|reviews|preprints?|theses|dissertations?"
    r"|(?:a|the|any|each|recent|new|this) study"
    r"|research(?!\s+(?:and development|funding|funds?|spending|budgets?|grants?|policy|policies|institut\w+"
    r"|universit\w+|cent(?:er|re)s?|investments?|groups?|teams?|expenditures?|stations?|money|jobs?))"
    r"|(?:\A|(?:recent|prior|previous|earlier|existing|new|find)\s+)works?)"
)
KOREAN_PAPERS = (
    r"(?:연구(?!개발|비|원|소|자|실|진|팀|기관|단체|인력|투자|재단|윤리|용)|논문|문헌|학술지|학위\s*논문)"
)
BEFORE, BEHIND = 160, 80  # characters of the sentence that are read around the years
SENTENCE_END = lazy_regex(r"(?<!\b[A-Z])\.(?=\s|$)|[!?;]")
PUBLISHED = (
    r"(?:(?:(?:has|have|had|was|were|is|are|been|being)\s+)*"
    r"(?:published|appear(?:ed|ing)?|came out|conducted|carried out|performed|undertaken|done|written"
    r"|reported|presented|dated))"
)
# Works of art and of the state are published too.
NO_PAPERS = lazy_regex(
    r"\b(?:novels?|poems?|songs?|albums?|comics?|games?|films?|movies?|magazines?|newspapers?|laws?|figures)\b"
    r"|소설|시집|앨범|노래|음반|영화|드라마|게임|만화|정책|대책|법령|제품|통계",
    re.IGNORECASE,
)
# Between papers and their years no other clause starts.
CLAUSE = lazy_regex(
    r"\b(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|how|what|who|whose|why|when|where)\b"
    r"|\b(?:that|which)\s+\S|,\s*(?!(?:or|and|especially|preferably|published|from|since|in|after|before|between)\b)",
    re.IGNORECASE,
)
PAPERS_BEFORE = lazy_regex(rf"\b{ENGLISH_PAPERS}\b(?P<between>[^()]*)\Z", re.IGNORECASE)
PUBLISHED_BEFORE = lazy_regex(r"\bpublished\b(?:\s+\w+){0,3}\Z|\bpublications?\b[^.]{0,30}\Z", re.IGNORECASE)
ADJACENT = lazy_regex(
    rf"\b(?:{ENGLISH_PAPERS}|published)\b(?:\s*[,(]?\s*(?:that|which))?(?:\s+{PUBLISHED})?\Z", re.IGNORECASE
)
PAPERS_BEHIND = lazy_regex(
    r"(?:['’]s?)?[\s,]*(?:(?:of|what|which|how|many|much|the|any|new|recent|have|has|do|does|did|were|was|are|is|most"
    rf"|all|some|other|scientific|academic|scholarly|empirical|peer-reviewed|there|been)\s+)*{ENGLISH_PAPERS}\b",
    re.IGNORECASE,
)
PUBLISHED_BEHIND = lazy_regex(r"[^.,?!;]{0,40}\bpublished\b", re.IGNORECASE)
KOREAN_BEFORE = lazy_regex(
    rf"{KOREAN_PAPERS}(?:들)?(?:\s*(?:중|가운데)(?:에서?)?)?:?\Z"
    rf"|{KOREAN_PAPERS}(?:들)?[을를은는]\Z"
)
KOREAN_PUBLISHED = lazy_regex(
    r"\s*(?:\S+(?:에서|에|이|가|의)\s+){0,2}(?:새로\s*)?(?:발표|출판|게재|간행|출간)(?:된|되었|됐|한)"
)
# 연구가 중단된: about the fate of the research, not about papers of that time.
KOREAN_OBJECT = (
    r"(?:들)?[을를이가]\s+(?!\S*(?:찾|알려|보여|정리|요약|소개|추천|검색|있|다룬|궁금|원|중심|바탕))"
)
KOREAN_BEHIND = lazy_regex(rf"\s*(?:에\s*나온\s*)?{KOREAN_PAPERS}(?!{KOREAN_OBJECT})")
RIGHT_BEFORE = (ADJACENT, PUBLISHED_BEFORE, KOREAN_BEFORE)
RIGHT_BEHIND = (PAPERS_BEHIND, PUBLISHED_BEHIND, KOREAN_PUBLISHED, KOREAN_BEHIND)
# Years belong to a clause that ends before the word for papers.
KOREAN_CLAUSE = lazy_regex(
    r"(?:(?<!제외)하고|되고|이고|으며|하며|되며|지만|는데|은데|어서|아서|면서|하면|되면|[가이]\s+어떻게)(?:\s|,)|[?!]"
)


def are_of_papers(text: str, start: int, end: int, *, is_old: bool) -> bool:
    """Check whether the years at text[start:end] are years of publication.

    Old years are mostly history ("papers on the war from 1950 to 1953"), so with `is_old` the word for papers
    must be adjacent.
    """
    before = SENTENCE_END.split(text[max(0, start - BEFORE) : start])[-1].rstrip(" ,(")
    behind = SENTENCE_END.split(text[end : end + BEHIND])[0]
    if NO_PAPERS.search(f"{before} {behind}"):
        return False
    if text.startswith("published", start) or any(pattern.search(before) for pattern in RIGHT_BEFORE):
        return True
    if any(pattern.match(behind) for pattern in RIGHT_BEHIND):
        return True
    return not is_old and (_papers_before(before) or _korean_papers_behind(behind))


def _papers_before(before: str) -> bool:
    found = PAPERS_BEFORE.search(before)
    return bool(found) and not CLAUSE.search(
        re.sub(PUBLISHED, " ", found["between"] if found else "", flags=re.IGNORECASE)
    )


def _korean_papers_behind(behind: str) -> bool:
    found = re.search(rf"{KOREAN_PAPERS}(?!{KOREAN_OBJECT})", behind)
    return bool(found) and not KOREAN_CLAUSE.search(behind[: found.start() if found else 0])
