"""A mapping whose keys are objects by identity, none of them kept alive."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, MutableMapping
from typing import Any


class WeakIdKeyDictionary(MutableMapping[Any, Any]):
    """An entry goes when its key does; keys are told apart by `is`, never by `==`."""

    def __init__(self, entries: Any = ()) -> None:
        self._entries: dict[int, tuple[weakref.ref[Any], Any]] = {}
        self.update(entries)

    def __setitem__(self, key: Any, value: Any) -> None:
        number, entries = id(key), self._entries
        entries[number] = (
            weakref.ref(key, lambda _: entries.pop(number, None)),
            value,
        )

    def __getitem__(self, key: Any) -> Any:
        alive, value = self._entries.get(id(key), (None, None))
        if alive is None or alive() is not key:
            raise KeyError(key)
        return value

    def __delitem__(self, key: Any) -> None:
        self[key]  # KeyError where it is another object's number
        del self._entries[id(key)]

    def __contains__(self, key: object) -> bool:
        alive, _ = self._entries.get(id(key), (None, None))
        return alive is not None and alive() is key

    def __iter__(self) -> Iterator[Any]:
        for alive, _ in list(self._entries.values()):
            key = alive()
            if key is not None:
                yield key

    def __len__(self) -> int:
        return len(self._entries)


WeakTensorKeyDictionary = WeakIdKeyDictionary  # its name in 0.3
