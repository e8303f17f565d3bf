"""Ranks of real programs: torchrun with gloo, DataLoader's workers. Only where torch is."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from conftest import Runner, clean_environment, run_program, run_python
from test_ranks import NO_RANK, films, info, report

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed"
)

TRAIN = """
    import os, sys, time
    import torch
    import torch.distributed as dist

    MODE = sys.argv[1]

    def load(rank, step):
        if MODE == "slow" and (rank, step) == (1, 3):
            time.sleep(0.3)
        if MODE == "hang" and (rank, step) == (2, 3):
            wait_for_data()
        return torch.ones(4)

    def wait_for_data():
        time.sleep(1000)

    def train(rank, pair):
        for step in range(6):
            batch = load(rank, step)
            dist.all_reduce(batch)
            if rank < 2:
                dist.all_reduce(batch, group=pair)
            dist.broadcast(batch, src=1)

    def main():
        dist.init_process_group("gloo")
        rank = dist.get_rank()
        pair = dist.new_group([0, 1])
        work = dist.all_reduce(torch.ones(1), async_op=True)
        work.wait()
        train(rank, pair)
        objects = [None] * dist.get_world_size()
        dist.all_gather_object(objects, rank)
        dist.barrier()
        dist.destroy_process_group()
        print(objects)

    main()
"""


def start_torchrun(
    folder: pathlib.Path, size: int, *words: str
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "torch.distributed.run", "--standalone"),
            *(f"--nproc-per-node={size}", "-m", "filmstrip", "run", *words),
        ],
        cwd=folder,
        env=clean_environment(**NO_RANK, OMP_NUM_THREADS="1"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def torchrun(folder: pathlib.Path, size: int, *words: str) -> str:
    """Gives a pattern for the recordings."""
    process = start_torchrun(folder, size, *words)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    # Of several processes: lines may meet.
    assert out.replace("\n", "") == str(list(range(size))) * size
    return os.fspath(folder / "train.rank*.film")


@pytest.fixture(scope="module", params=[2, 4])
def job(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[int, str]:
    """A job with a straggler: how many ranks, and a pattern for the recordings."""
    folder = tmp_path_factory.mktemp("ranks")
    Runner(folder).write(TRAIN, "train.py")
    return request.param, torchrun(folder, request.param, "train.py", "slow")


def test_the_merged_order_respects_every_collective(job):
    size, pattern = job
    # one async, six in steps; those of two ranks alone are another function's matter
    assert check_order_of_all(pattern, size) == 6
    log = run_program("log", pattern).stdout
    ranks = "0, 1" if size == 2 else "0 to 3"
    assert log.startswith(
        f"# ranks {ranks} of {size}\n# one host: all read one clock\n"
    )


def check_order_of_all(pattern: str, size: int) -> int:
    """The all_reduces of all ranks that wait, by the default group's numbers."""
    told = run_program("log", pattern, "--function", "*.all_reduce").stdout
    came = dict.fromkeys(range(size), 0)
    inside: dict[int, int | None] = {}
    met: set[int] = set()
    for line in told.splitlines():
        found = re.search(r"\[r(\d+):1\].* (run|end) torch\S*all_reduce(.*)", line)
        if found is None:
            continue
        rank = int(found[1])
        if found[2] == "run":
            inside[rank] = None
            if "async_op=False" in line and "group=None" in line:
                inside[rank] = came[rank]
                came[rank] += 1
        elif (number := inside[rank]) is not None:
            assert all(count > number for count in came.values()), line
            met.add(number)
    return len(met)


def test_the_straggler_is_named(job):
    size, pattern = job
    told = report(pattern)
    assert told["unfinished"] == [] and told["disagree"] == []
    assert [rank["rank"] for rank in told["ranks"]] == list(range(size))
    steps = told["steps"]
    # init, 1 async, 6 times 2, one of objects, one barrier
    assert [step["until"] for step in steps] == [
        "all_reduce",
        *["all_reduce", "broadcast"] * 6,
        "all_gather_object",
        "barrier",
    ]
    worst = max(steps, key=lambda step: max(step["took_ns"]) - step["others_ns"])
    assert (worst["number"], worst["slowest"]) == (7, 1)
    assert worst["took_ns"][1] >= 300_000_000
    assert worst["waited_ns"] >= (size - 1) * 250_000_000
    text = run_program("report", "--ranks", pattern).stdout
    assert "rank 1 " in text.partition("they waited\n")[2].splitlines()[0]


def test_torchs_flight_recorder_is_kept(job):
    size, pattern = job
    for rank in report(pattern)["ranks"]:
        flight = rank["flight_recorder"]
        assert flight["last"] == "gloo:barrier"
        assert flight["group"] == "default_pg"
        assert flight["entries"] >= 16
    film = pathlib.Path(pattern.replace("*", "0"))
    assert info(film)["world_size"] == str(size)


def test_groups_keep_their_collectives_apart(job):
    size, pattern = job
    told = report(pattern)["ranks"]
    # begin, group, async, 6 times 2, objects, barrier; 6 of the group
    # The caller has not waited in the asynchronous one.
    assert [rank["collectives"] - rank["waited_in"] for rank in told] == [1] * size
    assert [rank["collectives"] for rank in told] == [
        23 if n < 2 else 17 for n in range(size)
    ]


@pytest.fixture
def hung(runner: Runner) -> Iterator[subprocess.Popen[str]]:
    runner.write(TRAIN, "train.py")
    process = start_torchrun(runner.folder, 4, "train.py", "hang")
    children: list[int] = []
    try:
        yield process
        children = ranks_of(process)
    finally:
        for pid in children or ranks_of(process):
            os.kill(pid, signal.SIGKILL)
        process.kill()
        process.communicate()


