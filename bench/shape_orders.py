"""The third program of bench/shapes.py: orders that wait, are matched and change."""

import heapq
import sys
from collections import deque
from dataclasses import dataclass, field


@dataclass
class Order:
    number: int
    price: int
    left: int
    fills: list = field(default_factory=list)
    state: str = "new"


class Book:
    def __init__(self):
        self.sides = {"buy": [], "sell": []}
        self.orders = {}
        self.recent = deque(maxlen=50)
        self.volume = {"buy": 0, "sell": 0}

    def add(self, side, order):
        self.orders[order.number] = order
        order.state = "open"
        key = -order.price if side == "buy" else order.price
        heapq.heappush(self.sides[side], (key, order.number))

    def match(self, side, amount):
        heap = self.sides[side]
        while amount and heap:
            number = heap[0][1]
            order = self.orders[number]
            taken = min(amount, order.left)
            order.left -= taken
            amount -= taken
            self.volume[side] += taken
            order.fills.append((number, taken))
            self.recent.append(number)
            if order.left == 0:
                heapq.heappop(heap)
                order.state = "done"
                del self.orders[number]


def main(steps):
    book = Book()
    state = 12345
    for step in range(steps):
        state = (state * 1103515245 + 12345) % 2**31
        side = "buy" if state & 64 else "sell"
        book.add(side, Order(step, 100 + state % 41, 1 + state % 9))
        if step > 3000:
            book.match("sell" if state & 128 else "buy", 1 + state % 11)
    return book.volume


main(int(sys.argv[1]))
