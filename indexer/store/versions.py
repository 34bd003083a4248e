"""What holds for the versions of an index wherever they live."""

from collections.abc import Callable

from indexer.analysis import UserDictionary
from indexer.errors import IndexDamaged, InvalidCall, Remedy, UnknownIndex
from indexer.manifest import Manifest


def require_version(name: str, version: int | None, where: str) -> int:
    """Return the version that answers; UnknownIndex where there is none."""
    if version is None:
        raise UnknownIndex(f"no index {name!r} {where}", remedy=Remedy.CREATE, index=name)
    return version


def version_before(name: str, current: int, versions: list[int]) -> int:
    """Return the version before the one that answers; InvalidCall where there is none."""
    earlier = [version for version in versions if version < current]
    if not earlier:
        raise InvalidCall(f"index {name!r} has no version before {current} to go back to", index=name)
    return earlier[-1]


def checked_dictionary(manifest: Manifest, read: Callable[[], UserDictionary]) -> UserDictionary | None:
    """Return the user's dictionary of a version, by what its manifest says of it.

    Raises:
        IndexDamaged: it cannot be read, or is another one.
    """
    if not manifest.dictionary:
        return None
    try:
        dictionary = read()
    except InvalidCall as error:
        raise _no_dictionary(manifest, str(error)) from error
    if dictionary.hash != manifest.dictionary:
        raise _no_dictionary(manifest, "it is not the one that the index was built with")
    return dictionary


def _no_dictionary(manifest: Manifest, reason: str) -> IndexDamaged:
    return IndexDamaged(
        f"the dictionary of index {manifest.name!r}, version {manifest.version} cannot be used ({reason})",
        remedy=Remedy.REBUILD_WITH_DICTIONARY,
        index=manifest.name,
    )
