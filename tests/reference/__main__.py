"""Write the reference pages: `make reference`."""

import os

for name in [name for name in os.environ if name.startswith("SHRAG_")]:
    del os.environ[name]
os.environ["SHRAG_CONFIG"] = ""  # pages depend on the code alone

from tests.reference.pages import FOLDER, PAGES  # noqa: E402 - settings are read when their modules load

for page, make in PAGES.items():
    (FOLDER / page).write_text(make(), encoding="utf-8")
