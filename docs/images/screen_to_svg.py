#!/usr/bin/env python3
"""Turns a terminal's screen into an SVG: tmux capture-pane -p -e -N | python3 docs/images/screen_to_svg.py > screen.svg"""
import re
import sys
from xml.sax.saxutils import escape

COLOURS = {30: "#2e3436", 31: "#ef5350", 32: "#66bb6a", 33: "#ffca28", 34: "#64b5f6", 35: "#ba68c8", 36: "#4dd0e1",
           37: "#e0e0e0", 90: "#8a8f98"}
BACKGROUND, FOREGROUND = "#16181d", "#e0e0e0"
WIDTH, HEIGHT = 8.4, 18


def runs(line, style):
    """(column, text, colour, bold, inverse) of every piece of one line; `style` goes on from line to line."""
    column = 0
    for code, text in re.findall(r"\x1b\[([0-9;]*)m|([^\x1b]+)", line):
        if text:
            yield column, text, style["colour"], style["bold"], style["inverse"]
            column += len(text)
            continue
        for number in (int(part or 0) for part in code.split(";")):
            if number == 0:
                style.update(colour=FOREGROUND, bold=False, inverse=False)
            elif number == 1:
                style["bold"] = True
            elif number == 7:
                style["inverse"] = True
            elif number == 39:
                style["colour"] = FOREGROUND
            elif number in COLOURS:
                style["colour"] = COLOURS[number]


def main():
    lines = sys.stdin.read().rstrip("\n").split("\n")
    columns = max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in lines)
    width, height = columns * WIDTH + 24, len(lines) * HEIGHT + 24
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
          f'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14">')
    print(f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>')
    style = {"colour": FOREGROUND, "bold": False, "inverse": False}
    for row, line in enumerate(lines):
        y = 12 + row * HEIGHT
        for column, text, colour, bold, inverse in runs(line, style):
            x = 12 + column * WIDTH
            if inverse:
                print(f'<rect x="{x:.1f}" y="{y}" width="{len(text) * WIDTH:.1f}" height="{HEIGHT}" fill="{colour}"/>')
                colour = BACKGROUND
            if text.strip():
                weight = ' font-weight="bold"' if bold else ""
                print(f'<text x="{x:.1f}" y="{y + 14}" fill="{colour}"{weight} xml:space="preserve" '
                      f'textLength="{len(text) * WIDTH:.1f}">{escape(text)}</text>')
    print("</svg>")


main()
