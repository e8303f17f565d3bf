"""What the tests of `filmstrip dap` record; lines are found by their comments."""

import asyncio
import threading

RATES = {"apple": 3, "pear": 5, ("plum", 2): 7}
SOLD = 0


class Stall:
    def __init__(self, owner):
        self.owner = owner
        self.stock = list(range(250))
        self.money = 0

    def sell(self, fruit, count):
        global SOLD
        price = RATES[fruit]  # price
        self.money = self.money + price * count  # money
        SOLD += count
        return self.money  # sold


def day(stall, orders):
    total = 0  # begin
    for number, order in enumerate(orders):  # loop
        got = stall.sell("apple", order)  # order
        total = total + got  # total
    return total  # end


def deep(level):
    if level == 0:
        return "bottom"  # bottom
    return deep(level - 1)


def risky(value):
    try:
        return 10 // value  # divide
    except ZeroDivisionError as error:
        reason = str(error)  # handler
    return reason


def helper(box):
    box.append("helped")  # helped


async def fetch(name):
    await asyncio.sleep(0)
    answer = name * 2  # answer
    return answer


async def gather():
    return await asyncio.gather(fetch("a"), fetch("b"))


stall = Stall("Ada")
result = day(stall, [1, 2, 3, 4])  # call
box = []
thread = threading.Thread(target=helper, args=(box,), name="helper-thread")
thread.start()
thread.join()
deep(40)
risky(0)
asyncio.run(gather())
raise RuntimeError("closing time")  # crash
