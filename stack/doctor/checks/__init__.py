"""The checks, one file each, in the order of the output."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from stack.doctor.checks.backup import check_backup
from stack.doctor.checks.cross_encoders import check_cross_encoders
from stack.doctor.checks.disk import check_disk
from stack.doctor.checks.encoder import check_encoder
from stack.doctor.checks.engine import REACHABLE, check_engine
from stack.doctor.checks.index import check_index
from stack.doctor.checks.language_model import check_language_model
from stack.doctor.checks.libraries import check_libraries
from stack.doctor.checks.serving import check_serving
from stack.doctor.checks.settings import check_settings
from stack.doctor.findings import Check, Examined, Finding, failed, of_check

CHECKS: dict[str, Check] = {
    "libraries": check_libraries,
    "settings": check_settings,
    "disk": check_disk,
    "engine": check_engine,
    "index": check_index,
    "backup": check_backup,
    "encoder": check_encoder,
    "cross-encoders": check_cross_encoders,
    "language model": check_language_model,
    "server": check_serving,
}


def examine(examined: Examined) -> Iterator[Finding]:
    """Run all checks; an exception in one becomes a finding, and the others still run."""
    found: list[Finding] = []
    for name, check in CHECKS.items():
        now = replace(examined, engine_answers=answers(found))
        try:
            for finding in of_check(name, check(now)):
                found.append(finding)
                yield finding
        except Exception as error:  # noqa: BLE001 - the other checks run after any error
            mend = "shrag --debug doctor shows where other commands fail; this is a bug in SHRAG"
            yield replace(failed("the check itself", error), mend=mend, check=name)


def answers(found: Iterable[Finding]) -> bool:
    """Check whether the engine answers, according to the findings so far."""
    engine = (finding for finding in found if (finding.check, finding.subject) == ("engine", REACHABLE))
    return all(finding.status != "wrong" for finding in engine)
