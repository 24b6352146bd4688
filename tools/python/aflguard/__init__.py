"""AFLGuard Edge from Python: guards, the aggregator, recordings and the lab, on NumPy arrays without copies.

docs/python.md has examples.
"""

import importlib.util
import inspect
import os

# In a build folder, ONNX Runtime lies beside; installed, it is found where the packages put it.
_BESIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib", "aflguard", "libonnxruntime.so.1")
if os.path.exists(_BESIDE):
    os.environ.setdefault("AFLGUARD_ONNXRUNTIME", os.path.realpath(_BESIDE))

from ._aflguard import (Aggregator, Verdict, __version__, attack_names, guard_names, read_recording, run_lab,
                        run_program)

__all__ = ["Aggregator", "Verdict", "attack_names", "guard_names", "load", "main", "read_recording", "run",
           "__version__"]


def load(place):
    """What 'my_guard.py:MyGuard' names: the file is run, and the name looked up in it."""
    file, _, name = place.rpartition(":")
    if not os.path.isfile(file):
        raise SystemExit(f"aflguard: {file} is not there; write --guard or --attack as FILE.py:NAME")
    spec = importlib.util.spec_from_file_location(os.path.splitext(os.path.basename(file))[0], file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, name):
        raise SystemExit(f"aflguard: {file} defines no '{name}'")
    return getattr(module, name)


def _maker(thing):
    """A function that gives a fresh attack for every run: of a class an instance, of a function itself."""
    return thing if inspect.isclass(thing) else lambda: thing


def run(dataset="synthetic", guard="aflguard", attack="none", **settings):
    """One experiment of the lab, as `aflguard lab run --json`: a dictionary.

    guard: a name of guard_names(), or a class with judge(update). attack: 'none', a name of attack_names(), or
    a function or class that takes a view and returns an array. settings: seed, malicious, iterations, clients,
    learning_rate, ... as the options of `aflguard lab run`, with _ for -.
    """
    guards, attacks = {}, {}
    if not isinstance(guard, str):
        guards[guard.__name__.lower()] = guard
        guard = guard.__name__.lower()
    if not isinstance(attack, str):
        attacks[attack.__name__.lower()] = _maker(attack)
        attack = attack.__name__.lower()
    return run_lab(guards, attacks, dataset, guard, attack, settings)


def main(arguments):
    """`aflguard lab ...` with guards and attacks that are written in Python: FILE.py:NAME."""
    guards, attacks, rest, kind = {}, {}, [], None
    for argument in arguments:
        option, equals, value = argument.partition("=")
        if option in ("--guard", "--attack") and not equals:
            kind = option
            rest.append(argument)
            continue
        names = value if equals and option in ("--guard", "--attack") else argument
        which = option if equals and option in ("--guard", "--attack") else kind
        if which is not None and ".py:" in names:
            known = guards if which == "--guard" else attacks
            for place in [part for part in names.split(",") if ".py:" in part]:
                thing = load(place)
                known[place] = thing if which == "--guard" else _maker(thing)
        rest.append(argument)
        kind = None
    return run_program(guards, attacks, ["aflguard"] + rest)
