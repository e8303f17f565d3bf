"""A framework of one's own: a method that knows the index of this process."""

import os

import filmstrip
from filmstrip.compat.objwatch.mp_handls import MPHandls


def check(self):
    self.initialized = True
    self.index = int(os.environ.get("MY_CLUSTER_NODE", "4"))


MPHandls._check_init_my_cluster = check


def step(number):
    doubled = number + number
    return doubled


if __name__ == "__main__":
    with filmstrip.watch(
        ["framework.py"], with_locals=True, framework="my_cluster", indexes=[4]
    ):
        step(21)
