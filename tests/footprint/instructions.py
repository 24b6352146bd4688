#!/usr/bin/env python3
"""How many instructions a training step of the paper's CNN takes: a figure that no other program on the machine changes.

usage: instructions.py PROGRAMS [ARM64_PROGRAMS]

PROGRAMS is the build's bin folder; its steps are counted by callgrind, with the AVX2 kernels (valgrind does not know AVX-512).
ARM64_PROGRAMS is the cross build's; its steps are counted by QEMU with a plugin (count_instructions.c).
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BATCH = 32


def run(*command, **variables):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=1800,
                          env={**os.environ, **variables})
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}: {done.stderr.strip()}")
    return done


def by_callgrind(*command, **variables):
    with tempfile.NamedTemporaryFile() as out:
        told = run("valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}", *command, **variables).stderr
    return int(re.search(r"Collected : (\d+)", told)[1])


class Emulator:
    """QEMU's user mode with the plugin, which is compiled for it."""

    def __init__(self, folder):
        self.folder = folder
        release = int(re.search(r"version (\d+)", run("qemu-aarch64", "-version").stdout)[1])
        source = pathlib.Path(__file__).parent / "count_instructions.c"
        run("cc", "-O2", "-shared", "-fPIC", f"-DQEMU_PLUGIN_API={1 if release < 9 else 2}", "-o", folder / "count.so", source)

    def count(self, *command):
        out = self.folder / "instructions"
        out.unlink(missing_ok=True)
        run("qemu-aarch64", "-cpu", "cortex-a72", "-plugin", f"{self.folder / 'count.so'},out={out}", *command)
        return int(out.read_text())


def of_a_step(count, few, more):
    """What each step after the first ones costs; count(steps) is of a program that makes so many."""
    return (count(more) - count(few)) // (more - few)


def step_figures(programs, arm64_programs, folder):
    package = folder / "cnn"
    run(programs / "aflguard", "model", "build", "--zoo", "cnn", "-o", package)
    figures = {
        "train_step_instructions": of_a_step(
            lambda steps: by_callgrind(programs / "aflguard-train-probe", package, BATCH, steps, AFLGUARD_KERNELS="avx2"), 2, 4)
    }
    if arm64_programs is not None:
        emulator = Emulator(folder)
        figures["arm64_train_step_instructions"] = of_a_step(
            lambda steps: emulator.count(arm64_programs / "aflguard-train-probe", package, BATCH, steps), 2, 4)
    return figures


def main(arguments):
    if len(arguments) not in (1, 2):
        sys.exit(__doc__)
    folders = [pathlib.Path(name).resolve() for name in arguments] + [None]
    with tempfile.TemporaryDirectory() as folder:
        for name, value in step_figures(folders[0], folders[1], pathlib.Path(folder)).items():
            print(f"{name:32} {value:>12,}")


if __name__ == "__main__":
    main(sys.argv[1:])
