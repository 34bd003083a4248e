"""Resumption of a killed build: its stored plan, and the first record to write.

A build that starts empty commits its records in the order of the corpus. The same command resumes it after
the last commit. An update of a published version commits once at its end, and starts over.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from indexer.building.plan import BuildPlan
from indexer.building.records import Record
from indexer.versions.store import IndexStore
from indexer.versions.writers import Writer


def stored_plan(store: IndexStore, plan: BuildPlan) -> BuildPlan | None:
    """Return the stored plan if an unfinished build of it can resume; None for an update, which starts over.

    It can if the command, the files of the corpus and the fingerprint are the same, and the store still has
    all data of the last commit.
    """
    unfinished = store.local.read_plan()
    if plan.base or not unfinished or not {"superfluous", "contested"} <= unfinished.keys():
        return None
    superfluous, contested = unfinished.pop("superfluous"), unfinished.pop("contested")
    if unfinished != plan.as_record() or not store.can_resume():
        return None
    return replace(plan, superfluous=frozenset(superfluous), contested=frozenset(contested))


def begin(store: IndexStore, plan: BuildPlan) -> BuildPlan:
    """Start a new build from the base, or empty, and store its plan."""
    store.start_building(plan.base, plan.request.analyzer, plan.request.decompound, plan.dictionary)
    left_out = {"superfluous": sorted(plan.superfluous), "contested": sorted(plan.contested)}
    store.local.write_plan(plan.as_record() | left_out)
    return plan


class ResumePoint(NamedTuple):
    """Progress of an earlier run of the same build."""

    written: int = 0  # number of written records from the start of the corpus
    last_id: str | None = None  # id of the last one
    offset: int = 0  # added to record numbers: an update continues the numbers of its base


def resume_point(writer: Writer, plan: BuildPlan) -> ResumePoint:
    """Return the point of resumption; an update starts at the first record."""
    last, key = writer.last_written()
    return ResumePoint(offset=last + 1) if plan.base else ResumePoint(last + 1, key)


def skip_written(records: Iterator[Record], point: ResumePoint) -> bool:
    """Skip the records already written; False if the corpus has a different record at that place."""
    if point.written == 0:
        return True
    for record in records:
        if record.number == point.written - 1:
            return record.id == point.last_id
    return False
