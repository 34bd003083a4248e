"""Where a paper of a source is found on the web: no link leads anywhere else than http or https."""

import pytest

from retriever.reference import web_address


@pytest.mark.parametrize(
    ("record", "address"),
    [
        ({"url": "https://journal.example.org/a?b=1#c"}, "https://journal.example.org/a?b=1#c"),
        ({"url": "https://example.org/논문/1"}, "https://example.org/%EB%85%BC%EB%AC%B8/1"),
        (
            {"url": "https://example.org/a b](javascript:x)<i>"},
            "https://example.org/a%20b%5D%28javascript:x%29%3Ci%3E",
        ),
        ({"url": "http://[::1", "doi": "10.1234/x"}, "https://doi.org/10.1234/x"),
        ({"url": "https://doi.org@evil.example/10.1234/x"}, ""),
        ({"url": " JavaScript:alert(1)"}, ""),
        ({"url": "java\nscript:alert(1)", "doi": "javascript:alert(1)"}, ""),
        ({"url": "data:text/html,x"}, ""),
        ({"url": "//example.org/x"}, ""),
        ({"url": ["https://example.org"], "doi": None}, ""),
        ({"url": f"https://example.org/{'x' * 3_000}"}, ""),
        ({"doi": "https://doi.org/10.1234/(a)<b>"}, "https://doi.org/10.1234/%28a%29%3Cb%3E"),
    ],
)
def test_only_web_addresses_are_linked_to(record, address):
    assert web_address(record) == address
