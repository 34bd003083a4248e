"""The document of a feed is XML, whatever the texts of its papers are."""

from xml.etree import ElementTree as ET

from server.html.pages import rendered

HOSTILE = "a\x00\x0b\ufffe<b>&]]>\"'\ud800"


def test_a_feed_of_hostile_texts_is_well_formed():
    texts = dict.fromkeys(["urn", "found", "address", "web"], "x") | {"title": HOSTILE, "authors": [HOSTILE]}
    values = dict.fromkeys(["id", "page", "updated", "version", "public"], "x")
    paper = texts | {"summary": f"{HOSTILE}\n\n{HOSTILE}"}
    written = rendered("feed.xml", title=HOSTILE, index=HOSTILE, papers=[paper], **values)
    atom = "{http://www.w3.org/2005/Atom}"
    assert ET.fromstring(written.encode()).findtext(f"{atom}entry/{atom}title") == "a <b>&]]>\"'"
