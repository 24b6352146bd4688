#!/usr/bin/env python3
"""Man pages and bash completions from what the programs say about themselves.

usage: make_manuals.py PROGRAMS_FOLDER SOURCE_FOLDER OUTPUT_FOLDER VERSION PROGRAM...

`--help` of every program and verb is the one source, so a page cannot fall behind its program. What help has no room
for (files, signals, other pages) is in packaging/man/PAGE.roff. Writes man/PAGE.gz and completions/PROGRAM.
"""
import email.utils
import gzip
import os
import pathlib
import re
import subprocess
import sys
import textwrap
import time

MAINTAINER = "AFLGuard Edge maintainers <maintainers@aflguard.invalid>"

# The section of each program's page. `aflguard` also gets a page for every verb.
PROGRAMS = {"aflguard": 1, "aflguard-client": 8, "aflguard-gateway": 8, "aflguard-byzantine-client": 1}
# (page, example file, program): every option of a configuration file, with its comment.
CONFIGURATIONS = [("aflguard-client.toml", "edge_client/client.example.toml", "aflguard-client"),
                  ("aflguard-gateway.toml", "gateway_server/gateway.example.toml", "aflguard-gateway")]


class Help:
    """One program's or verb's --help, taken apart."""

    def __init__(self, command):
        environment = dict(os.environ, LC_ALL="C.UTF-8", COLUMNS="110")
        done = subprocess.run(command + ["--help"], capture_output=True, text=True, env=environment, timeout=120)
        if done.returncode != 0:
            sys.exit(f"make_manuals: {' '.join(command)} --help ended with {done.returncode}: {done.stderr.strip()}")
        self.description, self.usage, self.sections, self.notes = [], "", {}, []
        section = None
        for line in done.stdout.splitlines():
            heading = re.fullmatch(r"([A-Z][A-Za-z ()]*):", line)
            if line.startswith("Usage:"):
                self.usage = line[len("Usage:"):].strip()
                section = None
            elif heading:
                section = self.sections.setdefault(heading.group(1), [])
            elif section is not None and (line.startswith(" ") or not line):
                section.append(line)
            elif line:
                section = None
                (self.notes if self.usage else self.description).append(line)

    def items(self, name):
        """[(term, explanation)] of an indented list; the explanation may stand on the next lines."""
        found = []
        for line in self.sections.get(name, []):
            if re.match(r"  \S", line):
                term, _, text = line.strip().partition("  ")
                found.append([term, text.strip()])
            elif line.strip() and found:
                found[-1][1] = (found[-1][1] + " " + line.strip()).strip()
        return found

    def verbs(self):
        return [(term, text) for term, text in self.items("Subcommands")]


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.split("\n"))


def paragraphs(lines):
    return roff("\n".join(lines)) + "\n"


def terms(items):
    return "".join(f".TP\n.B {roff(term)}\n{roff(text)}\n" for term, text in items)


def verbatim(lines):
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return ".PP\n.nf\n" + roff("\n".join(lines)) + "\n.fi\n"


def options_of(help_text):
    """Positionals and options, without --help, which every program has."""
    items = help_text.items("Positionals")
    for name, _ in help_text.sections.items():
        if name not in ("Positionals", "Subcommands", "Examples", "Example"):
            items += [i for i in help_text.items(name) if not i[0].startswith("-h,")]
    return items


def examples_of(help_text):
    return help_text.sections.get("Examples", []) + help_text.sections.get("Example", [])


def walk(command, name):
    """(name, Help) of a command and of every verb below it, in the order of its help."""
    own = Help(command)
    yield name, own
    for verb, _ in own.verbs():
        yield from walk(command + [verb], f"{name} {verb}")


def header(title, section, version, name, summary):
    return (f'.TH "{title.upper()}" "{section}" "" "AFLGuard Edge {version}" "AFLGuard Edge"\n'
            f".SH NAME\n{roff(name)} \\- {roff(summary)}\n")


def summary_of(help_text):
    text = " ".join(help_text.description) or "part of AFLGuard Edge"
    return re.split(r"(?<=[a-z0-9)])[.:;] ", text)[0].rstrip(".")