def ranks_of(process: subprocess.Popen[str]) -> list[int]:
    path = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    try:
        return [int(pid) for pid in path.read_text().split()]
    except OSError:
        return []


def check_hang(told: dict[str, list[dict[str, object]]]) -> None:
    (unfinished,) = told["unfinished"]
    assert unfinished["function"] == "all_reduce"
    assert (unfinished["group"], unfinished["number"]) == ("", 7)
    assert (unfinished["waiting"], unfinished["missing"]) == ([0, 1, 3], [2])
    stacks = [[frame["function"] for frame in rank["stack"]] for rank in told["ranks"]]
    assert stacks[2] == [
        *("__main__.<module>", "__main__.main", "__main__.train"),
        *("__main__.load", "__main__.wait_for_data"),
    ]
    for rank in (0, 1, 3):
        assert stacks[rank][-1].endswith(".all_reduce")
        assert told["ranks"][rank]["within"]["number"] == 7


def test_a_job_that_hangs(runner, hung):
    pattern = os.fspath(runner.folder / "train.rank*.film")
    end = time.monotonic() + 60
    while True:
        shown = run_program("report", "--ranks", "--json", pattern)
        told = json.loads(shown.stdout) if shown.rc == 0 else {}
        if len(told.get("ranks", [])) == 4 and told["unfinished"]:
            if told["unfinished"][0]["waiting"] == [0, 1, 3]:
                if told["ranks"][2]["stack"][-1]["function"].endswith("for_data"):
                    break
        assert time.monotonic() < end, shown.stdout
        assert hung.poll() is None, hung.communicate()
        time.sleep(0.2)
    check_hang(told)
    text = run_program("report", "--ranks", pattern).stdout
    assert "did not come: rank 2\n" in text and "rank 2: still running" in text
    pids = ranks_of(hung)
    assert len(pids) == 4
    hung.send_signal(signal.SIGSTOP)  # it would end the others itself
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    while "live" in {rank["ending"] for rank in report(pattern)["ranks"]}:
        assert time.monotonic() < end
        time.sleep(0.05)
    told = report(pattern)
    check_hang(told)
    assert {rank["ending"] for rank in told["ranks"]} == {"died"}


def test_the_rank_is_asked_of_torch(runner):
    """Ranks that no launcher has named: multiprocessing.spawn."""
    runner.write(
        """
        import torch.distributed as dist
        import torch.multiprocessing as mp

        def work(rank, path):
            dist.init_process_group("gloo", init_method=f"file://{path}", rank=rank,
                                    world_size=2)
            dist.barrier()

        if __name__ == "__main__":
            import os
            mp.spawn(work, (os.path.abspath("meet"),), nprocs=2)
        """,
        "train.py",
    )
    done = run_python(
        ["-m", "filmstrip", "run", "train.py"], runner.folder, env=NO_RANK
    )
    assert done.rc == 0, done.stderr
    found = [info(path) for path in runner.folder.glob("train.*.film")]
    ranks = {
        one["rank"]: (one["world_size"], one["rank_source"])
        for one in found
        if "rank" in one
    }
    assert ranks == dict.fromkeys((0, 1), ("2", "torch.distributed"))


WORKERS = """
    import sys, torch
    from torch.utils.data import DataLoader, Dataset

    class Numbers(Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            return torch.tensor([index * 2])

    if __name__ == "__main__":
        loader = DataLoader(Numbers(), batch_size=2, num_workers=2,
                            multiprocessing_context=sys.argv[1])
        print(sum(int(batch.sum()) for batch in loader))
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_of_a_dataloader(runner, dump, method):
    runner.write(WORKERS, "train.py")
    environment = NO_RANK | {"RANK": "1", "WORLD_SIZE": "2"}
    done = run_python(
        ["-m", "filmstrip", "run", "train.py", method], runner.folder, env=environment
    )
    assert (done.rc, done.stdout) == (0, "56\n"), done.stderr
    names = films(runner)
    workers = [name for name in names if re.fullmatch(r"train.rank1.\d+.film", name)]
    assert "train.rank1.film" in names and len(workers) >= 2
    items = [
        sum(
            event["kind"] == "call" and event["function"].endswith("__getitem__")
            for event in dump(runner.folder / name)
        )
        for name in workers
    ]
    assert sorted(items)[-2:] == [4, 4] and sum(items) == 8
    for name in workers:
        assert info(runner.folder / name)["ending"] == "closed"
    log = run_program("log", runner.folder / "train*.film").stdout
    assert re.search(r"\[r1/\d+:1\].*Numbers.__getitem__", log)


def test_a_model_in_ddp(runner):
    """Its gradients are exchanged by torch's C++: the flight recorder has seen it."""
    runner.write(
        """
        import torch, torch.distributed as dist
        from torch.nn.parallel import DistributedDataParallel

        def main():
            dist.init_process_group("gloo")
            torch.manual_seed(0)
            model = DistributedDataParallel(torch.nn.Linear(4, 2))
            for step in range(3):
                model(torch.ones(3, 4)).sum().backward()
            sizes = [None] * dist.get_world_size()
            dist.all_gather_object(sizes, dist.get_rank())
            print(sizes)

        main()
        """,
        "train.py",
    )
    pattern = torchrun(runner.folder, 2, "train.py")
    for rank in report(pattern)["ranks"]:
        assert rank["flight_recorder"]["entries"] > rank["collectives"]
