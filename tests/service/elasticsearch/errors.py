"""What can be in the way of a server."""


class ServerUnavailable(Exception):
    """This machine lacks what a server needs; the message names it."""


class BuildFailed(Exception):
    """What was fetched is not what was asked for, or the plugin does not compile."""


class ServerFailed(Exception):
    """The server ended or stayed silent; the message holds the end of its log."""
