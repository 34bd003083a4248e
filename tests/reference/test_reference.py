"""The reference pages say what the code says."""

import pytest

from tests.reference.pages import FOLDER, PAGES


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_as_the_code_has_it(page):
    written = (FOLDER / page).read_text("utf-8")
    assert written == PAGES[page](), f"docs/reference/{page} is out of date: make reference"


def test_every_page_lists_what_there_is():
    pages = {name: page() for name, page in PAGES.items()}
    assert "\n## shrag indexes rollback\n" in pages["cli.md"]
    assert "| `llm.model` | `SHRAG_LLM__MODEL` | text |" in pages["settings.md"]