def page_of(tree, page, section, version, extra, own_verbs_only=False):
    name, top = tree[0]
    text = header(page, section, version, page, summary_of(top))
    text += f".SH SYNOPSIS\n.B {roff(top.usage or name)}\n.SH DESCRIPTION\n{paragraphs(top.description)}"
    if options_of(top):
        text += ".SH OPTIONS\n" + terms(options_of(top))
    if len(tree) > 1 and own_verbs_only:
        text += ".SH COMMANDS\nEach has its own page, for instance\n.BR %s (1).\n" % roff(tree[1][0].replace(" ", "-"))
        text += terms([(verb, explanation) for verb, explanation in top.verbs()])
    elif len(tree) > 1:
        text += ".SH COMMANDS\n"
        for verb, own in tree[1:]:
            text += f".SS {roff(own.usage or verb)}\n{paragraphs(own.description)}{terms(options_of(own))}"
            if examples_of(own):
                text += verbatim(examples_of(own))
    if examples_of(top):
        text += ".SH EXAMPLES\n" + verbatim(examples_of(top))
    notes = [note for note in top.notes if not note.startswith("Exit codes:")]
    if notes:
        text += ".SH NOTES\n" + paragraphs(notes)
    text += (".SH EXIT STATUS\n.TP\n.B 0\ndone, or stopped by a signal\n.TP\n.B 1\nfailure; standard error says what to do\n"
             ".TP\n.B 2\nthe command line was not understood\n")
    if extra.exists():
        text += extra.read_text()
    return text


def configuration_page(page, example, program, version):
    lines = example.read_text().splitlines()
    text = header(page, 5, version, page, f"configuration of {program}")
    text += (f".SH DESCRIPTION\nA TOML file, given to\n.BR {roff(program)} (8)\nwith \\-\\-config. "
             "An unknown key stops the start with file, line and the nearest known key. "
             "All options, each with its meaning; what is commented out shows its default:\n")
    return text + verbatim(lines) + f".SH SEE ALSO\n.BR {roff(program)} (8)\n"


def completion(program, trees):
    """A bash completion: the words that may follow each verb; file names where a value is expected."""
    cases = []
    for name, own in trees:
        words = [verb for verb, _ in own.verbs()]
        for section in own.sections:
            if section not in ("Positionals", "Subcommands", "Examples", "Example"):
                for term, _ in own.items(section):
                    words += re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", term.split(" ")[0])
        cases.append(f'    "{name}") words="{" ".join(words)}" ;;')
    function = "_" + program.replace("-", "_")
    known = " ".join('"%s"' % name for name, _ in trees[1:])
    return f"""# bash completion for {program}, made from its --help
{function}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} command={program} word words known
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    for known in {known or '""'}; do
      [[ $known == "$command $word" ]] && command=$known
    done
  done
  case $command in
{chr(10).join(cases)}
  esac
  COMPREPLY=()
  if [[ $current == -* || $words != --* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  fi
  [[ ${{#COMPREPLY[@]}} -gt 0 ]] || mapfile -t COMPREPLY < <(compgen -f -- "$current")
}}
complete -o filenames -F {function} {program}
"""


def debian_changelog(markdown, version):
    """The newest part of CHANGELOG.md in Debian's own form; the time is that of the source (SOURCE_DATE_EPOCH)."""
    newest = re.split(r"^## ", markdown, flags=re.M)[1]
    entries = [" ".join(entry.split()) for entry in re.findall(r"^- (.*?)(?=^- |^#|\Z)", newest, flags=re.M | re.S)]
    body = "\n".join(textwrap.fill(entry, 76, initial_indent="  * ", subsequent_indent="    ") for entry in entries)
    when = email.utils.formatdate(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))
    return f"aflguard ({version}) stable; urgency=medium\n\n{body}\n\n -- {MAINTAINER}  {when}\n"


def main(arguments):
    if len(arguments) < 5:
        sys.exit(__doc__)
    programs, source, output = (pathlib.Path(folder) for folder in arguments[:3])
    version = arguments[3]
    (output / "man").mkdir(parents=True, exist_ok=True)
    (output / "completions").mkdir(parents=True, exist_ok=True)
    written = []

    def write(page, section, text):
        path = output / "man" / f"{page}.{section}.gz"
        # No name and no time inside: the same input gives the same bytes.
        path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
        written.append(path.name)

    def extra(page):
        return source / "packaging" / "man" / f"{page}.roff"

    for program in arguments[4:]:
        section = PROGRAMS[program]
        tree = list(walk([str(programs / program)], program))
        own = Help([str(programs / program)])
        write(program, section, page_of(tree, program, section, version, extra(program), own_verbs_only=True))
        for verb, _ in own.verbs():
            prefix = f"{program} {verb}"
            part = [(name, text) for name, text in tree if name == prefix or name.startswith(prefix + " ")]
            page = prefix.replace(" ", "-")
            write(page, 1, page_of(part, page, 1, version, extra("aflguard-verb")))
        (output / "completions" / program).write_text(completion(program, tree))
    for page, example, program in CONFIGURATIONS:
        if program in arguments[4:]:
            write(page, 5, configuration_page(page, source / example, program, version))
    changes = debian_changelog((source / "CHANGELOG.md").read_text(), version)
    (output / "changelog.gz").write_bytes(gzip.compress(changes.encode(), 9, mtime=0))
    print(f"{len(written)} man pages: {' '.join(written)}")


if __name__ == "__main__":
    main(sys.argv[1:])
