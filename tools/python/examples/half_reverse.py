"""An attack in Python: half of what honest clients have in common, turned around, with their own noise.

    aflguard lab grid --guard aflguard,span-guard --attack tools/python/examples/half_reverse.py:attack --dataset synthetic
"""


def attack(view):
    mean, _ = view.honest_updates(10)
    return view.own_update() - 1.5 * mean
