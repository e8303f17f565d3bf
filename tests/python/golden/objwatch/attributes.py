"""Attributes of `self`: set, changed, grown; objects inside objects."""

import objwatch


class Wheel:
    def __init__(self, size):
        self.size = size
        self.turns = 0

    def turn(self, times):
        for _ in range(times):
            self.turns += 1
        self.last = times
        return self.turns


class Cart:
    def __init__(self):
        self.items = []
        self.owner = None
        self.prices = {}
        self.wheel = Wheel(4)
        self.ready = True

    def add(self, item, price):
        self.items.append(item)
        self.prices[item] = price
        self.wheel.turn(2)
        return self.total()

    def total(self):
        amount = sum(self.prices.values())
        self.amount = amount
        return amount

    def clear(self):
        self.items.clear()
        self.prices.pop("pear")
        self.owner = "nobody"
        self.owner = "someone"
        pass


def main():
    cart = Cart()
    cart.add("apple", 3)
    cart.add("pear", 4)
    cart.clear()


with objwatch.ObjWatch(["attributes.py"]):
    main()
with objwatch.ObjWatch(["attributes.py"], with_locals=True):
    main()
