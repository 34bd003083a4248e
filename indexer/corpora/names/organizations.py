"""Names of organizations, which are never split."""

import re

WORDS = (
    *("academy", "administration", "agency", "alliance", "association", "authority", "board", "bureau"),
    *("center", "centers", "centre", "centres", "club", "collaboration", "collaborators", "college"),
    *("commission", "committee", "community", "company", "conference", "congress", "consortium"),
    *("corporation", "council", "department", "editors", "editorial", "faculty", "federation", "forum"),
    *("foundation", "government", "group", "hospital", "inc", "initiative", "institut", "institute"),
    *("institution", "investigators", "laboratories", "laboratory", "league", "library", "ltd", "ministry"),
    *("museum", "network", "office", "organisation", "organization", "panel", "program", "programme"),
    *("project", "school", "secretariat", "service", "society", "staff", "taskforce", "team", "trust"),
    *("union", "universidad", "universidade", "universität", "université", "university", "workshop"),
)
ENGLISH = re.compile(rf"\b(?i:{'|'.join(WORDS)})\b|\b(?:and|of|for|the)\b|[&/;:@()\[\]0-9]")
KOREAN_ENDINGS = (
    *("학회", "협회", "협의회", "연구회", "위원회", "연구원", "연구소", "연구실", "연구팀", "연구단"),
    *("대학", "대학교", "대학원", "학교", "학부", "학과", "병원", "센터", "재단", "공사", "공단", "은행"),
    *("정부", "교육부", "교육청", "통계청", "기상청", "환경부", "진흥원", "개발원", "정보원", "진흥청"),
    *("도서관", "박물관", "편집부", "사무국", "주식회사", "컨소시엄", "조합", "연맹", "연합회", "본부"),
    *("사업단", "추진단", "편집팀", "출판사", "신문사", "방송"),
)


def is_organization(name: str) -> bool:
    """Check for a word of an organization, a connective, or a sign that no person's name has."""
    return ENGLISH.search(name) is not None or name.endswith(KOREAN_ENDINGS)
