"""ObjWatch's interface, done by filmstrip.

    import filmstrip.compat.objwatch as objwatch

    with objwatch.ObjWatch(["my_package"], with_locals=True):
        main()

Everything ObjWatch 0.5.1 has under these names is here, and the names of its older
releases. What differs is told in docs/objwatch.md.
"""

from filmstrip.compat.objwatch import config, events, mp_handls, wrappers
from filmstrip.compat.objwatch.config import ObjWatchConfig
from filmstrip.compat.objwatch.core import ObjWatch, watch
from filmstrip.compat.objwatch.events import EventType

__version__ = "0.5.1"  # of the interface

__all__ = [
    "EventType",
    "ObjWatch",
    "ObjWatchConfig",
    "__version__",
    "config",
    "events",
    "mp_handls",
    "watch",
    "wrappers",
]
