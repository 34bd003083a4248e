"""Errors of the tools around the services.

StackError
├── BundleIncomplete    a requested part could not be collected
├── BundleDamaged       not a bundle, or its manifest is unreadable
└── BundleCallError     contradictory options, or options that name missing things
"""

from base.errors import ShragError


class StackError(ShragError):
    """Base of all errors; the message names the cause, the input, and the next step."""


class BundleIncomplete(StackError):
    """A requested part could not be collected; the collected parts are kept for the next run."""


class BundleDamaged(StackError):
    """The folder is not a bundle, or its manifest is unreadable."""


class BundleCallError(StackError, exit_code=2):
    """Contradictory options, or options that name missing things."""
