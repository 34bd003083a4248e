"""Peak memory of the GPUs used by this process, such as by an encoder or a re-ranker."""

import sys


def peak_gpu_memory() -> int | None:
    """Return the largest number of bytes that torch allocated on one GPU; None if it uses none.

    Models of a server, such as the language model's, are in another process.
    """
    torch = sys.modules.get("torch")  # if it is not imported, no model of this process uses a GPU
    if torch is None or not torch.cuda.is_available():
        return None
    return max(int(torch.cuda.max_memory_allocated(device)) for device in range(torch.cuda.device_count()))
