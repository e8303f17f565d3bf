"""Which rank of a distributed program this process is: from the environment, where the
launcher says so, or at the end from torch.distributed.

Nothing here imports torch, initialises anything of it or communicates.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

# Who says so, and under which names: rank, ranks in all (the first that is set), local
# rank. torchrun comes first, as it may itself be started by one of the others.
SOURCES: "tuple[tuple[str, str, tuple[str, ...], tuple[str, ...]], ...]" = (
    ("torchrun", "RANK", ("WORLD_SIZE",), ("LOCAL_RANK",)),
    (
        "Open MPI",
        "OMPI_COMM_WORLD_RANK",
        ("OMPI_COMM_WORLD_SIZE",),
        ("OMPI_COMM_WORLD_LOCAL_RANK",),
    ),
    (
        "MVAPICH",
        "MV2_COMM_WORLD_RANK",
        ("MV2_COMM_WORLD_SIZE",),
        ("MV2_COMM_WORLD_LOCAL_RANK",),
    ),
    ("PMI", "PMI_RANK", ("PMI_SIZE",), ("MPI_LOCALRANKID", "PMI_LOCAL_RANK")),
    # The script of a batch job is one task, whatever its job has.
    (
        "Slurm",
        "SLURM_PROCID",
        ("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"),
        ("SLURM_LOCALID",),
    ),
)

if TYPE_CHECKING:
    Ranks = int | str | Iterable[int]

MOST_RANKS = 1 << 24  # more is a mistake
MOST_DUMP_BYTES = 1 << 20  # of the flight recorder's dump
# What is kept of each of its entries.
DUMP_KEYS = (
    *("record_id", "pg_id", "process_group", "collective_seq_id", "p2p_seq_id"),
    *("op_id", "profiling_name", "time_created_ns", "time_discovered_started_ns"),
    *("time_discovered_completed_ns", "input_sizes", "input_dtypes", "output_sizes"),
    *("output_dtypes", "state", "timeout_ms", "is_p2p", "thread_id", "thread_name"),
)


class Rank:
    def __init__(self, rank: int, world_size: int, local_rank: int, source: str):
        self.rank = rank
        self.world_size = world_size  # 0: not known
        self.local_rank = local_rank  # -1: not known
        self.source = source

    def meta(self) -> "dict[str, str]":
        facts = {"rank": str(self.rank), "rank_source": self.source}
        if self.world_size:
            facts["world_size"] = str(self.world_size)
        if self.local_rank >= 0:
            facts["local_rank"] = str(self.local_rank)
        return facts


def _number(environment: "Mapping[str, str]", names: "Iterable[str]") -> int:
    """The first of these that is a number; -1: none."""
    for name in names:
        text = environment.get(name, "")
        if text.isascii() and text.isdigit() and int(text) < MOST_RANKS:
            return int(text)
    return -1


def from_environment(environment: "Mapping[str, str]") -> "Rank | None":
    for source, rank_name, sizes, locals_ in SOURCES:
        rank = _number(environment, (rank_name,))
        size = _number(environment, sizes)
        if rank >= 0 and size > rank:
            return Rank(rank, size, _number(environment, locals_), source)
    return None


def _distributed() -> "Any":
    """torch.distributed's own module, if the program has imported all of it."""
    module = sys.modules.get("torch.distributed.distributed_c10d")
    spec = getattr(module, "__spec__", None)
    return None if spec is None or getattr(spec, "_initializing", False) else module


def from_torch() -> "Rank | None":
    """What torch.distributed knows, where it is initialised."""
    try:
        module = _distributed()
        if module is None or not module.is_initialized():
            return None
        rank, size = module.get_rank(), module.get_world_size()
        if 0 <= rank < size < MOST_RANKS:
            return Rank(rank, size, -1, "torch.distributed")
    except Exception:
        pass
    return None


at_start: "Rank | None" = None  # what the recording says already


def here() -> "Rank | None":
    """This process's rank, as far as it is known now."""
    return from_environment(os.environ) or from_torch()


def describe() -> "dict[str, str]":
    """Facts for a recording that begins."""
    global at_start
    at_start = here()
    return at_start.meta() if at_start is not None else {}


def parse(text: str) -> "list[int]":
    """0,3 or 0-3 or both: which ranks. ValueError if it names none."""
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        low, high = (_number({"": word}, ("",)) for word in (first, last or first))
        if low < 0 or high < low or (dash and not last):
            raise ValueError(f"{text!r} names no ranks; write them as 0,3 or 0-3")
        found.update(range(low, high + 1))
    return sorted(found)


def parse_all(text: str) -> "list[int]":
    """The same of what a recording's options hold; empty: all ranks."""
    return parse(text) if text else []


def check(ranks: "Any") -> "list[int]":
    """`ranks` as Python code gives them: a number, some numbers, or a text as above."""
    if ranks is None:
        return []
    if isinstance(ranks, str):
        return parse(ranks)
    given = [ranks] if isinstance(ranks, int) else list(ranks)
    for rank in given:
        if not isinstance(rank, int) or isinstance(rank, bool):
            raise TypeError(f"a rank is a number, not {rank!r}")
        if not 0 <= rank < MOST_RANKS:
            raise ValueError(f"{rank} is no rank")
    if not given:
        raise ValueError("no ranks are given")
    return sorted(set(given))


def is_wanted(ranks: "list[int]", rank: "Rank | None") -> bool:
    """Whether this process is to be recorded; one without a rank counts as rank 0."""
    return not ranks or (rank.rank if rank is not None else 0) in ranks


def ranked(stem: str, rank: "Rank | None") -> str:
    """The name of a rank's recording, without .film: train.rank3."""
    if rank is None or rank.world_size < 2:
        return stem
    return f"{stem}.rank{rank.rank}"


def ranked_path(path: str, rank: "Rank | None") -> str:
    """The same of a file's name: out.film gives out.rank3.film."""
    stem = path.removesuffix(".film")
    return ranked(stem, rank) + path[len(stem) :]


def _dump() -> str:
    """The flight recorder's dump as JSON; empty where there is none."""
    native = sys.modules.get("torch._C._distributed_c10d")
    take = getattr(native, "_dump_fr_trace_json", None)
    if take is None or _distributed() is None:
        return ""
    import json

    dump = json.loads(take())
    entries = dump.get("entries") or []
    if not entries:
        return ""
    dump["entries"] = kept = [
        {key: entry[key] for key in DUMP_KEYS if key in entry} for entry in entries
    ]
    text = json.dumps(dump, separators=(",", ":"))
    while len(text) > MOST_DUMP_BYTES and kept:
        # The newest tell most.
        dump["entries_left_out"] = len(entries) - len(kept) // 2
        del kept[: len(kept) - len(kept) // 2]
        text = json.dumps(dump, separators=(",", ":"))
    return text if len(text) <= MOST_DUMP_BYTES else ""


def ending() -> "dict[str, str]":
    """What is known when a recording stops: the rank, where it was not known before or
    was another, and what the flight recorder holds. Never raises."""
    facts: dict[str, str] = {}
    try:
        if "torch.distributed.distributed_c10d" not in sys.modules:
            return facts
        from filmstrip import _recorder

        was_recording = _recorder.pause()  # --all would record torch's own answers
        try:
            # A process that spawned the others may have told it its rank only then.
            rank = from_torch() or from_environment(os.environ)
            if rank is not None and (at_start is None or at_start.rank != rank.rank):
                facts.update(rank.meta())
            dump = _dump()
            if dump:
                facts["flight_recorder"] = dump
        finally:
            if was_recording:
                _recorder.resume()
    except Exception:
        pass
    return facts
