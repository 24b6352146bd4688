#!/usr/bin/env python3
"""Whether the inner loops of arm64 object files keep their vectors in registers.

usage: hot_loops.py [--mca LLVM_MCA] OBJDUMP SOURCE.o...

Lists the innermost loops that calculate on vectors, function by function: instructions, vector arithmetic, memory accesses through
the stack pointer, and instructions per multiply-add. A loop is wrong when it touches the stack, or when a named one
(LIMITS) spends more instructions per multiply-add than it may. With --mca, cycles for Cortex-A72 and A76 are added. Exit 0: all
loops are right and every named one was found; 1: not.
"""
import re
import subprocess
import sys

# Loops whose instructions per multiply-add are held: (part of the function's name, multiply-adds, most per multiply-add).
LIMITS = [
    ("tile_rows<16ul", 24, 1.7),
    ("tile_rows<8ul, 8ul", 12, 2.2),
    ("tile_rows<8ul, 4ul", 12, 2.7),
    ("add_weighted_rows", 24, 2.0),
]
ARITHMETIC = re.compile(r"^f(add|sub|mul|mla|mls|cvtl2?|cvtn|max|maxnm|cmgt|div)$")
VECTOR = re.compile(r"\bv\d+\.")
STACK = re.compile(r"\[sp\b")
BRANCH = re.compile(r"^(b|b\.\w+|cbn?z|tbn?z)$")
LEAST_ARITHMETIC = 2  # a loop with less does not calculate on vectors


class Instruction:
    def __init__(self, address, name, operands):
        self.address, self.name, self.operands = address, name, operands
        target = re.search(r"([0-9a-f]+) <", operands) if BRANCH.match(name) else None
        self.target = int(target[1], 16) if target else None

    def calculates(self):
        return bool(ARITHMETIC.match(self.name)) and bool(VECTOR.search(self.operands))


def functions(objdump, path):
    """(name, instructions) of every function of an object file."""
    text = subprocess.run([objdump, "-d", "-C", "--no-show-raw-insn", path], capture_output=True, text=True, check=True).stdout
    for name, body in re.findall(r"^[0-9a-f]+ <(.*)>:\n((?: .*\n)+)", text, re.MULTILINE):
        found = re.findall(r"^ +([0-9a-f]+):\s+(\S+)[ \t]*(.*)$", body, re.MULTILINE)
        yield name, [Instruction(int(address, 16), word, operands) for address, word, operands in found]


def innermost_loops(instructions):
    """What lies between the target of a jump back and the jump, where no other such pair, no call and no return lies inside:
    cold code at a function's end jumps back, too."""
    at = {each.address: index for index, each in enumerate(instructions)}
    pairs = [(at[each.target], index) for index, each in enumerate(instructions)
             if each.target is not None and each.target <= each.address and each.target in at]
    pairs = [(first, last) for first, last in pairs if not any(each.name in ("bl", "blr", "ret") for each in instructions[first:last])]
    for first, last in sorted(set(pairs)):
        if not any((a, b) != (first, last) and first <= a and b <= last for a, b in pairs):
            yield instructions[first:last + 1]


def short(name):
    name = re.sub(r"aflguard::|\(anonymous namespace\)::|kernels::baseline::", "", name)
    return re.sub(r"\(.*", "", name) or name


def cycles(mca, loop, processor):
    """Of one turn of the loop as llvm-mca sees it; branches stand for themselves."""
    lines = ["l:"] + [f"{each.name} {re.sub(r'[0-9a-f]+ <.*>', 'l', each.operands)}" for each in loop]
    told = subprocess.run([mca, "-mtriple=aarch64", f"-mcpu={processor}", "-iterations=100"], input="\n".join(lines) + "\n",
                          capture_output=True, text=True).stdout
    found = re.search(r"Total Cycles:\s+(\d+)", told)
    return f"{int(found[1]) / 100:6.1f}" if found else "     ?"


def main(arguments):
    mca = None
    if arguments[:1] == ["--mca"]:
        mca, arguments = arguments[1], arguments[2:]
    if len(arguments) < 2:
        sys.exit(__doc__)
    objdump, files = arguments[0], arguments[1:]
    wrong = 0
    named = set()
    print(f"{'':5} {'function':44} {'instructions':>12} {'arithmetic':>10} {'stack':>5} {'per fmla':>8}" +
          ("  A72    A76 cycles" if mca else ""))
    for path in files:
        for name, instructions in functions(objdump, path):
            for loop in innermost_loops(instructions):
                arithmetic = sum(each.calculates() for each in loop)
                if arithmetic < LEAST_ARITHMETIC:
                    continue
                fused = sum(each.name in ("fmla", "fmls") for each in loop)
                stack = sum(bool(STACK.search(each.operands)) for each in loop)
                fine = stack == 0
                for key, (part, count, most) in enumerate(LIMITS):
                    if part in name and fused == count:
                        named.add(key)
                        fine = fine and len(loop) <= most * fused
                wrong += not fine
                rate = f"{len(loop) / fused:8.2f}" if fused else f"{'':8}"
                times = f" {cycles(mca, loop, 'cortex-a72')} {cycles(mca, loop, 'cortex-a76')}" if mca else ""
                print(f"{'ok   ' if fine else 'FAIL '} {short(name)[:44]:44} {len(loop):12} {arithmetic:10} {stack:5} {rate}{times}")
    for key, (part, count, _) in enumerate(LIMITS):
        if key not in named:
            wrong += 1
            print(f"FAIL  no loop of {count} multiply-adds in {part}: is its object file given? has the code changed? See LIMITS")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
