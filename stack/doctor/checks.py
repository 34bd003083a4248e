"""The checks, in the order of the output."""

from dataclasses import replace

from stack.doctor.findings import Check, Examined, Finding, failed
from stack.doctor.indexes import BACKUP, REACHABLE, check_backup, check_engine, check_index
from stack.doctor.machine import check_disk, check_libraries, check_settings
from stack.doctor.models import check_cross_encoders, check_encoder, check_language_model
from stack.doctor.serving import check_serving

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
NEED_ENGINE = {"index": "list", "backup": BACKUP}  # checks that need the engine, and the subject of a finding
BUG = "shrag --debug doctor shows where other commands fail; this is a bug in SHRAG"


def examine(examined: Examined) -> list[Finding]:
    """Run all checks; an exception in one becomes a finding, and the others still run."""
    found: list[Finding] = []
    for name, check in CHECKS.items():
        if name in NEED_ENGINE and not engine_answers(found):
            why, remedy = "not checked, as the engine does not answer", "fix the engine first"
            found.append(Finding(NEED_ENGINE[name], "wrong", why, remedy=remedy, check=name))
            continue
        try:
            found.extend(replace(finding, check=name) for finding in check(examined))
        except Exception as error:  # noqa: BLE001 - the other checks run after any error
            found.append(replace(failed("the check itself", error, remedy=BUG), check=name))
    return found


def engine_answers(found: list[Finding]) -> bool:
    """Check whether the engine answers, according to the findings so far."""
    return all(
        finding.status != "wrong"
        for finding in found
        if (finding.check, finding.subject) == ("engine", REACHABLE)
    )
