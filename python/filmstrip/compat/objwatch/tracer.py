"""Who watches: ObjWatch()'s `tracer`."""

from __future__ import annotations

import dataclasses
import logging
import os
from collections.abc import Callable
from typing import Any

from filmstrip import _watch
from filmstrip.compat.objwatch.config import ObjWatchConfig
from filmstrip.compat.objwatch.event_handls import EventHandls
from filmstrip.compat.objwatch.mp_handls import MPHandls
from filmstrip.compat.objwatch.records import LoggedRecords
from filmstrip.compat.objwatch.runtime_info import runtime_info
from filmstrip.compat.objwatch.scope import Scope
from filmstrip.compat.objwatch.targets import Targets
from filmstrip.compat.objwatch.tracing import Tracing
from filmstrip.compat.objwatch.wrappers import abc_wrapper


@dataclasses.dataclass
class Extras:
    """What ObjWatch 0.5 has no parameter for."""

    film: str | os.PathLike[str] | None = None
    form: str = ""  # of `log --objwatch`
    output_xml: str | None = None
    with_module_path: bool = False
    redaction: tuple[bool, list[str]] = (True, [])


defaults = Extras()  # install() sets the form


class Tracer:
    """Watches between start() and stop(). Takes a configuration, or, as in 0.3, its
    fields by name."""

    def __init__(
        self,
        config: ObjWatchConfig | None = None,
        *,
        extras: Extras | None = None,
        ranks: list[int] | None = None,
        output_xml: str | None = None,
        with_module_path: bool = False,
        **fields: Any,
    ) -> None:
        if config is None:
            if ranks is not None:
                fields.update(framework="torch.distributed", indexes=list(ranks))
            config = ObjWatchConfig(**fields)
        self.config = config
        self._extras = extras or dataclasses.replace(
            defaults, output_xml=output_xml, with_module_path=with_module_path
        )
        processed = Targets(config.targets, config.exclude_targets)
        self._targets = processed
        self.targets = processed.get_targets()
        self.exclude_targets = processed.get_exclude_targets()
        self.filename_targets = processed.get_filename_targets()
        self.exclude_filename_targets = processed.get_exclude_filename_targets()
        self._scope = Scope(processed, config.with_globals)
        self._kind = abc_wrapper.kind_of(config.wrapper)
        self.mp_handlers = MPHandls(config.framework)
        self.indexes = set(config.indexes if config.indexes is not None else [0])
        self.event_handlers = EventHandls(config)
        self._running: _watch.Live | None = None

    def load_wrapper(self, wrapper: Any) -> Any:
        """One of that class; None for none."""
        abc_wrapper.kind_of(wrapper)
        return wrapper() if wrapper else None

    def _plan(self) -> _watch.Plan:
        processes, extras = self.mp_handlers, self._extras
        return _watch.Plan(
            config=self.config,
            targets=self._targets,
            processes=processes,
            index=processes.get_index() if processes.is_initialized() else None,
            level=level_number(self.config.level),
            told=[*self._targets.warnings, processes.told],
            film=extras.film,
            xml=extras.output_xml,
            form=extras.form,
            with_module_path=extras.with_module_path,
            redaction=extras.redaction,
            wrapper=self._kind,
            records=LoggedRecords(),
        )

    def start(self) -> None:
        """Does nothing if it is watching already."""
        if self._running is None:
            self._running = _watch.start(self._plan())

    def stop(self) -> None:
        """The log is whole when it returns."""
        running, self._running = self._running, None
        if running is not None:
            running.stop()

    def trace_factory(self) -> Callable[..., Any]:
        """A trace function for sys.settrace, for one's own use."""
        running = self._running
        return (
            running if isinstance(running, Tracing) else Tracing(self._plan())
        ).trace

    def log_metainfo_with_format(self) -> None:
        """The header."""
        runtime_info.update()
        _watch.say(self._plan(), _watch.header(self._plan()))

    # What ObjWatch's own tests ask.

    def _should_trace_class(self, module: str, class_name: str) -> bool:
        return self._scope.traces_class(module, class_name)

    def _should_trace_method(self, module: str, class_name: str, name: str) -> bool:
        return self._scope.traces_method(module, class_name, name)

    def _should_trace_attribute(self, module: str, class_name: str, name: str) -> bool:
        return self._scope.traces_attribute(module, class_name, name)

    def _should_trace_function(self, module: str, name: str) -> bool:
        return self._scope.traces_function(module, name)

    def _should_trace_global(self, module: str, name: str) -> bool:
        return self._scope.traces_global(module, name)

    def _should_trace_frame(self, frame: Any) -> bool:
        return self._scope.traces_frame(frame)


def level_number(level: int | str) -> int:
    """As logging understands it; ValueError or TypeError as it raises them. "force" is
    ObjWatch's own."""
    if level == "force":
        return logging.DEBUG
    number = logging.Logger("", level).level
    return number or logging.getLogger().getEffectiveLevel()
