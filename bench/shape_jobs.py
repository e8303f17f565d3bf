"""The first program of bench/shapes.py: a queue of jobs."""

import heapq
import random
import sys
from dataclasses import dataclass, field


@dataclass
class Job:
    number: int
    cost: int
    tags: dict = field(default_factory=dict)
    done: bool = False


class Scheduler:
    def __init__(self, count):
        self.queue = []
        self.jobs = {}
        self.totals = {}
        self.chance = random.Random(3)
        for number in range(count):
            job = Job(number, self.chance.randrange(100), {"kind": number % 7})
            self.jobs[number] = job
            heapq.heappush(self.queue, (job.cost, number))

    def run(self, steps):
        for step in range(steps):
            cost, number = heapq.heappop(self.queue)
            job = self.jobs[number]
            kind = job.tags["kind"]
            self.totals[kind] = self.totals.get(kind, 0) + cost
            job.tags["seen"] = step
            job.tags[step % 5] = cost
            job.done = step % 3 == 0
            self.jobs[number] = job
            heapq.heappush(self.queue, (cost + self.chance.randrange(50), number))


def main(steps):
    scheduler = Scheduler(2000)
    scheduler.run(steps)
    return scheduler.totals


main(int(sys.argv[1]))
