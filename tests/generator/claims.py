"""Sentences and the passage that each cites, invented: a wrong one and one that only looks wrong."""

from typing import NamedTuple


class Claims(NamedTuple):
    """What a passage does not say, what it does say in other words, and the passage."""

    sign: str
    wrong: str
    right: str
    passage: str
    lang: str = "en"


WITHIN = (
    # Units
    Claims(
        "unit",
        "Trout fed 5 g of spirulina a day kept their colour.",
        "Trout that were fed 0.005 g of spirulina a day kept their colour.",
        "Rainbow trout were fed 5 mg of spirulina a day. Their colour was kept until slaughter.",
    ),
    Claims(
        "unit",
        "The bridge bearings were replaced after 12 days of service.",
        "The bridge bearings were replaced after a service of one year, that is 12 months.",
        "Bearings of the bridge were replaced after 12 months of service because of corrosion.",
    ),
    Claims(
        "number",
        "국립 천문대는 밝기가 변하는 별 3만 개를 관측하였다.",
        "국립 천문대는 밝기가 변하는 별 3,000개를 관측하였다.",
        "국립 천문대는 밝기가 변하는 별 3천 개를 두 해 동안 관측하고 목록을 만들었다.",
        "ko",
    ),
    Claims(
        "unit",
        "옻칠한 목재는 40분 동안 말린 뒤 광택을 재었다.",
        "옻칠한 목재의 광택은 40시간 말린 다음에 재었다.",
        "옻칠한 목재를 40시간 동안 말린 뒤 광택을 재었고, 사포질은 하지 않았다.",
        "ko",
    ),
    # Numbers in words
    Claims(
        "number",
        "Divers found seven amphorae near the wreck.",
        "Near the wreck, 9 amphorae were found by divers.",
        "Divers found nine amphorae and an anchor near the wreck.",
    ),
    Claims(
        "number",
        "도자기 가마 여덟 기 가운데 다섯 곳에서 철화 백자가 나왔다.",
        "도자기 가마 가운데 7곳에서 철화 백자가 나왔다.",
        "조사한 도자기 가마 가운데 일곱 곳에서 철화 백자가 나왔고 나머지는 비어 있었다.",
        "ko",
    ),
    Claims(
        "number",
        "Moss covered 60% of the roof tiles after two winters.",
        "After two winters moss covered 50% of the roof tiles.",
        "After two winters, moss covered half of the roof tiles on the shaded side.",
    ),
    # Which number belongs to which word
    Claims(
        "other number",
        "The puppet theatre drew an average age of 14 in its audience.",
        "The audience of the puppet theatre had an average age of 31.",
        "Interviews at the puppet theatre (average age 31, attendance per show 14) showed loyalty.",
    ),
    Claims(
        "other number",
        "습도 80%에서 종이의 인장 강도는 62 MPa로 측정되었다.",
        "습도 80%에서 종이의 인장 강도는 41 MPa로 측정되었다.",
        "종이의 인장 강도는 습도 50%에서 62 MPa였으나, 습도 80%에서는 41 MPa로 측정되었다.",
        "ko",
    ),
    # Names
    Claims(
        "name",
        "The oldest bagpipe melodies were collected in the villages of Galicia.",
        "Melodies for the bagpipe, the oldest ones, were collected in Asturian villages.",
        "The oldest melodies for the bagpipe were collected in the villages of Asturias between the wars.",
    ),
    Claims(
        "name",
        "The inscription names the potter Euphronios beside the painter.",
        "The potter Exekias is named beside the painter by the inscription.",
        "The inscription on the cup names the potter Exekias beside the painter.",
    ),
    Claims(
        "name",
        "전라남도 곡성군의 장터에서 씨앗을 바꾸는 모임이 이어졌다.",
        "전라남도 구례군에서는 장터에서 씨앗을 바꾸는 모임이 이어졌다.",
        "전라남도 구례군의 장터에서는 해마다 씨앗을 바꾸는 모임이 이어졌다.",
        "ko",
    ),
    Claims(
        "name",
        "벌통에 에스플로라민을 뿌리자 응애가 사라졌다.",
        "벌통에 옥살산을 뿌리자 응애가 모두 사라졌다.",
        "벌통에 옥살산을 뿌리자 일주일 안에 응애가 모두 사라졌다.",
        "ko",
    ),
    # Opposite words
    Claims(
        "opposite",
        "Thicker hedges increased the number of nesting sparrows in the parks.",
        "The number of sparrows nesting in the parks was reduced by thicker hedges.",
        "Thicker hedges decreased the number of nesting sparrows in the parks of the town.",
    ),
    Claims(
        "opposite",
        "합창 연습을 늘리자 청소년의 불안 점수가 높아졌다.",
        "합창 연습을 늘리자 청소년의 불안 점수가 떨어졌다.",
        "합창 연습을 늘린 학교에서는 청소년의 불안 점수가 낮아졌으며, 결석은 변하지 않았다.",
        "ko",
    ),
    Claims(
        "opposite",
        "The stronger the glue, the deeper the cracks in the violin varnish became.",
        "Cracks in the varnish of the violin became shallower over the years.",
        "Over the years the cracks in the violin varnish became shallower, and the glue was unchanged.",
    ),
    Claims(
        "opposite",
        "빙하 호수의 수위는 여름마다 하락하였다.",
        "빙하 호수에서는 여름마다 수위가 올랐다.",
        "빙하 호수의 수위는 여름마다 상승하였고 둑은 두 번 무너졌다.",
        "ko",
    ),
    # Turned comparisons
    Claims(
        "opposite",
        "Oak barrels were cheaper to keep, but steel tanks gave a higher acidity than oak barrels.",
        "Steel tanks gave a lower acidity than oak barrels.",
        "Oak barrels gave a higher acidity than steel tanks in both vintages.",
    ),
    Claims(
        "opposite",
        "수묵화 전시의 관람 시간은 사진 전시보다 짧았다.",
        "사진 전시의 관람 시간은 수묵화 전시보다 짧았다.",
        "수묵화 전시의 관람 시간은 사진 전시보다 길었고 재방문도 잦았다.",
        "ko",
    ),
    Claims(
        "opposite",
        "Rents rose from 620 to 540 euros within the decade.",
        "Rents fell from 620 euros to 540 within the decade.",
        "Within the decade, rents fell from 620 to 540 euros in the old harbour.",
    ),
    Claims(
        "turned",
        "염전의 소금 생산은 48톤에서 35톤으로 바뀌었다.",
        "염전의 소금 생산은 35톤에서 48톤으로 바뀌었다.",
        "새 바닥재를 깐 뒤 염전의 소금 생산은 35톤에서 48톤으로 바뀌었다.",
        "ko",
    ),
    # What is denied, and where nothing was found
    Claims(
        "opposite",
        "Night lighting increased the mortality of moths at the reservoir.",
        "At the reservoir, the mortality of moths did not change with night lighting.",
        "Night lighting at the reservoir had no effect on the mortality of moths, although they flew less.",
    ),
    Claims(
        "opposite",
        "Night lighting increased the mortality of moths at the reservoir.",
        "At the reservoir, the mortality of moths didn't change with night lighting.",
        "Night lighting at the reservoir didn't significantly affect the mortality of moths there.",
    ),
    Claims(
        "denied",
        "The new tram line did not reach the hospital district.",
        "The hospital district was reached by the new tram line.",
        "The new tram line reached the hospital district in its second year.",
    ),
    Claims(
        "denied",
        "사찰의 목조 불상에서는 금박의 흔적이 확인되지 않았다.",
        "사찰의 목조 불상에는 금박의 흔적이 있는 것으로 확인되었다.",
        "사찰의 목조 불상에서는 금박의 흔적이 확인되었다.",
        "ko",
    ),
    Claims(
        "denied",
        "The orchestra toured with its conductor and a choir.",
        "The orchestra toured alone, having no conductor with it.",
        "The orchestra toured without a conductor for the first time.",
    ),
    # Numbers in other scripts and in words
    Claims(
        "number",
        "Rust covered ⑨⑨ percent of the anchors.",
        "Rust covered ⑧⑧ percent of the anchors.",
        "After ten winters, rust covered 88% of the anchors in the harbour.",
    ),
    Claims(
        "number",
        "Rust covered ⁹⁹% of the anchors.",
        "Rust covered ８８% of the anchors.",
        "After ten winters, rust covered 88% of the anchors in the harbour.",
    ),
    Claims(
        "number",
        "닻의 구십구 퍼센트에 녹이 슬었다.",
        "닻의 팔십팔 퍼센트에 녹이 슬었다.",
        "열 해 겨울이 지나자 항구에 있는 닻의 88%에 녹이 슬었다.",
        "ko",
    ),
    Claims(
        "number",
        "The choir went on a three-year tour of the coast.",
        "The choir went on a tour of the coast for 24 months.",
        "The choir went on a two-year tour of the coast and of two islands.",
    ),
    Claims(
        "number",
        "합창단은 해안을 3년간 돌며 노래하였다.",
        "합창단은 해안을 두 해 동안 돌며 노래하였다.",
        "합창단은 2년 동안 해안과 섬을 돌며 노래하였다.",
        "ko",
    ),
    Claims(
        "number",
        "The ferry took two and a half hours to cross the strait.",
        "The ferry took one and a half hours to cross the strait.",
        "The ferry took 90 minutes to cross the strait in calm weather.",
    ),
    # Multiples and shares
    Claims(
        "number",
        "The number of beavers in the valley tripled.",
        "The number of beavers in the valley doubled.",
        "The number of beavers in the valley rose from 40 to 80 within a decade.",
    ),
    Claims(
        "number",
        "골짜기의 비버 수는 절반으로 줄었다.",
        "골짜기의 비버 수는 4분의 1로 줄었다.",
        "골짜기의 비버 수는 열 해 사이에 80마리에서 20마리로 줄었다.",
        "ko",
    ),
    Claims(
        "number",
        "A quarter of the bells were cast in bronze.",
        "Two thirds of the bells were cast in bronze.",
        "Of the 90 bells, 60 bells were cast in bronze and the rest in iron.",
    ),
    # The direction of a number
    Claims(
        "opposite",
        "The lock gates boosted the leakage by 30%.",
        "The lock gates slashed the leakage by 30%.",
        "The new lock gates lowered the leakage by 30% in both basins.",
    ),
    Claims(
        "opposite",
        "새 갑문은 누수를 30% 늘렸다.",
        "새 갑문은 누수를 30% 절감하였다.",
        "새 갑문은 두 수조에서 누수를 30% 낮추었다.",
        "ko",
    ),
    # Everything
    Claims(
        "universal",
        "All bakers in the survey grind their own flour.",
        "Some bakers in the survey grind their own flour.",
        "Many bakers in the survey grind their own flour, mostly in the villages.",
    ),
    Claims(
        "universal",
        "The survey covers the oldest bakery in the world.",
        "The survey covers bakeries of the old town.",
        "The survey covers fourteen bakeries of the old town and their ovens.",
    ),
    Claims(
        "universal",
        "조사한 제과점은 항상 직접 밀을 빻는다.",
        "조사한 제과점은 직접 밀을 빻는다.",
        "조사한 제과점 가운데 여럿은 직접 밀을 빻는다.",
        "ko",
    ),
    Claims(
        "universal",
        "이 제과점은 세계 최초로 밀을 직접 빻았다.",
        "이 제과점은 밀을 직접 빻았다.",
        "이 제과점은 골목에 화덕을 두고 밀을 직접 빻았다.",
        "ko",
    ),
    # A true clause, then another one
    Claims(
        "clause",
        "Dew collectors filled two barrels a night, and tourists bought expensive souvenirs.",
        "Dew collectors filled two barrels a night, and the desert village drank from them.",
        "Dew collectors filled two barrels a night, from which the desert village drank.",
    ),
    Claims(
        "clause",
        "이슬 수집기는 하룻밤에 물통 두 개를 채웠고, 관광객은 비싼 기념품을 구입하였다.",
        "이슬 수집기는 하룻밤에 물통 두 개를 채웠고, 사막 마을이 그 물을 마셨다.",
        "이슬 수집기는 하룻밤에 물통 두 개를 채웠으며 사막 마을의 주민은 그 물을 마셨다.",
        "ko",
    ),
    # Exchanged numbers, sides and roles
    Claims(
        "exchanged",
        "Gliders stayed up for 41 minutes with short wings and 66 minutes with long wings.",
        "Gliders stayed up for 66 minutes with short wings and 41 minutes with long wings.",
        "With short wings gliders stayed up for 66 minutes, with long wings for 41 minutes.",
    ),
    Claims(
        "exchanged",
        "짧은 날개의 활공기는 41분, 긴 날개의 활공기는 66분을 날았다.",
        "긴 날개의 활공기는 41분, 짧은 날개의 활공기는 66분을 날았다.",
        "활공기는 짧은 날개로는 66분, 긴 날개로는 41분을 날았다.",
        "ko",
    ),
    Claims(
        "exchanged",
        "Magpies hid more acorns than jays.",
        "Jays hid more acorns than magpies.",
        "Jays hid more acorns than magpies in the oak wood.",
    ),
    Claims(
        "exchanged",
        "Squirrels took twice as many nuts as crows.",
        "Crows took twice as many nuts as squirrels.",
        "In the park, crows took twice as many nuts as squirrels.",
    ),
    Claims(
        "exchanged",
        "The otter population controls the river crabs.",
        "The otter population is controlled by the river crabs.",
        "The river crabs control the otter population in the lower valley.",
    ),
    Claims(
        "exchanged",
        "안개는 등대를 가린다.",
        "등대는 안개를 가린다.",
        "등대는 밤마다 안개를 가린다.",
        "ko",
    ),
    # Another subject
    Claims(
        "name",
        "Of the horses given carprofen, 12% limped after a week.",
        "Of the horses given phenylbutazone, 12% limped after a week.",
        "Of the horses given phenylbutazone, 12% limped after a week; none did after rest.",
    ),
    Claims(
        "name",
        "카르프로펜을 먹인 말은 12%가 절었다.",
        "케토프로펜을 먹인 말은 12%가 절었다.",
        "케토프로펜을 먹인 말은 한 주 뒤에 12%가 절었다.",
        "ko",
    ),
    Claims(
        "other number",
        "Hemp fibre insulated the attic with a loss of 9 W.",
        "Flax fibre insulated the attic with a loss of 9 W.",
        "Flax fibre insulated the attic with a loss of 9 W in January.",
    ),
    Claims(
        "other number",
        "다락은 양털 단열재로 열 손실이 9 W였다.",
        "다락은 볏짚 단열재로 열 손실이 9 W였다.",
        "다락은 볏짚 단열재로 열 손실이 9 W였고 습기도 적었다.",
        "ko",
    ),
    # What another passage says
    Claims(
        "words",
        "Sea urchins were removed by hand to let the kelp return.",
        "Chess clubs helped pupils to plan further ahead.",
        "Pupils in chess clubs learned to plan further ahead and helped one another.",
    ),
)
ACROSS = (
    Claims(
        "number",
        "The smart speaker was given to 240 older adults living alone.",
        "A smart speaker was handed to 88 older adults living alone.",
        "독거노인(older adults living alone) 88명에게 인공지능 스피커(smart speaker)를 주었다.",
        "ko",
    ),
    Claims(
        "unit",
        "메탄은 6개월 동안 측정되었다.",
        "메탄은 6주 동안 측정되었다.",
        "Methane was measured for six weeks in flooded rice.",
    ),
    Claims(
        "opposite",
        "기공이 커지자 이온 전도도가 낮아졌다.",
        "기공이 커지자 이온 전도도가 높아졌다.",
        "With larger pores the ionic conductivity was higher, and nothing else changed.",
    ),
    Claims(
        "opposite",
        "Loneliness increased after the programme for older adults living alone.",
        "Loneliness fell after the programme for older adults living alone.",
        "프로그램 뒤에 독거노인의 외로움이 줄었고 우울은 그대로였다.",
        "ko",
    ),
    Claims(
        "name",
        "논의 메탄은 당진과 나주에서 측정되었다.",
        "논의 메탄은 김제와 나주에서 측정되었다.",
        "Methane from paddies was measured in Gimje and Naju.",
    ),
    Claims(
        "name",
        "Kimchi fermented with Lactobacillus plantarum kept longer.",
        "Kimchi fermented with Leuconostoc citreum kept longer.",
        "류코노스톡 시트레움(Leuconostoc citreum)으로 담근 김치(kimchi)는 더 오래 보존되었다.",
        "ko",
    ),
    Claims(
        "number",
        "독거노인 ⑨⑨%가 외로움을 느꼈다.",
        "독거노인 ⑧⑧%가 외로움을 느꼈다.",
        "Loneliness was felt by 88% of the older adults living alone.",
    ),
    Claims(
        "number",
        "메탄 배출은 두 배로 늘었다.",
        "메탄 배출은 세 배로 늘었다.",
        "Methane emission tripled in flooded rice.",
    ),
    Claims(
        "opposite",
        "걸러대기는 메탄 배출을 40% 늘렸다.",
        "걸러대기는 메탄 배출을 40% 줄였다.",
        "Intermittent irrigation cut methane emission by 40%.",
    ),
    Claims(
        "opposite",
        "Intermittent irrigation boosted methane emission by 40%.",
        "Intermittent irrigation lowered methane emission by 40%.",
        "걸러대기(intermittent irrigation)는 메탄 배출을 40% 줄였다.",
        "ko",
    ),
    Claims(
        "universal",
        "모든 독거노인이 외로움을 느꼈다.",
        "독거노인은 외로움을 느꼈다.",
        "Loneliness was felt by many older adults living alone.",
    ),
    Claims(
        "universal",
        "Older adults living alone always feel loneliness.",
        "Older adults living alone feel loneliness.",
        "독거노인은 외로움을 느낀다.",
        "ko",
    ),
    Claims(
        "exchanged",
        "Methane emission was 31 kg with intermittent irrigation and 52 kg with continuous flooding.",
        "Methane emission was 52 kg with intermittent irrigation and 31 kg with continuous flooding.",
        "메탄 배출은 상시 담수(continuous flooding)에서 31 kg, 걸러대기에서 52 kg이었다.",
        "ko",
    ),
    Claims(
        "other number",
        "메트로니다졸을 쓴 환자의 제균율은 64%였다.",
        "클래리스로마이신을 쓴 환자의 제균율은 64%였다.",
        "Eradication was 64% with clarithromycin. Metronidazole was given to the others.",
    ),
)
