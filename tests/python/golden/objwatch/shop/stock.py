LIMIT = 10
COUNT = 0


class Shelf:
    def __init__(self):
        self.goods = []
        self.label = "empty"

    def put(self, thing):
        global COUNT
        self.goods.append(thing)
        self.label = "used"
        COUNT += 1
        return len(self.goods)

    def look(self):
        found = list(self.goods)
        return found


class Till:
    def __init__(self):
        self.money = 0

    def pay(self, amount):
        self.money += amount
        return self.money


def count(shelf):
    number = len(shelf.goods)
    number += 0
    return number
