"""Substances."""

import re
from collections.abc import Iterable

from base.patterns import lazy_regex

_DRUG_STEMS = """
    adol apine arabine arone astine azepam azolam azole azosin barbital bactam bendazole bradine
    buvir cainide caine cavir cillin cimab ciclib conazole coxib cycline cyclovir dipine dralazine
    entan ezetide fenac fibrate floxacin fungin gatran gepant grel gliflozin gliptin glitazone
    glutide imab kinra leukin limus lisib lukast mab micin misole mycin nercept navir nidazole nib
    olol oxacin oxetine parib parin farin peridone pitant platin prazan prazole pril profen prost
    quine quinil relix rubicin sartan semide setron sidone siran solone sone statin stigmine taxel
    tecan tegravir terol thiazide tidine tinib tiotixene trexate triptan triptyline vaptan vastatin
    vir xaban zumab formin
""".split()
_CHEMICAL_ENDINGS = """
    acetate aldehyde amide benzene carbonate cellulose chloride citrate ethylene fluoride glycol hydroxide
    imide nitrate nitride oxalate oxide phosphate propylene silane styrene sulfate sulfide titanate toluene
""".split()
_KOREAN_STEMS = """
    글루타이드 글리플로진 글립틴 나비르 니다졸 니브 닙 디핀 리무스 마이신 맙 미신 벤다졸 부비르
    비르 사르탄 사이클린 세트론 솔론 스타틴 시클로비르 실린 아졸 옥세틴 올롤 자반 제팜 졸람
    코나졸 코시브 콕시브 타파닙 가트란 그렐 미솔 탁셀 테칸 메테롤 모테롤 티닙 티딘
    파린 포르민 포민 프라잔 프라졸 프로펜 프릴 플라틴 플록사신 루비신 트렉세이트 티아지드 세미드
""".split()
# -caine, but not 사이토카인 (-kine), 아프리카인 (a person) or 조카인.
_CAINE = "(?:(?<=[코도로바티부])|(?<=벤조|트라))카인"
# Biomolecules and everyday words with the endings of drugs.
_NO_DRUG = lazy_regex(
    r"(?:sterol|histidine|cytidine|interleukin|(?:somato|folli|myo|cy|onco)statin|mongrel)s?$"
    r"|(?:히스티딘|(?:소마토|폴리|마이오|시)스타틴)$",
    re.IGNORECASE,
)
_KOREAN_ENDINGS = (
    "글리콜 셀룰로스 실란 아미드 아마이드 에틸렌 옥사이드 이미드 프로필렌 설파이드 스티렌 알데하이드".split()
)
_ENGLISH = r"(?<![A-Za-z-])[A-Za-z]{{2,20}}(?:{})s?(?![A-Za-z])"
_PARTICLE = r"(?=(?:[은는이가을를의에로과와도만]|에서|으로|이나|처럼|보다|군|제|계)?(?![가-힣]))"
_DRUGS = (
    lazy_regex(_ENGLISH.format("|".join(_DRUG_STEMS))),
    lazy_regex(rf"(?<![가-힣])[가-힣]{{1,10}}?(?:{'|'.join(_KOREAN_STEMS)}|{_CAINE}){_PARTICLE}"),
)
_CHEMICALS = (
    lazy_regex(_ENGLISH.format("|".join(_CHEMICAL_ENDINGS))),
    lazy_regex(
        rf"(?<![가-힣])(?:[가-힣]{{1,10}}?(?:{'|'.join(_KOREAN_ENDINGS)})"
        rf"|(?:폴리(?!네시아|오|스)|염화|불화|질화|수산화|플루오린화)[가-힣]{{2,8}}?){_PARTICLE}"
    ),
)


def drugs(text: str) -> list[str]:
    """Return the names of drugs in a text, in its order, each once; both languages use the same names."""
    return _named(text, _DRUGS)


def substances(text: str) -> list[str]:
    """Return the names of drugs and chemicals in a text; a language has its own names of chemicals."""
    return _named(text, _DRUGS + _CHEMICALS)


def _named(text: str, patterns: Iterable[re.Pattern[str]]) -> list[str]:
    found = sorted((match.start(), match[0]) for pattern in patterns for match in pattern.finditer(text))
    return list(dict.fromkeys(name for _, name in found if not _NO_DRUG.search(name)))
