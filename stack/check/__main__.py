"""The command `python -m stack.check`."""

import sys
from pathlib import Path

from stack.check import findings
from stack.check.reading import COMPOSE, read_stack


def main() -> None:
    """Tell what is wrong."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    wrong = findings(folder)
    for line in wrong:
        sys.stdout.write(line + "\n")
    if wrong:
        sys.exit(1)
    services = ", ".join(read_stack(folder).services)
    sys.stdout.write(f"{COMPOSE}: nothing wrong with the form of {services}; nothing was started\n")


if __name__ == "__main__":
    main()
