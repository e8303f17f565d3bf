"""Several processes: each line begins with the index of its process."""

import multiprocessing

import filmstrip


def square(number):
    result = number * number
    return result


def work(number):
    with filmstrip.watch(
        ["workers.py"], with_locals=True, framework="multiprocessing", indexes=[0, 2]
    ):
        square(number)


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    for number in (3, 4, 5):
        process = context.Process(target=work, args=(number,))
        process.start()
        process.join()
