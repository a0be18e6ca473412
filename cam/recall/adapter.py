"""The public name of the in-process adapter: ``cam.recall.adapter.create(name)``.

An adapter writes too, where a call brings a grant, so it is made in the room that may call every flow.
"""

from cam.hosts.adapter import Adapter, create

__all__ = ["Adapter", "create"]
