"""Array types of vectors for type checkers; a search without vectors does not load numpy."""

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]  # a row per text
    Stored: TypeAlias = NDArray[np.float32] | NDArray[np.int8]  # a row per vector, as stored
else:
    Vectors = Stored = object
