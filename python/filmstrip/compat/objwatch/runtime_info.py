"""When and where a log was made."""

from __future__ import annotations

import platform
import time

__version__ = "0.5.1"  # of the interface


class RuntimeInfo:
    """What the header and the JSON tree say of the run. There is one of it."""

    version = __version__
    _only: RuntimeInfo | None = None

    def __new__(cls) -> RuntimeInfo:
        if cls._only is None:
            cls._only = super().__new__(cls)
            cls._only.update()
        return cls._only

    def update(self) -> None:
        """The start is now."""
        self.start_time = time.strftime("%Y-%m-%d %H:%M:%S")

    @property
    def system_info(self) -> str:
        return platform.platform()

    @property
    def python_version(self) -> str:
        return platform.python_version()

    def get_info_dict(self) -> dict[str, str]:
        return {
            "version": self.version,
            "start_time": self.start_time,
            "system_info": self.system_info,
            "python_version": self.python_version,
        }


runtime_info = RuntimeInfo()
