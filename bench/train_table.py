#!/usr/bin/env python3
"""The table of training steps in docs/benchmarks.md: every variant of the kernels that this machine runs, beside PyTorch.

usage: train_table.py AFLGUARD [ROUNDS]

Runs `aflguard bench train --json` once per variant and prints Markdown. PyTorch beside AVX2 is held to AVX2, too; beside the
baseline it is left out, since it cannot be held to that. The other figures of each run follow.
"""
import json
import os
import subprocess
import sys

HELD_TO_AVX2 = {"ATEN_CPU_CAPABILITY": "avx2", "DNNL_MAX_CPU_ISA": "AVX2", "OPENBLAS_CORETYPE": "Haswell"}
VARIANTS = [("avx512", "AVX-512", {}), ("avx2", "AVX2", HELD_TO_AVX2), ("baseline", "baseline (SSE2 or NEON)", None)]
STEPS = {"cnn_step_cpu_ms": "the paper's CNN, batch 32", "resnet20_step_cpu_ms": "ResNet-20, batch 64"}


def measured(aflguard, variant, limits, rounds):
    """The document of one run; none where this processor cannot run the variant."""
    command = [aflguard, "bench", "train", "--json", "--rounds", rounds] + (["--no-baseline"] if limits is None else [])
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(limits or {}), "AFLGUARD_KERNELS": variant})
    if done.returncode == 0:
        return json.loads(done.stdout)
    if "AFLGUARD_KERNELS" in done.stderr:
        return None
    sys.exit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()}")


def number(value):
    return "" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"


def step_row(name, variant, result):
    conditions = result["conditions"]
    pytorch = None if "no_pytorch" in conditions else result["baseline"]["value"]
    cells = [STEPS[name], variant, number(result["value"]), number(pytorch),
             "" if pytorch is None else f"{result['value'] / pytorch:.2f}", number(conditions["roofline_ms"]),
             f"{conditions['roofline_ms'] / result['value']:.0%}", number(conditions["plain_cpp_ms"])]
    return "| " + " | ".join(cells) + " |"


def other_line(variant, result):
    baseline = result.get("baseline")
    beside = f", {number(baseline['value'])} for {baseline['name']} (ratio {result['value'] / baseline['value']:.2f})" if baseline else ""
    return f"- `{result['name']}`, {variant}: {number(result['value'])} {result['unit']}{beside}"


def main(arguments):
    if len(arguments) not in (1, 2):
        sys.exit(__doc__)
    runs = [(title, measured(arguments[0], variant, limits, *(arguments[1:] or ["9"]))) for variant, title, limits in VARIANTS]
    runs = [(title, document) for title, document in runs if document]
    context = runs[0][1]["context"]
    loads = ", ".join(f"{document['context']['load_average']:.1f}" for _, document in runs)
    print(f"{context['processor']}, {context['cores']} cores, GCC {context['compiler']}, load average {loads}\n")
    print("| CPU time of a step, ms | variant | ours | PyTorch | ratio | roofline | of it | plain C++ |")
    print("|---|---|---|---|---|---|---|---|")
    others = []
    for name in STEPS:
        for title, document in runs:
            print(step_row(name, title, next(each for each in document["results"] if each["name"] == name)))
    for title, document in runs:
        others += [other_line(title, each) for each in document["results"] if each["name"] not in STEPS]
    print("\n" + "\n".join(others))


if __name__ == "__main__":
    main(sys.argv[1:])
