#!/usr/bin/env python3
"""Gradients of imported models against PyTorch's autograd.

usage: torch_gradients.py AFLGUARD [PART OF A CASE'S NAME]

Exit 0: all agree; 1: some do not; 77: PyTorch is not installed here, nothing was compared.
"""
import sys
import tempfile

try:
    import numpy  # noqa: F401
    import torch
except ImportError as missing:
    print(f"skipped: {missing} (Debian: python3-torch, python3-numpy)")
    sys.exit(77)

import compare
import networks


def main(arguments):
    program = arguments[0]
    wanted = arguments[1:]
    torch.set_num_threads(1)
    failures, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for case in networks.all_cases():
            if wanted and wanted[0] not in case.name:
                continue
            count += 1
            try:
                worst, where = compare.check(case, program, f"{folder}/{case.name}")
                print(f"ok    {case.name:40} {worst:.1e}  {where}", flush=True)
            except Exception as problem:  # one bad case must not hide the others
                failures.append(case.name)
                print(f"FAIL  {case.name:40} {type(problem).__name__}: {problem}", flush=True)
    print(f"{count - len(failures)} of {count} models agree with autograd")
    return 0 if count and not failures else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
