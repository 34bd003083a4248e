"""Names and titles of users in the report: they are text, not markup."""

import pytest

from eval.experiments.experiment import Figure as ExperimentFigure
from eval.experiments.experiment import Line, Outcome, Panel, Table
from eval.experiments.figures import drawn
from eval.experiments.report import markdown_of, page_of

NAME = "a|b\n<script>\x1b[31m&"
OUTCOME = Outcome((Table(NAME, ("x", NAME), ((NAME, 1.5),), judge=NAME),), notes=(NAME,))


def test_markdown_escapes_markup_lines_and_control_characters():
    text = markdown_of("Title", [], OUTCOME)
    assert "| x | a\\|b &lt;script>\\x1b[31m&amp; |" in text
    assert "- a|b &lt;script>\\x1b[31m&amp;" in text
    assert "\x1b" not in text
    assert "<script" not in text


def test_the_page_escapes_markup_and_control_characters():
    page = page_of("Title", [], OUTCOME, {}, {NAME: NAME})
    assert "<td>a|b &lt;script&gt;\\x1b[31m&amp;</td>" in page
    assert "\x1b" not in page
    assert "<script" not in page


@pytest.mark.needs_libraries
def test_a_label_is_not_a_formula():
    line = Line(r"model$\frac$", (1.0,))
    files = dict(drawn(ExperimentFigure("f", "", (Panel(NAME, "", "", (1.0,), (line,)),))))
    assert files.keys() == {"f.svg", "f.png"}
    assert b"<script" not in files["f.svg"]
