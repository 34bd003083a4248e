"""What can be in the way of a server."""


class ServerUnavailable(Exception):
    """This machine lacks what a server needs; the message names it."""


class BuildFailed(Exception):
    """What the server is made of could not be made as asked; the message holds the end of what was said."""


class ServerFailed(Exception):
    """The server ended or stayed silent; the message holds the end of its log."""
