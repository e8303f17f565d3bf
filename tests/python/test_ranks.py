"""Ranks of distributed programs, without torch: which rank a process is, what its
recording is called, which ranks are recorded, several recordings as one command's input,
and collectives, of a stand-in for torch.distributed whose ranks meet in a folder."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Sequence

import pytest

from conftest import ROOT, Runner, clean_environment, run_program, run_python

# What a launcher that runs the tests might have left.
NO_RANK: dict[str, str | None] = dict.fromkeys(
    (
        *("RANK", "WORLD_SIZE", "LOCAL_RANK", "OMPI_COMM_WORLD_RANK"),
        *("OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", "PMI_RANK", "PMI_SIZE"),
        *("SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"),
    )
)
SAY = "print('ran')\n"


def torchrun(rank: int, size: int) -> dict[str, str | None]:
    return NO_RANK | {
        "RANK": str(rank),
        "WORLD_SIZE": str(size),
        "LOCAL_RANK": str(rank),
    }


def run(
    runner: Runner,
    *words: str,
    env: dict[str, str | None] = NO_RANK,
    rc: int = 0,
) -> str:
    result = run_python(["-m", "filmstrip", "run", *words], runner.folder, env=env)
    assert result.rc == rc, result.stderr
    return result.stdout if rc == 0 else result.stderr


def films(runner: Runner) -> list[str]:
    return sorted(path.name for path in runner.folder.glob("*.film"))


def info(path: pathlib.Path) -> dict[str, object]:
    result = run_program("info", "--json", path)
    assert result.rc == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        (
            {"RANK": "3", "WORLD_SIZE": "8", "LOCAL_RANK": "1"},
            (3, "8", "1", "torchrun"),
        ),
        (
            {
                "OMPI_COMM_WORLD_RANK": "1",
                "OMPI_COMM_WORLD_SIZE": "2",
                "OMPI_COMM_WORLD_LOCAL_RANK": "0",
            },
            (1, "2", "0", "Open MPI"),
        ),
        ({"PMI_RANK": "5", "PMI_SIZE": "6"}, (5, "6", None, "PMI")),
        (
            {"SLURM_PROCID": "2", "SLURM_NTASKS": "4", "SLURM_LOCALID": "2"},
            (2, "4", "2", "Slurm"),
        ),
        # srun starts one torchrun a host
        (
            {"SLURM_PROCID": "0", "SLURM_NTASKS": "2", "RANK": "9", "WORLD_SIZE": "16"},
            (9, "16", None, "torchrun"),
        ),
        # The script of a batch job is one task of its own.
        (
            {"SLURM_PROCID": "0", "SLURM_NTASKS": "4", "SLURM_STEP_NUM_TASKS": "1"},
            (0, "1", None, "Slurm"),
        ),
    ],
)
def test_the_rank_is_read_from_the_environment(runner, environment, told):
    runner.write(SAY)
    run(runner, "program.py", env=NO_RANK | environment)
    rank, size = told[:2]
    name = f"program.rank{rank}.film" if size != "1" else "program.film"
    assert films(runner) == [name]
    found = info(runner.folder / name)
    keys = ("rank", "world_size", "local_rank", "rank_source")
    assert tuple(found.get(key) for key in keys) == told


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"RANK": "1"},
        {"RANK": "2", "WORLD_SIZE": "2"},
        {"RANK": "-1", "WORLD_SIZE": "2"},
        {"RANK": "one", "WORLD_SIZE": "2"},
        {"RANK": "1" * 30, "WORLD_SIZE": "9" * 31},
    ],
)
def test_what_is_no_rank_is_none(runner, environment):
    runner.write(SAY)
    run(runner, "program.py", env=NO_RANK | environment)
    assert films(runner) == ["program.film"]
    assert "rank" not in info(runner.folder / "program.film")


def test_names(runner):
    runner.write(SAY)
    run(runner, "-o", "out.film", "program.py", env=torchrun(1, 2))
    assert films(runner) == ["out.rank1.film"]
    message = run(runner, "-o", "out.film", "program.py", env=torchrun(1, 2), rc=2)
    assert "out.rank1.film: exists; --force replaces it" in message
    run(runner, "-o", "out.film", "program.py", env=torchrun(0, 2))
    run(runner, "program.py", env=torchrun(1, 2))
    run(runner, "program.py", env=torchrun(1, 2))
    assert films(runner) == [
        "out.rank0.film",
        "out.rank1.film",
        "program.rank1-2.film",
        "program.rank1.film",
    ]


def test_only_some_ranks(runner):
    runner.write(
        "import os\nprint('ran', [name for name in os.environ if 'FILMSTRIP' in name])\n"
    )
    for rank in range(5):
        out = run(runner, "--ranks", "0,2-3", "program.py", env=torchrun(rank, 5))
        if rank not in (0, 2, 3):
            assert out == "ran []\n"
    names = [f"program.rank{rank}.film" for rank in (0, 2, 3)]
    assert films(runner) == names
    # Alone a process counts as rank 0.
    run(runner, "--ranks", "0", "program.py")
    run(runner, "--ranks", "1", "-o", "none.film", "program.py")
    assert films(runner) == ["program.film", *names]


@pytest.mark.parametrize("text", ["", "a", "1,,2", "3-1", "-1", "1-", "0x1", "1.5"])
def test_words_that_name_no_ranks(runner, text):
    runner.write(SAY)
    assert "names no ranks" in run(runner, f"--ranks={text}", "program.py", rc=2)


def test_record_takes_ranks(runner):
    program = """
        import filmstrip, sys
        with filmstrip.record("in.film", ranks=[0, 2], level="calls") as recording:
            print(recording.path is not None, filmstrip.recording() is not None)
        print(recording.statistics is not None)
        for wrong in ([], -1, "x", [True], 1.5):
            try:
                filmstrip.record(ranks=wrong)
            except (TypeError, ValueError) as error:
                print(type(error).__name__)
    """
    wrong = "ValueError\nValueError\nValueError\nTypeError\nTypeError\n"
    told = {}
    for rank in range(3):
        told[rank] = runner.plain(program, env=torchrun(rank, 3)).stdout
    assert told[0] == told[2] == "True True\nTrue\n" + wrong
    assert told[1] == "False False\nFalse\n" + wrong
    assert films(runner) == ["in.rank0.film", "in.rank2.film"]


WORKERS = """
    import multiprocessing, sys

    def work(n):
        return n * 2

    if __name__ == "__main__":
        context = multiprocessing.get_context(sys.argv[1])
        process = context.Process(target=work, args=(2,))
        process.start()
        process.join()
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_of_a_rank_are_recorded_beside_it(runner, method):
    runner.write(WORKERS)
    run(runner, "program.py", method, env=torchrun(1, 2))
    first, helper = sorted(films(runner), key=len)
    assert first == "program.rank1.film"
    assert helper.startswith("program.rank1.") and helper[14:-5].isdigit()
    log = run_program("log", runner.folder / "program*.film").stdout
    assert "# rank 1 of 2, 1 process of theirs\n# one host: all read one clock\n" in log
    assert f"[r1/{helper[14:-5]}:1]" in log and "[r1:1]" in log


