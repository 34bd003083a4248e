"""What can go wrong in the tools around the services.

StackError
├── BundleBusy          another process is making the same bundle
├── BundleIncomplete    something that was asked for could not be collected
├── BundleDamaged       a folder that is no bundle, or whose manifest cannot be read
└── BundleCallError     options that do not fit together, or name what is not there
"""


class StackError(Exception):
    """Base of all; the message says what happened, to what, and what to do next."""


class BundleBusy(StackError):
    """Another process is writing to this bundle."""


class BundleIncomplete(StackError):
    """Something that was asked for could not be collected; what is there is kept for the next run."""


class BundleDamaged(StackError):
    """The folder is no bundle, or its manifest cannot be read."""


class BundleCallError(StackError):
    """Options that do not fit together, or name what is not there."""
