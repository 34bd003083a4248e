"""`shrag doctor` asked as a command, its findings by check and subject."""

import json
from pathlib import Path
from typing import Any

from tests.generator.sample_index import shrag

Findings = dict[tuple[str, str], dict[str, Any]]


def doctor(home: Path, *options: str, **environment: object) -> tuple[int, Findings]:
    """Run `shrag doctor --json`, and return its exit code and findings by check and subject."""
    done = shrag("doctor", "--json", *options, home=home, **environment)
    record = json.loads(done.stdout)
    assert record["well"] is (done.returncode == 0)
    found = {(finding["check"], finding["subject"]): finding for finding in record["findings"]}
    return done.returncode, found


def statuses(check: str, found: Findings) -> dict[str, str]:
    """Return the status of each subject of a check."""
    return {subject: finding["status"] for (name, subject), finding in found.items() if name == check}
