"""ObjWatch's interface, done by filmstrip.

    import filmstrip.compat.objwatch as objwatch

    with objwatch.ObjWatch(["my_package"], with_locals=True):
        main()

Everything ObjWatch 0.5.1 has under these names is here, and the names of its older
releases. install() answers for `import objwatch` itself. What differs is told in
docs/objwatch.md.
"""

from filmstrip.compat.objwatch import (
    config,
    constants,
    event_handls,
    events,
    mp_handls,
    targets,
    tracer,
    utils,
    wrappers,
)
from filmstrip.compat.objwatch.alias import install
from filmstrip.compat.objwatch.config import ObjWatchConfig
from filmstrip.compat.objwatch.core import ObjWatch, watch
from filmstrip.compat.objwatch.events import EventType
from filmstrip.compat.objwatch.runtime_info import __version__

__all__ = [
    "EventType",
    "ObjWatch",
    "ObjWatchConfig",
    "__version__",
    "config",
    "constants",
    "event_handls",
    "events",
    "install",
    "mp_handls",
    "targets",
    "tracer",
    "utils",
    "watch",
    "wrappers",
]
