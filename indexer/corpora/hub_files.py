"""Files of a data set on the Hugging Face hub, downloaded to a local folder. Requires the extra `hub`.

`readers/hub.py` streams a corpus: an interrupted stream ends the corpus early. A download is complete or
fails, the next one resumes it, and the files stay in the client's cache (`HF_HOME`), from which they are read
without internet (`HF_HUB_OFFLINE=1`). `HF_ENDPOINT` names another hub, `HF_TOKEN` a token.
"""

from collections.abc import Sequence
from pathlib import Path

from base.errors import LibraryMissing, UnknownPath
from base.extras import extra_remedy


def downloaded(repository: str, patterns: Sequence[str], *, remedy: str) -> Path:
    """Download the files of a data set that match a pattern (`*` is any text); return their folder.

    The files of the folder may be links into the cache.

    Raises:
        LibraryMissing: the client of the hub is not installed.
        UnknownPath: the hub does not answer or refuses, and the files are not in the cache; or no file
            matches. `remedy` is the next step.
    """
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise LibraryMissing(
            f"downloading {repository} needs the library `huggingface_hub`",
            remedy=extra_remedy("hub"),
        ) from None
    try:
        folder = Path(snapshot_download(repository, repo_type="dataset", allow_patterns=list(patterns)))
    except Exception as error:  # the client's errors have no common base
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise UnknownPath(f"hub:{repository} cannot be downloaded: {reason}", remedy=remedy) from error
    if not any(path for pattern in patterns for path in folder.glob(pattern)):
        raise UnknownPath(f"hub:{repository} has no file {' or '.join(patterns)}", remedy=remedy)
    return folder
