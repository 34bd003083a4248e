"""What is cut off a very long text before it is tokenised."""

from indexer.encoders.batching import beginning, without_surrogates


def words(text):
    return len(text.split())


def test_a_text_of_few_tokens_is_kept_until_there_are_enough():
    text = " " * 5000 + "ab " * 1000

    kept = beginning(text, 8, words)

    assert text.startswith(kept)
    assert words(kept) >= 24


def test_a_text_without_white_space_is_kept_whole():
    assert beginning("a" * 10_000, 8, words) == "a" * 10_000


def test_lone_surrogates_become_the_replacement_sign():
    assert without_surrogates("a\ud800b\udfff") == "a\ufffdb\ufffd"
    assert without_surrogates("𝔸 논문") == "𝔸 논문"