def test_a_recorded_launcher(runner):
    runner.write(SAY, "train.py")
    runner.write(
        """
        import os, subprocess, sys
        for rank in range(3):
            subprocess.run([sys.executable, "train.py"], check=True,
                           env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "3"})
        """,
        "launch.py",
    )
    run(runner, "launch.py")
    ranks = [f"launch.rank{rank}.film" for rank in range(3)]
    assert films(runner) == ["launch.film", *ranks]
    for path in runner.folder.glob("*.film"):
        path.unlink()
    run(runner, "--ranks", "1", "launch.py")
    assert films(runner) == ["launch.rank1.film"]


def test_patterns_are_filled_in(runner):
    runner.write(SAY, "train.py")
    for rank in (0, 2, 10):
        run(runner, "train.py", env=torchrun(rank, 11))
    listed = run_program("info", "--json", runner.folder / "train*.film").stdout
    found = [json.loads(line) for line in listed.splitlines()]
    assert [one["rank"] for one in found] == [0, 2, 10]
    assert {one["clock"]["host"] for one in found} == {0}
    assert min(one["shift_ns"] for one in found) == 0
    text = run_program("info", runner.folder / "train*.film").stdout
    assert text.endswith(
        "\ntogether   ranks 0, 2, 10 of 11\ntogether   one host: all read one clock\n"
    )
    nothing = run_program("info", runner.folder / "none*.film")
    assert (nothing.rc, nothing.stdout) == (2, "")
    assert "none*.film" in nothing.stderr
    # A file of that very name is that file.
    odd = runner.folder / "train[0].film"
    os.rename(runner.folder / "train.rank0.film", odd)
    assert json.loads(run_program("info", "--json", odd).stdout)["rank"] == 0


