"""The file of readers' judgements, HOME/.judgements/readers.jsonl, to which all processes append."""

import time
from pathlib import Path

from base.errors import FileBusy, OutputNotWritten
from base.files.durable import cause_of
from base.journal import appending
from base.logs import get_logger
from generator.reader_judgements import ReaderJudgement
from indexer.versions.server_files import JUDGEMENTS
from server.errors import JudgementNotKept

FOLDER = JUDGEMENTS
FILE = "readers.jsonl"
PATIENCE_S = 5.0  # wait for other processes
TRIED_EVERY_S = 0.02

log = get_logger("server")


def judgements_file(home: Path) -> Path:
    """Return the file of a home folder."""
    return home / FOLDER / FILE


def keep_judgement(home: Path, judgement: ReaderJudgement, *, most_mb: int) -> None:
    """Append a judgement; called in a thread.

    Raises:
        JudgementNotKept: the file has reached `most_mb`, or cannot be written.
    """
    path = judgements_file(home)
    ends = time.monotonic() + PATIENCE_S
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size >= most_mb * 1_000_000:
            raise JudgementNotKept("the file of judgements is full; the operator can move it away")
        while not _appended(path, judgement):
            if time.monotonic() > ends:
                raise JudgementNotKept("too many judgements arrive at once; try again in a moment")
            time.sleep(TRIED_EVERY_S)
    except (OSError, OutputNotWritten) as error:
        log.warning(
            "judgement not kept", reason=cause_of(error) if isinstance(error, OSError) else error.what
        )
        raise JudgementNotKept("the judgement could not be kept; the reason is in the server's log") from None


def _appended(path: Path, judgement: ReaderJudgement) -> bool:
    try:
        with appending(path, ReaderJudgement) as append:
            append(judgement)
    except FileBusy:
        return False
    return True
