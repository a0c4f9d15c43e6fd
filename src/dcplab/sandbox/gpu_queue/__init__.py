"""Gives turns on a GPU that several people share.

``daemon`` is the process that keeps the queue, ``client.turn`` what a check waits in. They speak lines of JSON over a Unix
socket, and the kernel tells the daemon who is at the other end. So there is no lock that somebody else can open, a client that
dies gives its turn back, and one that is stopped loses it.
"""