def test_exports_name_ranks(runner):
    runner.write(SAY, "train.py")
    for rank in (0, 1):
        run(runner, "train.py", env=torchrun(rank, 2))
    pattern = runner.folder / "train*.film"
    chrome, trace = runner.folder / "t.json", runner.folder / "t.perfetto"
    assert run_program("export", pattern, "--to", "chrome", "-o", chrome).rc == 0
    assert run_program("export", pattern, "--to", "perfetto", "-o", trace).rc == 0
    names = [
        event["args"]["name"]
        for event in json.loads(chrome.read_text())["traceEvents"]
        if event.get("name") == "process_name"
    ]
    assert [name.split(":")[0] for name in names] == ["rank 0", "rank 1"]
    assert all(f"rank {rank}: ".encode() in trace.read_bytes() for rank in (0, 1))
    logged = run_program("log", "--format", "json", pattern).stdout.splitlines()
    assert {json.loads(line)["rank"] for line in logged} == {0, 1}


# Ranks meet in a folder: each writes a file and waits for those of the others.
STAND_IN = """
    import os, time

    class ProcessGroup:
        def __init__(self, ranks):
            self.ranks = ranks
            self.met = 0

    def _meet(group):
        group.met += 1
        for rank in [int(os.environ["RANK"]), *group.ranks]:
            name = f"met/{'-'.join(map(str, group.ranks))}.{group.met}.{rank}"
            if rank == int(os.environ["RANK"]):
                open(name, "w").close()
            while not os.path.exists(name):
                time.sleep(0.0005)

    def init_process_group(backend=None):
        global _world
        _world = ProcessGroup(list(range(int(os.environ["WORLD_SIZE"]))))
        _meet(_world)

    def new_group(ranks=None):
        return ProcessGroup(ranks)

    def barrier(group=None, async_op=False):
        _meet(group or _world)

    def all_reduce(tensor, op=None, group=None, async_op=False):
        _meet(group or _world)
"""
TRAIN = """
    import os, sys, time
    import torch.distributed.distributed_c10d as dist

    RANK = int(os.environ["RANK"])

    def load(step):
        if (RANK, step) == (1, 3):
            time.sleep(0.2)

    def train_step(step, pair):
        load(step)
        dist.all_reduce([1.0])
        if RANK < 2:
            dist.barrier(pair)

    def stuck():
        time.sleep(1000)

    def main():
        dist.init_process_group()
        pair = dist.new_group([0, 1])
        for step in range(6):
            if (RANK, step) == (2, 4) and "hang" in sys.argv:
                stuck()
            train_step(step, pair)
        if "differ" in sys.argv:
            dist.barrier() if RANK == 0 else dist.all_reduce([2.0])

    main()
"""


def start_job(
    runner: Runner, *words: str, options: Sequence[str] = (), size: int = 3
) -> list[subprocess.Popen[bytes]]:
    runner.write("", "torch/__init__.py")
    runner.write("", "torch/distributed/__init__.py")
    runner.write(STAND_IN, "torch/distributed/distributed_c10d.py")
    runner.write(TRAIN, "train.py")
    (runner.folder / "met").mkdir(exist_ok=True)
    command = [sys.executable, "-m", "filmstrip", "run", *options, "train.py", *words]
    return [
        subprocess.Popen(
            command,
            cwd=runner.folder,
            env=clean_environment(**torchrun(rank, size)),
            stdin=subprocess.DEVNULL,
        )
        for rank in range(size)
    ]


def run_job(
    runner: Runner, *words: str, options: Sequence[str] = ("--target", "train.py")
) -> str:
    """A pattern for the recordings of a job that ended well."""
    processes = start_job(runner, *words, options=options)
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    return os.fspath(runner.folder / "train.rank*.film")


def report(*words: str) -> dict[str, list[dict[str, object]]]:
    result = run_program("report", "--ranks", "--json", *words)
    assert result.rc == 0, result.stderr
    return json.loads(result.stdout)


def check_order(pattern: str, size: int) -> int:
    """In the merged log nobody leaves a collective of all before all have come."""
    came: dict[int, int] = {}
    met = 0
    log = run_program("log", pattern, "--function", "*.all_reduce").stdout
    for line in log.splitlines():
        words = line.split()
        if "run" in words[3:4]:
            rank = int(words[1][2:].split(":")[0])
            came[rank] = came.get(rank, 0) + 1
        elif "end" in words[3:4]:
            rank = int(words[1][2:].split(":")[0])
            assert len(came) == size and min(came.values()) >= came[rank], line
            met += 1
    return met


def test_collectives_are_recorded_whatever_the_targets_are(runner):
    pattern = run_job(runner)
    assert check_order(pattern, 3) == 18
    log = run_program("log", runner.folder / "train.rank0.film").stdout
    assert "run torch.distributed.distributed_c10d.new_group(ranks=[0, 1])" in log
    assert "_meet" not in log
    none = runner.folder / "none.film"
    run(runner, "-o", "none.film", "--exclude", "torch", "-c", "import torch")
    assert "all_reduce" not in run_program("log", none).stdout


