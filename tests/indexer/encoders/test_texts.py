"""What is cut off a very long text before it is tokenised."""

from indexer.encoders.texts import beginning, without_surrogates


def words(text):
    return len(text.split())


def test_a_short_text_is_left_alone_and_not_counted():
    def refuse(text):
        raise AssertionError(text)

    assert beginning("a b c", 100, refuse) == "a b c"


def test_a_long_text_ends_before_the_first_space_behind_the_bound():
    # 16 characters for each of 8 + 16 tokens: 384, within the 77th word of five signs.
    assert beginning("abcd " * 1000, 8, words) == "abcd " * 76 + "abcd"


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
