r"""Texts and values of all formats: markup, TeX, years."""

import pytest

from indexer.corpora.readers.bibliography import year_within
from indexer.corpora.readers.markup import without_markup
from indexer.corpora.readers.tex import text_of


@pytest.mark.parametrize(
    ("date", "year"),
    [
        *(("1998/12//", 1998), ("n.d.", None), ("20190301", 2019), ("201905", 2019), ("12/05/1998", 1998)),
        *(("2020-2021", 2020), ("[2003]", 2003), ("c1999", 1999), ("199X", None), ("Spring 2007", 2007)),
        *(("2019년 3월", 2019), ("0000", None), ("12-May-98", None), ("２０１９", 2019), ("20191", None)),
    ],
)
def test_a_year_is_found_in_a_date(date, year):
    assert year_within(date) == year


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"G{\"o}del \'{\i}ndice {\c c}a \v{s} {\O}re", "Gödel índice ça š Øre"),
        (r"Nguy{\~{\^e}}n \'{\^e} \h{a} \textcommabelow{s}", "Nguyễn ế ả ș"),
        (r"{D}eep~{L}earning \emph{E. coli} in {\textbackslash}x", r"Deep Learning E. coli in \x"),
        (r"CO$_2$ and $\mathrm{H_2O}$, $O(n \log n)$", "CO2 and H2O, O(n log n)"),
        (r"$p \leq 0.05$ of 50\,\% \& \$5 \#1 a\_b", "p ≤ 0.05 of 50 % & $5 #1 a_b"),
        (r"The {\LaTeX} and \TeX{} book", "The LaTeX and TeX book"),
        (r"A--B --- ``quoted'' text", "A–B — “quoted” text"),
        ("two\\\\lines  and\ttabs, unfinished \\'", "two lines and tabs, unfinished"),
    ],
)
def test_tex_is_read_as_what_it_prints(tex, text):
    assert text_of(tex) == text


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("CO<sub>2</sub> &amp;amp; <b>R&amp;D</b>", "CO2 & R&D"),
        ("&lt;i&gt;x&lt;/i&gt; p &lt; 0.05 &#39;&eacute;&#39;", "x p < 0.05 'é'"),
        ("p <0.05, a <b and c> d; the <title> tag", "p <0.05, a <b and c> d; the <title> tag"),
        ("http://a.b?x=1&section=2&copy=3 R&D;", "http://a.b?x=1&section=2&copy=3 R&D;"),
        ("<jats:p>A</jats:p>\n<jats:p>H<jats:sub>2</jats:sub>O</jats:p><br/>B", "A H2O B"),
        ('in <mml:math xmlns:mml="http://w3.org"><mml:mi>N</mml:mi></mml:math>-coupled', "in N-coupled"),
        ("<jats:tex-math>$$E=mc$$</jats:tex-math><mml:math><mml:mi>E</mml:mi></mml:math> was", "E was"),
        (r"<tex-math>\begin{x}$$E=mc$$\end{x}</tex-math> was<!-- <i> -->", "E=mc was"),
        ("형식을  <b>예시</b> 논문", "형식을 예시 논문"),
        ("<font color='blue'>태그</font>와 &lt;엔티티&gt;", "태그와 <엔티티>"),
        ("p < 0.05 and q <0.1 &lt; 3", "p < 0.05 and q <0.1 < 3"),
        ("a<b>c</b>", "ac"),
        ("a <b and c> d", "a <b and c> d"),
        ("H<sub>2</sub>O &amp; CO&lt;sub&gt;2&lt;/sub&gt;", "H2O & CO2"),
        ("one<br/>two<P align=center>three</P>", "one two three"),
        ("x <y> z", "x <y> z"),
    ],
)
def test_markup_is_removed_and_text_is_kept(given, text):
    assert without_markup(given) == text
