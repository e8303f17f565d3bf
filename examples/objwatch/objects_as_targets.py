"""Modules, classes and functions themselves as targets."""

import garden
from garden import Plant, water

import filmstrip

for target in (garden, Plant, water, Plant.grow):
    print(f"--- {target.__name__}", flush=True)
    with filmstrip.watch([target], level="force"):
        garden.year()
