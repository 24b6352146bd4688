"""Draws a figure: the error of two guards over the share of malicious clients, as an SVG without further libraries.

    PYTHONPATH=build/release/python python3 tools/python/examples/figure.py figure.svg
"""

import sys

import aflguard

GUARDS = {"aflguard": "#1f5fbf", "span-guard": "#c2185b"}
SHARES = [0.0, 0.1, 0.2, 0.3, 0.4]
WIDTH, HEIGHT, LEFT, BOTTOM = 420, 260, 50, 40


def errors(guard):
    results = [aflguard.run("synthetic", guard, "own" if share else "none", malicious=share, seed=1, iterations=500)
               for share in SHARES]
    return [min(result["mee"], 1000.0) for result in results]


def place(share, error, largest):
    x = LEFT + share / SHARES[-1] * (WIDTH - LEFT - 20)
    y = HEIGHT - BOTTOM - error / largest * (HEIGHT - BOTTOM - 30)
    return f"{x:.1f},{y:.1f}"


def main(path):
    curves = {guard: errors(guard) for guard in GUARDS}
    largest = max(max(curve) for curve in curves.values())
    parts = [f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' font-family='sans-serif' "
             "font-size='11'><text x='50' y='18' font-weight='600'>Estimation error under the strongest update</text>"]
    for row, (guard, colour) in enumerate(GUARDS.items()):
        points = " ".join(place(share, error, largest) for share, error in zip(SHARES, curves[guard]))
        parts.append(f"<polyline fill='none' stroke='{colour}' stroke-width='2' points='{points}'/>")
        parts.append(f"<text x='{LEFT + 10}' y='{40 + 14 * row}' fill='{colour}'>{guard}: "
                     + ", ".join(f"{error:.2f}" for error in curves[guard]) + "</text>")
    for share in SHARES:
        x = place(share, 0, largest).split(",")[0]
        parts.append(f"<text x='{x}' y='{HEIGHT - BOTTOM + 16}' text-anchor='middle'>{share:g}</text>")
    parts.append(f"<text x='{WIDTH / 2}' y='{HEIGHT - 8}' text-anchor='middle'>share of malicious clients</text></svg>")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(parts) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
