"""Other programs that a bundle is made with: git, pip, and whatever saves images of containers."""

import subprocess
from collections.abc import Sequence

from stack.errors import BundleIncomplete

LAST_LINES = 5  # of what a program complains of


def run_tool(command: Sequence[str], purpose: str) -> bytes:
    """Return what a program prints.

    Raises:
        BundleIncomplete: it failed, with `purpose` and the end of its complaint.
    """
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - the callers' own commands
    if done.returncode == 0:
        return done.stdout
    lines = [line.strip() for line in done.stderr.decode(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]  # pip's, which says more
    complaint = " ".join((errors or lines)[-LAST_LINES:]) or f"{command[0]} ended with {done.returncode}"
    raise BundleIncomplete(f"{purpose}: {complaint}; mend that, and the same command goes on")
