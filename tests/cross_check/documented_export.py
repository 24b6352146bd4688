#!/usr/bin/env python3
"""Runs every block of Python in docs/models.md as printed, and builds and checks a package of what it writes.

usage: documented_export.py AFLGUARD MODELS.MD

Exit 0: all work; 1: one does not; 77: PyTorch is not installed here, nothing was run.
"""
import os
import re
import sys
import tempfile
import warnings

try:
    import numpy  # noqa: F401
    import torch
    from torch import nn
except ImportError as missing:
    print(f"skipped: {missing} (Debian: python3-torch, python3-numpy)")
    sys.exit(77)

import compare

# What "model" is in the page: something whose export the block is about.
MODELS = {
    "mine.onnx": nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                               nn.Linear(4 * 13 * 13, 20), nn.BatchNorm1d(20), nn.Linear(20, 10)),
    "text.onnx": nn.Sequential(nn.Embedding(100, 8), nn.Flatten(), nn.Linear(160, 4)),
}


def main(program, page):
    torch.manual_seed(1)
    with open(page, encoding="utf-8") as file:
        blocks = re.findall(r"```python\n(.*?)```", file.read(), re.DOTALL)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for block in blocks:
            name = re.search(r'"(\w+\.onnx)"', block).group(1)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(block, {"torch": torch, "model": MODELS[name]})  # the page's own lines, nothing from outside
            compare.run([program, "model", "build", "--onnx", name, "--loss", "cross-entropy", "-o", name + ".package"])
            print(f"ok    {name}: " + compare.run([program, "model", "check", name + ".package"]).stdout.strip())
    return 0 if len(blocks) == len(MODELS) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
