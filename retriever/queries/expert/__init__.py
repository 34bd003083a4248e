r"""The expert language of librarians and researchers, parsed into queries.

    제목:"지식 그래프" AND (retrieval OR 검색) NOT survey year:2019..2024

| written | means |
|---|---|
| `a AND b`, `a & b` | both |
| `a OR b`, `a \| b` | one of them, or both |
| `a NOT b`, `a AND NOT b`, `a -b`, `a !b` | the first without the second |
| `a b` | one of them, or both; binds before AND: `a b AND c` is `(a OR b) AND c` |
| `+a b` | a is required, b adds to the score |
| `( … )` | binds first; at most 50 deep |
| `"…"`, `“…”`, `「…」`, `『…』` | a phrase: these words in this order |
| `"…"~3` | the same with up to three words moved or between |
| `word^2`, `"…"^.5`, `( … )^3` | weighs more or less, 0 to 1000 |
| `title:`, `제목:`, `ti:` | in the title |
| `text:`, `abstract:`, `본문:`, `초록:` | in title and text, as without a field |
| `year:`, `연도:`, `발행년:` | 2019, 2019..2024, ..2024, 2019.., 2019-2024 |
| `lang:`, `언어:` | ko, en, other, 한국어, 영어 |
| `journal:`, `저널:`, `학술지:` | the journal, spelled as in the record |
| `author:`, `au:`, `저자:` | an author, spelled as in the record |
| `type:`, `유형:`, `자료유형:` | the type, spelled as in the record: article-journal, thesis, … |
| `id:` | the id of a paper or passage |

NOT binds first, then words side by side, then AND, then OR. Operators are in capitals; 그리고 and 또는 are
words. A field holds for the word, phrase or brackets behind its colon.

A filter (year, lang, journal, author, type, id) or a NOT next to words, without AND or OR between them,
applies to everything in the same brackets: `a OR b NOT c year:2020` is `(a OR b) AND NOT c AND year:2020`.
After AND or OR it is one side of the operator: `a OR year:2020`. Adjacent filters must all hold.

A word of several tokens (지식그래프, CRISPR-Cas9) is the phrase of its tokens. Words without tokens (stop
words, punctuation) are ignored. A word with a colon is an unknown field and an error if all characters before
the colon are letters; not before //, a second colon or a digit (https://…, ISO:9001), unless it looks like a
misspelt field (yaer:2019). There is no truncation: the words are stemmed, and a star is no part of a word.
"""

from retriever.queries.expert.parser import parse_expression

__all__ = ["parse_expression"]
