#!/usr/bin/env python3
"""What the client costs a board, held against tests/footprint/budget.json.

usage: footprint.py BIN ARM64_BIN CLIENT_arm64.deb BUDGET [--write]

Size: what the package installs. Memory: the most that the arm64 client had resident while it trained the paper's network on
MNIST, in a virtual board (aflguard sim --depth board), as its own kernel counted. Start: the instructions that this machine's
client executes until its identity, model and samples are loaded; a figure that no load changes. Training: the instructions of one
step of the same network, with the AVX2 kernels and on arm64 (instructions.py). A figure that is more than `allowed_growth` over its
budget fails. --write puts what was measured into the budget instead. Exit 0: within; 1: not.
"""
import datetime
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from instructions import by_callgrind, run, step_figures

BOARDS = "board=1,native=3"
VERDICTS = 10


def installed_bytes(package):
    """All that the package installs, and what of it is ONNX Runtime."""
    sizes = {}
    for line in run("dpkg-deb", "--contents", package).stdout.splitlines():
        kind, _, size, _, _, name = line.split(maxsplit=5)
        if kind.startswith("-"):
            sizes[name] = int(size)
    return sum(sizes.values()), sum(size for name, size in sizes.items() if "libonnxruntime" in name)


def start_instructions(client, configuration):
    return by_callgrind(client, "--config", configuration, "--test-config")


def seconds_to_connect(board_log, broker_log, name):
    """From the start of the client's process on the board to its connection, as the board's clock and the broker's tell."""
    begun = re.findall(r"is up after \S+ s, (\S+)Z", board_log)[-1]
    begun = datetime.datetime.fromisoformat(begun + "+00:00").timestamp()
    return int(re.findall(rf"(\d+): New client connected from \S+ as {name} ", broker_log)[-1]) - begun


def on_a_board(programs, folder):
    fleet = folder / "fleet"

    def sim(verb, *words):
        return run(programs / "aflguard", "sim", verb, *words, "--fleet", fleet).stdout

    try:
        up = json.loads(sim("up", "--depth", BOARDS, "--with-gateway", "--dataset", "mnist", "--patience", "1200", "--json"))
        sim("wait", "sim-01", "--verdicts", VERDICTS, "--patience", "1200")
    finally:
        subprocess.run([str(programs / "aflguard"), "sim", "down", "--fleet", str(fleet)], capture_output=True)
    logs = fleet / "sim" / "logs"
    board = (logs / "sim-01.log").read_text(errors="replace")
    memory = max(map(int, re.findall(r"the client's memory is (\d+) kB", board)))
    connected = seconds_to_connect(board, (logs / "broker.log").read_text(errors="replace"), "sim-01")
    samples = next(each["samples"] for each in up["boards"] if each["name"] == "sim-01")
    instructions = start_instructions(programs / "aflguard-client", fleet / "sim/boards/sim-02/card/client.toml")
    return memory, samples, connected, instructions


def main(arguments):
    if len(arguments) not in (4, 5) or arguments[4:] not in ([], ["--write"]):
        sys.exit(__doc__)
    programs, arm64_programs, package, budget_file = (pathlib.Path(name).resolve() for name in arguments[:4])
    budget = json.loads(budget_file.read_text())
    total, runtime = installed_bytes(package)
    with tempfile.TemporaryDirectory() as folder:
        memory, samples, connected, instructions = on_a_board(programs, pathlib.Path(folder))
        steps = step_figures(programs, arm64_programs, pathlib.Path(folder))
    found = {
        "installed_bytes": total,
        "installed_bytes_without_onnx_runtime": total - runtime,
        "board_peak_memory_kb": memory,
        "start_instructions": instructions,
        **steps,
    }
    print(f"memory: training the CNN on {samples} samples; connected {connected:.0f} s after the client's start (emulated)")
    if arguments[4:]:
        budget["figures"] = found
        budget_file.write_text(json.dumps(budget, indent=2) + "\n")
    worse = 0
    for name, allowed in budget["figures"].items():
        growth = found[name] / allowed - 1
        fine = growth <= budget["allowed_growth"]
        worse += not fine
        print(f"{'ok  ' if fine else 'FAIL'}  {name:38} {found[name]:>12,} budget {allowed:>12,} {growth:+7.1%}")
    for name in found.keys() - budget["figures"].keys():
        print(f"new   {name:38} {found[name]:>12,} has no budget yet: AFLGUARD_BUDGET=--write gives it one")
    if worse:
        print(f"over the budget by more than {budget['allowed_growth']:.0%}: mend it, or say in the commit why "
              f"the client may grow and raise {budget_file.name}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
