"""The lines in a file, and the run as a tree for programs to read."""

import json

import filmstrip


def halve(number):
    rest = number % 2
    number //= 2
    return number, rest


def digits(number):
    found = []
    while number:
        number, rest = halve(number)
        found.append(rest)
    return found


if __name__ == "__main__":
    with filmstrip.watch(
        ["output.py"],
        with_locals=True,
        output="output.objwatch",
        output_json="output.json",
    ):
        digits(5)

    with open("output.json") as file:
        tree = json.load(file)["ObjWatch"]
    [call] = tree["events"]
    print(call["qualified_name"], "made", len(call["events"]), "events")
