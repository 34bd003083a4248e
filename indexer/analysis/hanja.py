"""Korean readings of Hanja: 女性 is read 여성.

The readings come from KS X 1001, whose Hanja are sorted by reading. The first letter of a word
follows the initial sound rule of Korean orthography (articles 10 to 12); 렬 and 률 become 열 and 율 after a
vowel or ㄴ. Hanja outside the standard are kept.
"""

import re
import unicodedata
from functools import cache

HANJA = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# Each reading in the order of the standard, with its number of Hanja if there are several. Hanja that the
# standard repeats with another reading are compatibility ideographs, and not counted.
KS_X_1001 = """
    가29각11간24갈10감20갑6강24개19객2갱3갹거16건12걸4검7겁3게3격7견11결6겸6경45계24고38곡7곤10골2공16곶과12곽4관16괄4광13괘3괴9굉4교25구54
    국6군6굴4궁6권10궐5궤6귀4규15균6귤극7근15금13급7긍4기64긴길4김끽나6낙난3날2남5납2낭2내5녀년3념4녕2노6농3뇌2뇨눈눌뉴2능니2닉2다2단20달5담17답5당11
    대16댁덕2도40독10돈10돌2동17두10둔6득등9라8락7란8랄2람10랍3랑8래4랭략2량13려18력7련12렬6렴5렵령17례5로17록7론롱7뢰8료12룡루13류14륙3륜6률3륭
    륵2름릉6리25린9림5립4마8막6만19말7망12매14맥5맹6멱2면11멸2명15몌모24목7몰2몽3묘12무22묵2문12물3미19민13밀3박19반25발11방28배19백8번9벌4범
    9법2벽11변6별4병17보16복17본볼봉16부42북분19불4붕6비42빈14빙4사60삭2산12살5삼7삽4상31새3색4생4서30석15선32설13섬8섭3성18세8소37속9손6솔송
    8쇄4쇠2수61숙12순27술4숭3슬3습5승10시28식15신23실4심9십2쌍씨아18악14안10알4암8압4앙7애11액7앵4야10약7양23어10억5언6얼2엄6업2엔여13역9연29
    열4염10엽3영27예20오29옥5온6올옹9와8완18왈왕5왜4외5요28욕6용23우32욱9운12울3웅2원26월3위25유46육4윤9율융4은7을음6읍3응4의19이24익6인17일9임
    8입2잉4자26작13잔5잠6잡장36재17쟁4저28적24전41절8점9접3정55제23조46족4존2졸3종17좌5죄주40죽2준19줄중4즉즐즙3증11지33직5진35질15짐2집6징3차
    14착7찬15찰5참10창22채12책4처4척14천19철10첨10첩10청8체9초27촉6촌4총10촬최3추23축12춘3출3충6췌4취14측5층치24칙3친칠3침9칩칭2쾌타14탁14탄1
    0탈2탐4탑3탕4태14택2탱터토4통6퇴6투6특2틈파16판9팔3패11팽4퍅편10폄평5폐10포27폭5표14품2풍5피7필10핍2하14학5한14할2함12합7항15해18핵2행5향9허
    4헌4헐험2혁4현20혈4혐협12형20혜9호41혹3혼6홀3홍10화14확5환17활5황24회20획2횡3효13후13훈10훙훤4훼3휘8휴5휼3흉5흑흔4흘4흠3흡4흥희20힐
"""
# More common readings than in the standard.
USUAL = {"金": "금", "率": "률", "不": "불", "宅": "택", "泌": "비", "塞": "색", "串": "관"}
# Words with a rarer reading of one of their Hanja.
WORDS = dict(
    pair.split(":")
    for pair in """
    更新:갱신 更生:갱생 龜裂:균열 龜鑑:귀감 綠茶:녹차 紅茶:홍차 容易:용이 簡易:간이 難易:난이
    安易:안이 平易:평이 降伏:항복 投降:투항 娛樂:오락 快樂:쾌락 樂園:낙원 樂觀:낙관 苦樂:고락
    復活:부활 復興:부흥 敗北:패배 省略:생략 遊說:유세 相殺:상쇄 殺到:쇄도 憎惡:증오 嫌惡:혐오
    惡寒:오한 洞察:통찰 便秘:변비 小便:소변 大便:대변 便所:변소 率直:솔직 統率:통솔 輕率:경솔
    引率:인솔 要塞:요새 標識:표지 推敲:퇴고 一切:일체 句讀:구두 計畫:계획 企畫:기획 自轉車:자전거
    人力車:인력거 拓本:탁본 砂糖:사탕 雪糖:설탕 布施:보시 牧丹:모란 六月:유월 十月:시월 謁見:알현
    暴惡:포악 契丹:거란 什器:집기 賞狀:상장 令狀:영장 金氏:김씨
    """.split()
)
RUN = re.compile(f"[{HANJA}]+")
FIRST_SYLLABLE, SYLLABLES, VOWELS, FINALS = 0xAC00, 11_172, 21, 28
N_INITIAL, R_INITIAL, SILENT_INITIAL = 2, 5, 11
Y_VOWELS = frozenset({2, 3, 6, 7, 12, 17, 20})  # ㅑ ㅒ ㅕ ㅖ ㅛ ㅠ ㅣ
TENSED_AFTER_BU = frozenset({3, 12})  # ㄷ ㅈ: 不 is read 부 before them


