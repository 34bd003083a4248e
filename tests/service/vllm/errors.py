"""What can be in the way of a server."""


class ServerUnavailable(Exception):
    """This machine lacks what a server needs; the message names it."""


class BuildFailed(Exception):
    """The environment of the server could not be made; the message holds the end of what its tool said."""


class ServerFailed(Exception):
    """The server ended or stayed silent; the message holds the end of its log."""
