"""framework="multiprocessing": each worker's lines begin with its index."""

import multiprocessing
import sys

import objwatch


def square(number):
    result = number * number
    return result


def work(number):
    with objwatch.ObjWatch(
        ["workers.py"], with_locals=True, framework="multiprocessing", indexes=[0, 1]
    ):
        square(number)


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    for number in range(3):
        process = context.Process(target=work, args=(number,))
        process.start()
        process.join()
        sys.stderr.flush()
