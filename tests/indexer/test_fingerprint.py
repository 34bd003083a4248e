"""What an index depends on."""

from indexer.fingerprint import FIXED_TEXTS, differences, lexical_fingerprint


def test_the_fixed_texts_are_two_hundred():
    assert len(FIXED_TEXTS.read_text(encoding="utf-8").rstrip("\n").split("\n")) == 200


def test_every_analysis_has_its_own_tokens():
    chains = [("bilingual", "discard"), ("bilingual", "mixed"), ("korean", "discard"), ("english", "discard")]

    assert len({lexical_fingerprint(*chain)["tokens"] for chain in chains}) == 4


def test_it_names_what_tokens_depend_on():
    fingerprint = lexical_fingerprint("bilingual", "discard")

    assert fingerprint.keys() == {
        *("schema", "chunking", "analyzer", "decompound", "tantivy", "python-mecab-ko-dic", "tokens")
    }


def test_differences_are_told_with_both_values():
    assert differences({"a": "1", "b": "2"}, {"a": "1", "b": "3", "c": "4"}) == [
        "b: 2, now 3",
        "c: none, now 4",
    ]