def test_the_slowest_rank_of_each_step(runner):
    pattern = run_job(runner)
    told = report(pattern)
    assert told["unfinished"] == [] and told["disagree"] == []
    steps = {step["number"]: step for step in told["steps"]}
    assert sorted(steps) == list(range(6))
    assert {step["until"] for step in steps.values()} == {"all_reduce"}
    assert steps[3]["slowest"] == 1
    assert steps[3]["took_ns"][1] >= 200_000_000 > 2 * steps[3]["took_ns"][0]
    assert steps[3]["waited_ns"] >= 200_000_000
    assert [rank["collectives"] for rank in told["ranks"]] == [14, 14, 8]
    text = run_program("report", "--ranks", pattern).stdout
    first = text.partition("they waited\n")[2].splitlines()[0]
    assert first.split()[0] == "3" and "rank 1 " in first
    # Calls as steps: waiting for others does not count.
    calls = report(pattern, "--step", "train_step")["steps"]
    assert len(calls) == 6
    assert max(calls, key=lambda step: max(step["took_ns"]))["number"] == 3
    assert calls[3]["slowest"] == 1
    assert calls[3]["took_ns"][0] < 100_000_000 < calls[3]["took_ns"][1]


def test_level_calls_knows_no_groups(runner):
    pattern = run_job(runner, options=("--level", "calls"))
    told = report(pattern)
    assert told["steps"] == [] and told["unfinished"] == []
    assert (
        "no arguments were recorded (level calls)"
        in run_program("report", "--ranks", pattern).stdout
    )


def test_a_job_that_hangs(runner):
    processes = start_job(runner, "hang")
    pattern = os.fspath(runner.folder / "train.rank*.film")
    try:
        end = time.monotonic() + 60
        while True:  # while they run
            shown = run_program("report", "--ranks", "--json", pattern)
            told = json.loads(shown.stdout) if shown.rc == 0 else {}
            if len(told.get("ranks", [])) == 3 and told["unfinished"]:
                at_last = [rank["stack"] for rank in told["ranks"]]
                if told["unfinished"][0]["waiting"] == [0, 1] and at_last[2]:
                    if at_last[2][-1]["function"].endswith("stuck"):
                        break
            assert time.monotonic() < end, shown
            time.sleep(0.1)
        text = run_program("report", "--ranks", pattern).stdout
        assert "rank 2: still running" in text
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()
    for told in (told, report(pattern)):
        (unfinished,) = told["unfinished"]
        assert unfinished["function"] == "all_reduce"
        assert (unfinished["group"], unfinished["number"]) == ("", 4)
        assert (unfinished["waiting"], unfinished["missing"]) == ([0, 1], [2])
        stack = [frame["function"] for frame in told["ranks"][2]["stack"]]
        assert stack[-2:] == ["__main__.main", "__main__.stuck"]
        assert told["ranks"][0]["within"]["number"] == 4
        assert told["ranks"][0]["stack"][-1]["function"].endswith("._meet")
    assert {rank["ending"] for rank in told["ranks"]} == {"died"}
    text = run_program("report", "--ranks", pattern).stdout
    assert "not finished: all_reduce 4 of the default group\n" in text
    assert "did not come: rank 2\n" in text
    # Of fewer recordings than there are ranks the others are not blamed.
    alone = os.fspath(runner.folder / "train.rank0.film")
    text = run_program("report", "--ranks", alone).stdout
    assert "2 of 3 ranks have no recording here" in text and "did not come" not in text


def test_ranks_that_call_something_else(runner):
    pattern = run_job(runner, "differ")
    (differ,) = report(pattern)["disagree"]
    assert (differ["group"], differ["number"]) == ("", 6)
    assert differ["called"] == {"0": "barrier", "1": "all_reduce"}
    text = run_program("report", "--ranks", pattern).stdout
    assert "rank 0 called barrier, rank 1 all_reduce as 6 of the default group" in text


def test_recordings_of_no_ranks(runner):
    result = runner.record(SAY, env=NO_RANK)
    told = run_program("report", "--ranks", result.film)
    assert told.rc == 2 and "none of these recordings is of a rank" in told.stderr


def test_the_table_of_collectives_is_that_of_torch():
    """Every public function of torch 2.13 that moves something between ranks is known."""
    text = (ROOT / "src/format/collectives.c").read_text()
    names = [line.split('"')[1] for line in text.splitlines() if '    {"' in line]
    assert names == sorted(set(names))
    torch = pytest.importorskip("torch.distributed.distributed_c10d")
    exported = [
        name
        for name in torch.__all__
        if getattr(getattr(torch, name), "__wrapped__", None) is not None
    ]
    not_meetings = {"record_comm", "shrink_group"}
    assert set(exported) - not_meetings <= set(names)
    assert set(names) <= set(torch.__all__)
