#!/usr/bin/env python3
"""Gradients of the arm64 build beside those of this machine's, for every model of the zoo.

usage: arm64_gradients.py AFLGUARD EMULATED_AFLGUARD [LIMIT]

The same package, parameters and samples go through both programs; the difference, relative to the gradient's length,
must stay within LIMIT (1e-5), and so must that of every parameter by itself (those that hardly count are held against a
hundredth of the whole gradient's length). Exit 0: it does for all; 1: not for some.
"""
import array
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

MODELS = {
    "linear-regression": ["--features", "20"],
    "logistic-regression": ["--features", "64", "--classes", "10"],
    "cnn": [],
    "resnet20": [],
    "resnet20-gn": [],
}
BATCH = 8


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=1200)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def write_npy(path, shape, values, kind):
    """kind: 'f' is float32, 'q' int64."""
    text = "{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }" % (
        {"f": "<f4", "q": "<i8"}[kind], ", ".join(map(str, shape)))
    text += " " * (-(len(text) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + array.array(kind, values).tobytes())


def read_floats(path):
    data = path.read_bytes()
    floats = array.array("f")
    floats.frombytes(data[10 + int.from_bytes(data[8:10], "little"):])
    return floats


def length(values):
    return math.sqrt(sum(value * value for value in values))


def differences(ours, theirs, parameters):
    """Of the whole gradient, and the worst of one parameter."""
    apart = array.array("d", (a - b for a, b in zip(ours, theirs)))
    whole = length(ours)
    worst = 0.0
    for parameter in parameters:
        part = slice(parameter["offset"], parameter["offset"] + math.prod(parameter["shape"]))
        share = length(apart[part]) / max(length(ours[part]), whole / 100)
        worst = max(worst, share) if share == share else share
    return length(apart) / whole, worst


def compare(name, options, programs, folder):
    package = folder / "package"
    run(programs[0], "model", "build", "--zoo", name, *options, "-o", package)
    info = json.loads(run(programs[0], "model", "info", package, "--json"))
    theta, x, y = folder / "theta.npy", folder / "x.npy", folder / "y.npy"
    run(programs[0], "model", "init", package, "--seed", "7", "-o", theta)
    source = random.Random(name)
    shape = [BATCH] + [size for size in info["input_shape"]]
    write_npy(x, shape, [source.random() for _ in range(math.prod(shape))], "f")
    if info["loss"] == "mse":
        write_npy(y, [BATCH], [source.gauss(0, 1) for _ in range(BATCH)], "f")
    else:
        write_npy(y, [BATCH], [source.randrange(info["classes"]) for _ in range(BATCH)], "q")
    gradients = []
    for number, program in enumerate(programs):
        out = folder / f"gradient-{number}.npy"
        run(program, "model", "gradient", package, "--theta", theta, "--x", x, "--y", y, "-o", out)
        gradients.append(read_floats(out))
    if len(gradients[0]) != info["dimension"] or len(gradients[1]) != info["dimension"]:
        sys.exit(f"{name}: a gradient has not the model's {info['dimension']} values")
    return differences(*gradients, info["parameters"])


def main(arguments):
    if len(arguments) not in (2, 3):
        sys.exit(__doc__)
    limit = float(arguments[2]) if len(arguments) == 3 else 1e-5
    worse = 0
    for name, options in MODELS.items():
        with tempfile.TemporaryDirectory() as folder:
            whole, worst = compare(name, options, arguments[:2], pathlib.Path(folder))
        fine = whole <= limit and worst <= limit  # not a number is not fine
        worse += not fine
        print(f"{'ok  ' if fine else 'FAIL'}  {name:20} {whole:.1e} apart, one parameter at most {worst:.1e}, {limit:.0e} allowed",
              flush=True)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
