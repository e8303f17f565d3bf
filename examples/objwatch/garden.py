"""What targets.py and objects_as_targets.py watch."""

SEASON = "spring"


class Plant:
    def __init__(self, name):
        self.name = name
        self.height = 0

    def grow(self, by):
        self.height += by
        return self.height

    def describe(self):
        text = f"{self.name}: {self.height}"
        return text


def water(plants):
    for plant in plants:
        plant.grow(2)
    return len(plants)


def turn():
    global SEASON
    SEASON = "summer"


def year():
    plants = [Plant("fern"), Plant("rose")]
    water(plants)
    turn()
    for plant in plants:
        plant.describe()