@cache
def readings() -> dict[str, str]:
    """Return the reading of each Hanja of KS X 1001."""
    rows = (bytes((row, cell)) for row in range(0xCA, 0xFE) for cell in range(0xA1, 0xFF))
    hanja = (each for each in (code.decode("euc_kr") for code in rows) if not "\uf900" <= each <= "\ufaff")
    found: dict[str, str] = {}
    for reading, number in re.findall("([가-힣])([0-9]*)", "".join(KS_X_1001.split())):
        found |= {next(hanja): reading for _ in range(int(number or 1))}
    return found | USUAL


def read_hanja(text: str) -> str:
    """Return a text with its Hanja replaced by their readings, one syllable for each."""
    return RUN.sub(lambda run: _read(run[0], run.string[: run.start()][-1:]), text)


@cache
def _words() -> re.Pattern[str]:
    return re.compile("|".join(WORDS))


def _read(run: str, before: str) -> str:
    run = unicodedata.normalize("NFKC", run)
    run = _words().sub(lambda word: WORDS[word[0]], run)
    read: list[str] = []
    for place, letter in enumerate(run):
        syllable = readings().get(letter, letter)
        previous = read[-1] if read else before
        if letter == "不" and _initial(readings().get(run[place + 1 : place + 2], "")) in TENSED_AFTER_BU:
            syllable = "부"
        if letter != syllable:
            syllable = _in_word(syllable, previous)
        read.append(syllable)
    return "".join(read)


def _initial(syllable: str) -> int:
    code = ord(syllable) - FIRST_SYLLABLE if syllable else -1
    return code // (VOWELS * FINALS) if 0 <= code < SYLLABLES else -1


def _in_word(syllable: str, previous: str) -> str:
    """Return a syllable as it is spoken after another one, or at the start of a word."""
    code = ord(syllable) - FIRST_SYLLABLE
    initial, vowel, final = code // (VOWELS * FINALS), code // FINALS % VOWELS, code % FINALS
    if _initial(previous) >= 0:
        softens = syllable in "렬률" and (ord(previous) - FIRST_SYLLABLE) % FINALS in {0, 4}
        initial = SILENT_INITIAL if softens else initial
    elif initial in {N_INITIAL, R_INITIAL} and vowel in Y_VOWELS:
        initial = SILENT_INITIAL
    elif initial == R_INITIAL:
        initial = N_INITIAL
    return chr(FIRST_SYLLABLE + (initial * VOWELS + vowel) * FINALS + final)
