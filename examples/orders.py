"""A small shop: reads orders, packs them into boxes, ships them from two threads.

An example to record: functions that call each other, a generator, a recursion, an
exception that is handled, threads. `make demo` records it.
"""

from __future__ import annotations

import queue
import random
import threading
from collections.abc import Iterator

CAPACITY = 20


class OutOfStock(Exception):
    pass


class Order:
    def __init__(self, number: int, items: list[int]) -> None:
        self.number = number
        self.items = items  # the size of each


class Shelf:
    def __init__(self, stock: int) -> None:
        self.stock = stock

    def take(self, count: int) -> None:
        if count > self.stock:
            raise OutOfStock(f"{count} wanted, {self.stock} there")
        self.stock -= count


def read_orders(count: int, seed: int = 7) -> Iterator[Order]:
    """Yields the orders of the day."""
    chance = random.Random(seed)
    for number in range(count):
        yield Order(
            number, [chance.randint(1, 9) for _ in range(chance.randint(2, 12))]
        )


def best_fill(items: list[int], room: int) -> list[int]:
    """The items that fill the room best: tries with and without each one."""
    if not items or room <= 0:
        return []
    first, *rest = items
    without = best_fill(rest, room)
    if first > room:
        return without
    chosen = [first, *best_fill(rest, room - first)]
    return chosen if sum(chosen) > sum(without) else without


def pack(order: Order) -> list[list[int]]:
    boxes = []
    items = list(order.items)
    while items:
        box = best_fill(items, CAPACITY)
        for item in box:
            items.remove(item)
        boxes.append(box)
    return boxes


def ship(parcels: queue.Queue[list[list[int]] | None], shipped: list[int]) -> None:
    while (boxes := parcels.get()) is not None:
        shipped.append(weigh(boxes))


def weigh(boxes: list[list[int]]) -> int:
    return sum(map(sum, boxes))


def main() -> None:
    shelf = Shelf(stock=150)
    parcels: queue.Queue[list[list[int]] | None] = queue.Queue()
    shipped: list[int] = []
    trucks = [
        threading.Thread(target=ship, args=(parcels, shipped), name=f"truck-{number}")
        for number in (1, 2)
    ]
    for truck in trucks:
        truck.start()
    refused = 0
    for order in read_orders(30):
        try:
            shelf.take(len(order.items))
        except OutOfStock:
            refused += 1
            continue
        parcels.put(pack(order))
    for _ in trucks:
        parcels.put(None)
    for truck in trucks:
        truck.join()
    print(f"{len(shipped)} orders shipped, weight {sum(shipped)}, {refused} refused")


if __name__ == "__main__":
    main()
