"""The jobs of a home folder, shared by all processes of the server, also after a restart.

| below HOME/.jobs/ID/ | content |
|---|---|
| job.json | the call, who started it, and when |
| lock | locked while the job's processes run |
| log | output of the command |
| stop | present if the job is to be stopped |
| result.json | end and exit code |
"""

import fcntl
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from base.errors import InvalidCall, Remedy
from base.files.durable import cause_of, write_durably
from indexer.errors import UnknownIndex
from indexer.settings import IndexerSettings
from indexer.versions.store.build_folder import NAME
from indexer.versions.store.engines import index_names
from server.errors import Forbidden, JobRunning, JobUnusable, UnknownJob
from server.jobs.job import JobCall, JobRecord, Result, checked_paths, command_of, record_of
from server.jobs.process import RESULT, STOP

FOLDER = ".jobs"  # a name that no index can have
JOB, LOCK, LOG = "job.json", "lock", "log"
ID = re.compile(r"[0-9]{14}-[0-9a-f]{8}")
MOST_RUNNING = 2
MOST_KEPT = 100  # ended jobs
MOST_BYTES = 200_000  # of a file of a job
LOG_BYTES, LOG_LINES = 64_000, 200  # shown of a log, from its end
PACKAGES = Path(__file__).parents[2]


class JobStore:
    """Start, list and stop jobs; methods are called in threads."""

    def __init__(self, settings: IndexerSettings, folders: list[str]) -> None:
        """`folders`: the folders whose files may be indexed."""
        self._settings, self.folders = settings, folders
        self._path = settings.home / FOLDER

    def start(self, call: JobCall, by: str) -> JobRecord:
        """Start a job.

        Raises:
            InvalidCall: an invalid index name, or a path outside of the folders.
            Forbidden: no folder is listed from which an index may be built.
            UnknownIndex: an index to verify does not exist.
            JobRunning: a job of this index is running, or too many jobs are.
            JobUnusable: the job cannot be written or started.
        """
        call = self._checked(call)
        try:
            with self._locked():
                jobs = self.jobs()
                running = [job for job in jobs if job["state"] == "running"]
                if any((job["index"] or "") == call.index for job in running):
                    raise JobRunning(f"a job of {call.index or 'all indexes'} is running; wait for its end")
                if len(running) >= MOST_RUNNING:
                    raise JobRunning(f"{len(running)} jobs are running; wait for the end of one")
                self._forget(jobs)
                return self._start(call, by)
        except OSError as error:
            raise JobUnusable(f"the job was not started: {cause_of(error)}") from error

    def jobs(self) -> list[JobRecord]:
        """Return all jobs, newest first."""
        ids = sorted((path.name for path in self._path.glob("*") if ID.fullmatch(path.name)), reverse=True)
        found = []
        for job_id in ids:
            with suppress(UnknownJob):
                found.append(self.find(job_id))
        return found

    def find(self, job_id: str) -> JobRecord:
        """Return a job; UnknownJob if there is none."""
        folder = self._folder_of(job_id)
        stored = _record(folder / JOB)
        is_running = _is_locked(folder / LOCK)  # before the result, which is written while the lock is held
        found = _record(folder / RESULT)
        try:
            result = None
            if found:
                result = Result(str(found["ended"]), int(found["exit_code"]), bool(found["stopped"]))
            return record_of(job_id, stored, result, is_running=is_running)
        except (KeyError, TypeError, ValueError):
            raise UnknownJob("no job has that id") from None

    def log(self, job_id: str) -> list[str]:
        """Return the last lines of a job's output."""
        try:
            with (self._folder_of(job_id) / LOG).open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - LOG_BYTES))
                lines = file.read(LOG_BYTES).decode("utf-8", "replace").splitlines()
        except OSError:
            return []
        return lines[-LOG_LINES:]

    def stop(self, job_id: str) -> JobRecord:
        """Interrupt a job; its process ends within seconds."""
        found = self.find(job_id)
        if found["state"] == "running":
            try:
                (self._folder_of(job_id) / STOP).touch()
            except OSError as error:
                raise JobUnusable(f"the job cannot be stopped: {cause_of(error)}") from error
        return found

    def _checked(self, call: JobCall) -> JobCall:
        """Return the call with resolved paths; raises as `start`."""
        if (call.kind == "build") != bool(call.paths):
            raise InvalidCall("a build needs paths, and other jobs have none")
        if (call.kind == "backup") == bool(call.index):
            raise InvalidCall("a build or verification needs an index, a backup has none")
        if call.rebuild and call.kind != "build":
            raise InvalidCall("only a build can rebuild")
        if call.index and not NAME.fullmatch(call.index):
            raise InvalidCall(f"{call.index!r} cannot name an index")
        if call.kind == "verify" and call.index not in index_names(self._settings):
            raise UnknownIndex(f"no index {call.index!r}", remedy=Remedy.CREATE, index=call.index)
        if call.kind != "build":
            return call
        if not self.folders:
            raise Forbidden("no folder may be indexed here; SHRAG_SERVER__CORPORA lists folders")
        return call.model_copy(update={"paths": checked_paths(call.paths, self.folders)})

    def _start(self, call: JobCall, by: str) -> JobRecord:
        now = datetime.now(UTC)
        job_id = f"{now:%Y%m%d%H%M%S}-{secrets.token_hex(4)}"
        folder = self._path / job_id
        folder.mkdir(mode=0o700)
        try:
            self._run(call, by, folder, now)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return self.find(job_id)

    def _run(self, call: JobCall, by: str, folder: Path, now: datetime) -> None:
        stored = {**call.model_dump(mode="json"), "by": by, "started": now.isoformat(timespec="seconds")}
        path = os.pathsep.join(filter(None, (str(PACKAGES), os.environ.get("PYTHONPATH"))))
        environment = {**os.environ, "SHRAG_HOME": str(self._settings.home), "PYTHONPATH": path}
        with (folder / LOCK).open("wb") as lock, (folder / LOG).open("wb") as log:
            fcntl.flock(lock, fcntl.LOCK_EX)  # the process inherits it
            write_durably(folder / JOB, json.dumps(stored, ensure_ascii=False))
            words = [str(folder.absolute()), str(lock.fileno()), *command_of(call)]
            process = subprocess.Popen(  # noqa: S603 - own module
                [sys.executable, "-P", "-m", "server.jobs.process", *words],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[lock.fileno()],
                start_new_session=True,
            )
        threading.Thread(target=process.wait, daemon=True).start()  # leaves no zombie

    def _forget(self, jobs: list[JobRecord]) -> None:
        """Remove the oldest ended jobs beyond the limit."""
        ended = [job["id"] for job in jobs if job["state"] != "running"]
        for job_id in ended[MOST_KEPT - 1 :]:
            shutil.rmtree(self._path / job_id, ignore_errors=True)

    def _folder_of(self, job_id: str) -> Path:
        folder = self._path / job_id
        if not ID.fullmatch(job_id) or not folder.is_dir():
            raise UnknownJob("no job has that id")
        return folder

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock the starting of jobs against other processes of the server."""
        self._path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self._path / LOCK).open("wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _is_locked(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _record(path: Path) -> dict[str, Any]:
    """Return the record in a file; {} if it is missing or damaged."""
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(MOST_BYTES))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
