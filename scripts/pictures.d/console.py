"""Runs a program on a terminal, and writes a part of its output as HTML.

usage: console.py PROGRAM HTML
"""

import fcntl
import html
import os
import pty
import re
import struct
import subprocess
import sys
import termios

COLUMNS = 100
# The thoughts that are shown: the mistake is found, marked, and repaired.
FIRST, AFTER = "Thought 5", "Thought 7"

COLOURS = ["#3b3f46", "#c4323f", "#2c8a50", "#a86b00", "#3347b8", "#8a3fa8", "#0f7f8c", "#5f646d"]

PAGE = """<!DOCTYPE html><meta charset="utf-8"><style>
body {{ margin: 0; padding: 22px 26px; background: #fff; color: #1d1f23; }}
pre {{ margin: 0; font: 14px/1.45 "DejaVu Sans Mono", monospace; white-space: pre; }}
</style><pre>{}</pre>
"""


def output_of(program):
    """Returns what the program writes to a terminal. Only its output is one, so that it isn't slowed down."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
    for name in ["OPENAI_BASE_URL", "OPENAI_MODEL", "NO_COLOR"]:
        environment.pop(name, None)

    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    process = subprocess.Popen([program], stdout=theirs, stderr=subprocess.DEVNULL, env=environment)
    os.close(theirs)

    parts = []
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
    process.wait()
    return b"".join(parts).decode().replace("\r\n", "\n")


def style(codes, state):
    """Returns the style after a sequence of codes such as `1;32`."""
    state = dict(state)
    for code in [int(code or 0) for code in codes.split(";")]:
        if code == 0:
            state = {}
        elif code == 1:
            state["font-weight"] = "700"
        elif code == 2:
            state["opacity"] = "0.6"
        elif code == 3:
            state["font-style"] = "italic"
        elif code == 22:
            state.pop("font-weight", None)
            state.pop("opacity", None)
        elif 30 <= code <= 37:
            state["color"] = COLOURS[code - 30]
        elif 90 <= code <= 97:
            state["color"] = COLOURS[code - 90]
        elif code == 39:
            state.pop("color", None)
    return state


def to_html(text):
    state, parts = {}, []
    for piece in re.split(r"(\x1b\[[0-9;?]*[A-Za-z])", text):
        match = re.fullmatch(r"\x1b\[([0-9;]*)m", piece)
        if match:
            state = style(match.group(1), state)
        elif piece and not piece.startswith("\x1b"):
            css = ";".join(f"{name}:{value}" for name, value in state.items())
            parts.append(f'<span style="{css}">{html.escape(piece)}</span>')
    return "".join(parts)


def main():
    program, target = sys.argv[1:]
    text = output_of(program)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    if FIRST not in plain or AFTER not in plain:
        sys.exit(f"the output doesn't contain `{FIRST}` and `{AFTER}`")

    lines = text.split("\n")
    start = next(at for at, line in enumerate(lines) if FIRST in line)
    end = next(at for at, line in enumerate(lines) if AFTER in line)
    with open(target, "w", encoding="utf-8") as file:
        file.write(PAGE.format(to_html("\n".join(lines[start:end]).rstrip())))


if __name__ == "__main__":
    main()
