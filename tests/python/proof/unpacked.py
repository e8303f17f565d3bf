"""Every byte of a recording, and every zstd frame in it unpacked: by the library itself,
found by its magic number wherever it stands, so that no reader of ours decides what is
looked at."""

from __future__ import annotations

import ctypes
import ctypes.util
import pathlib

MAGIC = b"\x28\xb5\x2f\xfd"
LIMIT = 64 << 20


def library():
    name = ctypes.util.find_library("zstd")
    if name is None:
        return None
    zstd = ctypes.CDLL(name)
    zstd.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
    zstd.ZSTD_getFrameContentSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    zstd.ZSTD_findFrameCompressedSize.restype = ctypes.c_size_t
    zstd.ZSTD_findFrameCompressedSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    zstd.ZSTD_decompress.argtypes = [
        *(ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t)
    ]
    zstd.ZSTD_isError.argtypes = [ctypes.c_size_t]
    return zstd


def pieces(path):
    """The raw file, then each frame unpacked. None if there is no libzstd."""
    zstd = library()
    if zstd is None:
        return None
    raw = pathlib.Path(path).read_bytes()
    found = [raw]
    at = raw.find(MAGIC)
    while at >= 0:
        rest = raw[at:]
        size = zstd.ZSTD_getFrameContentSize(rest, len(rest))
        packed = zstd.ZSTD_findFrameCompressedSize(rest, len(rest))
        if size < LIMIT and not zstd.ZSTD_isError(packed):
            buffer = ctypes.create_string_buffer(max(size, 1))
            done = zstd.ZSTD_decompress(buffer, size, rest, packed)
            if not zstd.ZSTD_isError(done):
                found.append(buffer.raw[:done])
        at = raw.find(MAGIC, at + 4)
    return found
