"""Parts of a module by name."""

import garden

import filmstrip

for targets, excluded in [
    (["garden:Plant"], None),
    (["garden:Plant.grow()"], None),
    (["garden:Plant.height"], None),
    (["garden:water()"], None),
    (["garden::SEASON"], None),
    (["garden"], ["garden:Plant"]),
]:
    print(f"--- {targets} without {excluded}", flush=True)
    with filmstrip.watch(targets, excluded, with_globals=True, level="force"):
        garden.year()
