"""The numbers that vectors are kept in: rounded once, here, so that both engines are fed the same.

float32   the unit vector as it is
int8      the unit vector × 127, rounded half to even: a quarter of the room; a cosine moves by about .003
"""

import numpy as np
from numpy.typing import NDArray

from indexer.encoders.arrays import Stored
from indexer.settings import StorageType

HIGHEST = 127
EXACT = 1 << 24  # whole numbers up to here are all float32 numbers


def rounded(vectors: NDArray[np.float32], storage: StorageType) -> Stored:
    """Return unit vectors as they are kept: rows of shape (n, dimensions), float32 or int8."""
    if storage == "float32":
        return np.ascontiguousarray(vectors, np.float32)
    whole: NDArray[np.int8] = np.clip(np.rint(vectors * HIGHEST), -HIGHEST, HIGHEST).astype(np.int8)
    return whole


def cosines(rows: Stored, vector: Stored) -> NDArray[np.float32]:
    """Return the cosine of each row with one vector of the same storage: float32 of shape (n,).

    Of int8 the products are summed without rounding (they are whole numbers), whatever the order of the sums,
    and divided by the lengths, which rounding has moved away from 127. A row of zeros gets 0.
    """
    if rows.dtype != np.int8:
        return np.asarray(rows @ vector, np.float32)
    room = np.float32 if rows.shape[-1] * HIGHEST**2 <= EXACT else np.float64
    whole: NDArray[np.floating] = rows.astype(room)
    one: NDArray[np.floating] = vector.astype(room)
    lengths = np.sqrt((whole * whole).sum(axis=1, dtype=np.float64) * float(one @ one))
    sums = np.asarray(whole @ one, np.float64)
    cosine = np.divide(sums, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return np.asarray(cosine, np.float32)
