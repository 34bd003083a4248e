"""Limits of concurrency and rate, all enforced by the gate.

gate          limits of each kind of work, from the settings and the caller's key
open_calls    open calls of one caller, streams included (SHRAG_SERVER__CONNECTIONS_OF_CALLER)
places        concurrent work of a process, and its queue
rates         calls per minute of one caller
daily_use     calls per day of one key
shared_table  table shared by the processes of a server
"""
