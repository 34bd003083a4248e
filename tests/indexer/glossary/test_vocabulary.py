"""How many passages hold a word."""

from indexer.glossary.vocabulary import WordCounts


def counted(*texts, most=1_000):
    counts = WordCounts(most)
    for text in texts:
        counts.add(text)
    return counts


def test_a_word_is_counted_once_a_passage_and_an_abbreviation_apart():
    counts = counted("Lithium and lithium DNA mRNA", "LITHIUM, the lithium. Schrödinger")
    assert counts.counts == {"lithium": 2, "and": 1, "the": 1, "schrödinger": 1}
    assert counts.abbreviations == {"DNA": 1, "mRNA": 1, "LITHIUM": 1}


def test_of_too_many_words_the_rare_ones_are_forgotten():
    assert counted("ab cd", "ab cd ef gh", "ij", most=4).counts == {"ab": 2, "cd": 2}


def test_a_korean_word_is_counted_with_its_particles_once_a_passage():
    frequencies = counted("담배를 담배에", "담배는 잎이다", "잎담배").frequencies()
    assert frequencies.korean("담배") == 2


def test_the_passages_of_several_korean_words_and_of_a_long_one_are_not_known():
    frequencies = counted("지식 그래프", "사회관계망서비스").frequencies()
    assert frequencies.korean("지식 그래프") == 0
    assert frequencies.korean("사회관계망서비스") == 0


def test_of_many_passages_some_are_counted_and_stand_for_all():
    frequencies = counted(*["무른 흙"] * 4_000).frequencies()
    assert frequencies.korean("무른") == 4_000


def test_forms_of_an_english_word_count_together_by_their_stem():
    frequencies = counted("toasting", "toasted", "Toast").frequencies()
    assert (frequencies.english("toasted"), frequencies.stem("toasting")) == (1, 3)
