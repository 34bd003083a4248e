"""The rules of axe, on a page as it stands."""

import json
from pathlib import Path
from typing import Literal

import axe_playwright_python
from playwright.sync_api import Page

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text("utf-8")
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SERIOUS = {"serious", "critical"}
NOT_BY_DEFAULT = {name: {"enabled": True} for name in ("label-content-name-mismatch", "target-size")}


def findings(page: Page) -> list[str]:
    """Return what axe finds that is serious in either colour scheme, with the elements."""
    if not page.evaluate("window.axe !== undefined"):
        page.evaluate(f"{AXE}; undefined")
    found = []
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        run = "rules => axe.run(document, { resultTypes: ['violations'], rules })"
        found += page.evaluate(run, NOT_BY_DEFAULT)["violations"]
    return [
        f"{each['id']}: {json.dumps([node['html'] for node in each['nodes']][:4], ensure_ascii=False)}"
        for each in found
        if each["impact"] in SERIOUS
    ]
