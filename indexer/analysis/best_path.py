"""The best path through MeCab's lattice as nori takes it where a user's words stand.

nori knows the longest of the user's words that begin at a place, and no other word there but an unknown one
that is tried beside known ones; a user's word that ends no later than one before it begins nowhere. MeCab
holds all words in the same lattice, so its best path may be none of nori's. Here it is searched again, with
nori's cost of a user's word, which MeCab's 16 bits cannot hold; of equals the earlier start is taken.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Optional

import _mecab

from indexer.analysis.dictionary import (
    MARKS,
    NORI_USER_COST,
    SPACE_PENALTY_IDS,
    USER_MARK,
    connection_costs,
)

SPACE_PENALTY = 3000
PENALISED = frozenset(SPACE_PENALTY_IDS)


class Step(NamedTuple):
    """The best way to a word: what it costs so far, the word (None at the start), where it begins."""

    cost: int
    right_id: int
    node: _mecab.Node | None
    start: int  # in bytes, with the white space before the word
    before: Optional["Step"]


def best_path(
    text: str, lattice: _mecab.Lattice, longest: Mapping[int, int], begin: int, stop: int
) -> list[tuple[_mecab.Node, int]]:
    """Return the words of the best path, each with the byte at which it begins; none if no path goes through.

    Looks from `begin` to `stop`, each an end of the text or beside a word that all paths go through.
    `longest` says where the user's words begin and the longest of each place ends, in characters. The lattice
    is that of the whole text.
    """
    costs, row = connection_costs()
    byte = last = len(text[:begin].encode())
    final = byte + len(text[begin:stop].rstrip(" ").encode())
    ways: dict[int, list[Step]] = {byte: [Step(0, 0, None, 0, None)]}
    reached = 0
    for place, character in enumerate(text[begin:stop], begin):
        steps = ways.get(byte)
        here = byte
        byte += len(character.encode())
        if not steps:
            continue
        word = place + 1 if character == " " else place
        end = longest.get(word)
        nodes = list(_nodes(lattice, here))[::-1]
        # MeCab tries unknown words of one and two syllables too, nori the whole run alone.
        run = max((node.length for node in nodes if node.stat == _mecab.MECAB_UNK_NODE), default=0)
        for node in nodes:
            word_cost = node.wcost
            if end is not None:
                if USER_MARK in node.feature:
                    if end <= reached or len(node.surface) != end - word:
                        continue
                    word_cost = NORI_USER_COST
                elif node.stat != _mecab.MECAB_UNK_NODE:
                    continue
            if node.stat == _mecab.MECAB_UNK_NODE and (
                node.length < run or _takes_space(node.surface, text[word : word + 2])
            ):
                continue
            if node.rlength != node.length and node.posid in PENALISED:
                word_cost += SPACE_PENALTY
            left = row * node.lc_attr
            best = min(steps, key=lambda step: step.cost + costs[step.right_id + left])
            cost = best.cost + costs[best.right_id + left] + word_cost
            after = here + node.rlength
            ways.setdefault(after, []).append(Step(cost, node.rc_attr, node, here, best))
            last = max(last, after)
        reached = max(reached, end or 0)
    if last < final:
        return []
    step: Step | None = min(ways[last], key=lambda step: step.cost + costs[step.right_id])
    path = []
    while step is not None and step.node is not None:
        path.append((step.node, step.start))
        step = step.before
    return path[::-1]


def _takes_space(surface: str, text: str) -> bool:
    """Tell whether nori's unknown word would hold the space behind: then it is the dictionary's mark."""
    return surface in MARKS and text[1:2] == " "


def _nodes(lattice: _mecab.Lattice, byte: int) -> Iterator[_mecab.Node]:
    node = lattice.begin_nodes(byte)
    while node is not None:
        yield node
        node = node.bnext
