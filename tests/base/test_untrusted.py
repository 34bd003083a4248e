"""Words of a server of somebody else's, as they are shown."""

from base.untrusted import SHOWN_CHARACTERS, one_line


def test_addresses_are_shown_without_what_logs_in_there():
    said = "no route to https://elastic:ch@nge%2Fme@10.0.0.5:9200/x, nor to http://key@b.org/?a=c@d"
    assert one_line(said) == "no route to https://***@10.0.0.5:9200/x, nor to http://***@b.org/?a=c@d"


def test_nothing_steers_a_terminal_and_there_is_an_end():
    shown = one_line("메탄\x1b[2J\u202e\r\n" + "x" * 10_000_000)
    assert shown.startswith("메탄 [2J xxx")
    assert len(shown) == SHOWN_CHARACTERS
