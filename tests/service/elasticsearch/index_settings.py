"""The analyzers of the recordings as settings of an index; what each is made of says golden/README.md."""

from typing import Any

STOP_TAGS = (
    "EP EF EC ETN ETM IC JKS JKC JKG JKO JKB JKV JKQ JX JC MAG MAJ MM SP SSC SSO SC SE XSA XSN XSV UNA NA VSV"
).split()


def analysis(decompound: str = "discard", rules: list[str] | None = None) -> dict[str, Any]:
    """Return `settings.analysis` with the analyzers korean, bilingual and english."""
    tokenizer: dict[str, Any] = {"type": "nori_tokenizer", "decompound_mode": decompound}
    if rules is not None:
        tokenizer["user_dictionary_rules"] = rules
    korean = ["stop_tags", "nori_readingform", "lowercase"]
    return {
        "tokenizer": {"nori": tokenizer},
        "filter": {
            "stop_tags": {"type": "nori_part_of_speech", "stoptags": STOP_TAGS},
            "possessive": {"type": "stemmer", "language": "possessive_english"},
            "english_stemmer": {"type": "stemmer", "language": "english"},
        },
        "analyzer": {
            "korean": {"tokenizer": "nori", "filter": korean},
            "bilingual": {"tokenizer": "nori", "filter": [*korean, "stop", "english_stemmer"]},
            "english": {
                "tokenizer": "standard",
                "filter": ["possessive", "lowercase", "stop", "english_stemmer"],
            },
        },
    }
