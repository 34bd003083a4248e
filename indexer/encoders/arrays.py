"""What vectors are to a type checker; a search without vectors names them and does not load numpy."""

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]  # a row a text
    Stored: TypeAlias = NDArray[np.float32] | NDArray[np.int8]  # a row a vector, as it is kept
else:
    Vectors = Stored = object
