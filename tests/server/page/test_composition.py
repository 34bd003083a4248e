"""Korean is composed in the field by the browser's own input method calls, syllable by syllable."""

import pytest
from playwright.sync_api import Page, Request, expect

from tests.server.page.walking import address, hits, settled

PROCESSED = {"key": "Process", "code": "KeyA", "windowsVirtualKeyCode": 229, "nativeVirtualKeyCode": 229}


class InputMethod:
    """A Korean input method: what it composes stands in the field before it is certain."""

    def __init__(self, page: Page) -> None:
        self.session = page.context.new_cdp_session(page)

    def compose(self, text: str) -> None:
        """Show a text that is not certain yet; a key of the input method came before."""
        self.session.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **PROCESSED})
        place = {"selectionStart": len(text), "selectionEnd": len(text)}
        self.session.send("Input.imeSetComposition", {"text": text, **place})
        self.session.send("Input.dispatchKeyEvent", {"type": "keyUp", **PROCESSED})

    def accept(self, text: str) -> None:
        """Make what is composed certain."""
        self.session.send("Input.insertText", {"text": text})

    def enter(self) -> None:
        """Press Enter while composing: the browser tells the page of a key of the input method."""
        enter = {**PROCESSED, "key": "Enter", "code": "Enter"}
        self.session.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **enter})
        self.session.send("Input.dispatchKeyEvent", {"type": "keyUp", **enter})

    def type(self, *syllables: tuple[str, ...]) -> None:
        """Type syllables by their stages, like (ㄱ, 가, 간)."""
        for stages in syllables:
            for stage in stages:
                self.compose(stage)
            self.accept(stages[-1])


def searches(page: Page) -> list[str]:
    """Return a list that grows by the body of each search."""
    found: list[str] = []

    def asked(request: Request) -> None:
        if "/api/v1/search" in request.url:
            found.append(request.post_data or "")

    page.on("request", asked)
    return found


NURSE = (("ㄱ", "가", "간"), ("ㅎ", "호"), ("ㅅ", "사"))


def test_enter_while_a_syllable_is_composed_sends_nothing_and_loses_nothing(reader):
    page = reader.open()
    sent = searches(page)
    field = page.locator("#question")
    field.focus()
    method = InputMethod(page)
    method.type(*NURSE[:2])
    method.compose("ㅅ")
    method.compose("사")
    expect(field).to_have_value("간호사")
    method.enter()
    expect(field).to_have_value("간호사")
    assert sent == []
    method.accept("사")
    expect(field).to_have_value("간호사")
    assert "q=" not in page.url

    field.press("Enter")
    expect(hits(page).first).to_be_visible()
    expect(field).to_have_value("간호사")
    settled(page)
    assert len(sent) == 1
    assert "간호사" in sent[0]


@pytest.mark.parametrize("language", ["ko", "en"])
def test_a_keyword_is_composed_and_added_once(reader, language):
    page = reader.open(address("배터리 열폭주"), language=language)
    settled(page)
    sent = searches(page)
    field = page.locator('[data-key="add"]')
    field.focus()
    method = InputMethod(page)
    method.type(*NURSE[:2])
    method.compose("사")
    method.enter()
    expect(field).to_have_value("간호사")
    assert sent == []
    method.accept("사")
    field.press("Enter")
    expect(page.locator('[data-keyword="간호사"]')).to_have_count(1)
    settled(page)
    assert len(sent) == 1
