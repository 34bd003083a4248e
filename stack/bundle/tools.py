"""External programs for bundles: git, pip, and the tools that save container images."""

import subprocess
from collections.abc import Sequence

from stack.errors import BundleIncomplete

LAST_LINES = 5  # of a program's error output


def run_tool(command: Sequence[str], purpose: str) -> bytes:
    """Return the output of a program.

    Raises:
        BundleIncomplete: the program failed, with `purpose` and the end of its error output.
    """
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - commands of this package
    if done.returncode == 0:
        return done.stdout
    lines = [line.strip() for line in done.stderr.decode(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]  # of pip, which are more specific
    complaint = " ".join((errors or lines)[-LAST_LINES:]) or f"{command[0]} ended with {done.returncode}"
    raise BundleIncomplete(f"{purpose}: {complaint}; fix that, and the same command resumes")
