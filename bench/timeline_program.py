"""The program whose recording bench/timeline.py asks questions about: objects, calls,
loops, a dict, a list, a generator, and three things that happen once: the line that
`prepare` runs at the very start, `halfway` written in the middle, and the end."""

import sys


class Particle:
    def __init__(self, place, speed):
        self.place = place
        self.speed = speed
        self.turns = 0

    def move(self, step):
        place = self.place + self.speed * step
        if place > 1000:
            place = place - 1000
            self.turns += 1
        self.place = place
        return place


def prepare(count):
    particles = []
    for number in range(count):
        particles.append(Particle(number * 7 % 1000, number % 13 + 1))
    return particles


def parts(limit):
    current = 1
    while current < limit:
        current = current * 3 + 1
        yield current


def collect(places, seen):
    total = 0
    for place in places:
        total += place
        key = place % 16
        if key not in seen:
            seen[key] = total
    return total


def turn(particles, number):
    places = []
    for particle in particles:
        places.append(particle.move(number % 3 + 1))
    seen = {}
    total = collect(places, seen)
    for part in parts(100):
        total -= part
    return total


def main(turns):
    particles = prepare(8)
    halfway = -1
    result = 0
    for number in range(turns):
        result += turn(particles, number)
        if number == turns // 2:
            halfway = number
    return result, halfway


if __name__ == "__main__":
    main(int(sys.argv[1]))
