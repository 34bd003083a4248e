"""Korean is composed in the field by the browser's own input method calls, syllable by syllable."""

import pytest
from playwright.sync_api import CDPSession, expect

from tests.server.page.walking import address, settled

PROCESSED = {"windowsVirtualKeyCode": 229, "nativeVirtualKeyCode": 229}


def press(method: CDPSession, key: str, code: str, text: str = "") -> None:
    """Press a key that the input method takes; then a text stands in the field that is not certain yet."""
    pressed = {"key": key, "code": code, **PROCESSED}
    method.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **pressed})
    if text:
        place = {"selectionStart": len(text), "selectionEnd": len(text)}
        method.send("Input.imeSetComposition", {"text": text, **place})
    method.send("Input.dispatchKeyEvent", {"type": "keyUp", **pressed})


@pytest.mark.parametrize(
    ("path", "field", "taken"),
    [
        ("/", "#question", "#hits > li"),
        (address("배터리 열폭주"), '[data-key="add"]', '[data-keyword="간호사"]'),
    ],
    ids=["question", "keyword"],
)
def test_enter_while_a_syllable_is_composed_sends_nothing_and_loses_nothing(reader, path, field, taken):
    page = reader.open(path)
    if path != "/":
        settled(page)
    sent: list[str] = []
    page.on(
        "request",
        lambda request: sent.append(request.post_data or "") if "/api/v1/search" in request.url else None,
    )
    text = page.locator(field)
    text.focus()
    method = page.context.new_cdp_session(page)
    for stages in (("ㄱ", "가", "간"), ("ㅎ", "호"), ("ㅅ", "사")):
        for stage in stages:
            press(method, "Process", "KeyA", stage)
        if stages[-1] == "사":
            press(method, "Enter", "Enter")
            expect(text).to_have_value("간호사")
            assert sent == []
        method.send("Input.insertText", {"text": stages[-1]})  # makes it certain
    expect(text).to_have_value("간호사")

    text.press("Enter")
    expect(page.locator(taken).first).to_be_visible()
    settled(page)
    assert len(sent) == 1
    assert "간호사" in sent[0]
