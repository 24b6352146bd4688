#!/usr/bin/env python3
"""What in the product's code has grown, beside what it was on main. Never fails: it is for reading.

usage: report.py [--against REVISION] [--root FOLDER]

The longest functions, classes with many data members, long parameter lists, repeated runs of lines, headers that only tests
include, and sources without a test of the same name. --against: the revision to compare with; without it, where this
branch left origin/main, if git knows one. Functions and classes are found again by name, so moved files do not count.
"""
import argparse
import collections
import io
import pathlib
import re
import signal
import subprocess
import tarfile

OUTSIDE = {"build", "cmake", "dashboard", "docs", "packaging", "setup", "toolchains"}
TESTS = {"fuzz", "tests"}
LONGEST = 25
MOST_MEMBERS = 12
MOST_PARAMETERS = 6
RUN = 6
NOT_CODE = re.compile(
    r"//[^\n]*|/\*.*?\*/|R\"(\w*)\(.*?\)\1\"|\"(?:\\.|[^\"\\\n])*\"|(?<!\w)'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE)
TYPE = re.compile(r"\b(?:class|struct|union)\s+(?:\[\[\w+\]\]\s*)?(\w+)(?:<[^{;]*>)?(?:\s+final)?\s*(?::(?!:).*)?$", re.DOTALL)

Function = collections.namedtuple("Function", "name file line lines parameters")
Class = collections.namedtuple("Class", "name file line members")


def is_source(path):
    return path.endswith((".h", ".cpp", ".inc")) and path.split("/")[0] not in OUTSIDE and not path.startswith(".")


def files_in_folder(root):
    tops = (top for top in sorted(root.iterdir()) if top.is_dir() and top.name not in OUTSIDE and top.name[0] != ".")
    paths = (path.relative_to(root).as_posix() for top in tops for path in sorted(top.rglob("*")) if path.is_file())
    return {path: (root / path).read_text(errors="replace") for path in paths if is_source(path)}


def files_in_revision(root, revision):
    archive = subprocess.run(["git", "-C", root, "archive", revision], capture_output=True, check=True).stdout
    files = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            if member.isfile() and is_source(member.name):
                files[member.name] = tar.extractfile(member).read().decode(errors="replace")
    return files


def code_of(text):
    """Without comments, directives and what is between quotes; every line stays where it is."""
    return NOT_CODE.sub(lambda found: '""' if found[0][0] in "\"R'" else "\n" * found[0].count("\n"), text)


def end_of_group(code, open_at, opening, closing):
    depth = 0
    for at in range(open_at, len(code)):
        if code[at] == opening:
            depth += 1
        elif code[at] == closing:
            depth -= 1
            if depth == 0:
                return at
    return len(code)


def without_templates(text):
    """Template arguments may have parentheses and commas that are not the declaration's."""
    before = None
    while before != text:
        before, text = text, re.sub(r"<[^<>;{}]*>", "", text)
    return text


def parameter_count(head):
    open_at = head.find("(")
    inside = head[open_at + 1:end_of_group(head, open_at, "(", ")")]
    inside = re.sub(r"\([^()]*\)|\{[^{}]*\}", "", inside).strip()
    return inside.count(",") + 1 if inside and inside != "void" else 0


def is_member(statement):
    head = re.split(r"[={]", without_templates(statement))[0]
    head = re.sub(r"\b(?:public|private|protected)\s*:", "", head).strip()
    first = head.split(" ")[0] if head else ""
    other = {"using", "friend", "static", "typedef", "class", "struct", "enum", "template", "operator", "union"}
    return bool(re.search(r"\w\s+[&*]?\w+(?:\[\w*\])?$", head)) and "(" not in head and first not in other


class Scanner:
    """Finds functions and classes by their braces; expects code as clang-format leaves it."""

    def __init__(self, file, text):
        self.file, self.code = file, code_of(text)
        self.functions, self.classes = [], []
        self.scan(0, len(self.code), [])

    def line(self, at):
        return self.code.count("\n", 0, at) + 1

    def scan(self, at, end, scope):
        """Returns how many data members stand directly between `at` and `end`."""
        members, begin, depth = 0, at, 0
        while at < end:
            c = self.code[at]
            depth += (c in "([") - (c in ")]")
            if c == ";" and depth == 0:
                members += is_member(self.code[begin:at])
                begin = at + 1
            elif c == "{" and depth == 0:
                close = end_of_group(self.code, at, "{", "}")
                head = self.code[begin:at].strip()
                done = self.group(head, begin, at, close, scope)
                at = close
                if done:
                    begin = close + 1
            at += 1
        return members

    def group(self, head, begin, at, close, scope):
        """One pair of braces at the scope of a namespace or class. Returns whether a declaration ends with it."""
        plain = without_templates(re.sub(r"\b(?:public|private|protected)\s*:", "", head)).strip()
        begin += len(self.code[begin:at]) - len(self.code[begin:at].lstrip())
        if re.match(r"(?:inline\s+)?namespace\b|extern\s+\"\"$", plain):
            self.scan(at + 1, close, scope)
            return True
        kind = TYPE.search(plain)
        if kind and "(" not in plain.split(kind[1])[0] and not plain.startswith("enum"):
            members = self.scan(at + 1, close, scope + [kind[1]])
            self.classes.append(Class("::".join(scope + [kind[1]]), self.file, self.line(begin), members))
            return False
        called = re.search(r"(operator\s*\S+?|[\w:~]+)\s*\(", plain)
        if not called or "=" in plain.split("(")[0].replace("operator=", ""):
            return False
        after = self.code[close + 1:close + 80].lstrip()
        if after[:1] in (",", "{"):  # a brace in a constructor's initialisers is not its body
            return False
        lines = self.line(close) - self.line(begin) + 1
        name = "::".join(scope + [called[1]])
        self.functions.append(Function(name, self.file, self.line(begin), lines, parameter_count(plain[called.start():])))
        return True


def significant_lines(text):
    """(number, line) of every line that says something."""
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if re.search(r"\w", line) and not line.startswith(("//", "#", "namespace", "}  //", "using ")):
            rows.append((number, line))
    return rows


def repeated_runs(files):
    """(lines, file, line, other file, other line) for each run that stands twice, the longest first."""
    rows = {file: significant_lines(text) for file, text in files.items() if not file.endswith(".inc")}
    seen, runs = {}, []
    for file, lines in rows.items():
        covered = 0
        for at in range(len(lines) - RUN + 1):
            window = tuple(line for _, line in lines[at:at + RUN])
            first = seen.setdefault(window, (file, at))
            overlaps = first[0] == file and first[1] + RUN > at
            if first == (file, at) or overlaps or at < covered:
                continue
            other, length = rows[first[0]], RUN
            while (at + length < len(lines) and first[1] + length < len(other) and
                   lines[at + length][1] == other[first[1] + length][1]):
                length += 1
            covered = at + length
            runs.append((length, file, lines[at][0], first[0], other[first[1]][0]))
    return sorted(runs, key=lambda run: (-run[0], run[1:]))


def includes(text):
    return re.findall(r'^#include "([^"]+)"', text, re.MULTILINE)


def headers_for_tests(product, tests):
    used = collections.defaultdict(set)
    for file, text in product.items():
        for header in includes(text):
            used[header].add(file)
    tested = {header for text in tests.values() for header in includes(text)}
    return sorted(header for header in product if header.endswith(".h") and header in tested and
                  not used[header] - {header[:-2] + ".cpp"})


def untested_sources(product, tests):
    subjects = {pathlib.PurePath(file).stem for file in tests}
    return sorted(file for file in product if file.endswith(".cpp") and not file.endswith("main.cpp") and
                  "test_" + pathlib.PurePath(file).stem not in subjects)


class Facts:
    def __init__(self, files):
        product = {file: text for file, text in files.items() if file.split("/")[0] not in TESTS}
        tests = {file: text for file, text in files.items() if file not in product}
        scans = [Scanner(file, text) for file, text in product.items()]
        self.functions = sorted((one for scan in scans for one in scan.functions), key=lambda one: -one.lines)
        self.classes = sorted((one for scan in scans for one in scan.classes), key=lambda one: -one.members)
        self.runs = repeated_runs(product)
        self.headers = headers_for_tests(product, tests)
        self.untested = untested_sources(product, tests)

    def wide(self):
        return sorted((one for one in self.functions if one.parameters > MOST_PARAMETERS), key=lambda one: -one.parameters)

    def large(self):
        return [one for one in self.classes if one.members > MOST_MEMBERS]


def by_name(values, size):
    largest = {}
    for value in values:
        largest[value.name] = max(size(value), largest.get(value.name, 0))
    return largest


def report(now, before, since):
    """Prints what is, and, where `before` is not None, how it differs from what was in revision `since`."""
    def change(value, was):
        if before is None:
            return ""
        if was is None:
            return ", new"
        return f", {value - was:+} since {since}" if value != was else ""

    def section(title, of, lines):
        print(f"\n{title}: {of(now)}{change(of(now), of(before) if before else None)}")
        for line in lines:
            print("  " + line)

    def sized(values, kind, unit):
        known = by_name(getattr(before, kind), lambda one: getattr(one, unit)) if before else {}
        for one in values:
            size = getattr(one, unit)
            yield f"{size:4} {unit}{change(size, known.get(one.name))}: {one.name}  {one.file}:{one.line}"

    section(f"lines in the {LONGEST} longest functions", lambda facts: sum(one.lines for one in facts.functions[:LONGEST]),
            sized(now.functions[:LONGEST], "functions", "lines"))
    section(f"classes with more than {MOST_MEMBERS} data members", lambda facts: len(facts.large()),
            sized(now.large(), "classes", "members"))
    section(f"functions with more than {MOST_PARAMETERS} parameters", lambda facts: len(facts.wide()),
            sized(now.wide(), "functions", "parameters"))
    section(f"repeated runs of {RUN} lines and more", lambda facts: len(facts.runs),
            (f"{lines:4} lines: {file}:{line} and {other}:{at}" for lines, file, line, other, at in now.runs))
    section("headers that only tests include", lambda facts: len(facts.headers), now.headers)
    section("sources without a test of the same name", lambda facts: len(facts.untested), now.untested)


def revision_of_main(root):
    found = subprocess.run(["git", "-C", root, "merge-base", "HEAD", "origin/main"], capture_output=True, text=True)
    return found.stdout.strip() if found.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", metavar="REVISION")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    options = parser.parse_args()
    before = None
    try:
        revision = options.against or revision_of_main(options.root)
        if revision:
            before = Facts(files_in_revision(options.root, revision))
        else:
            print("not compared: git knows no origin/main; --against REVISION names something else")
    except (OSError, subprocess.CalledProcessError) as problem:
        print(f"not compared: {problem}")
    report(Facts(files_in_folder(options.root)), before, options.against or "main")


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # ... | head
    main()
