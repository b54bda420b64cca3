"""Writes burn.txt: the public functions of Burn's tensor API, which the table in `src/coming_from_burn.md` answers.

Run as `python burn.py FOLDER…`, with the sources of burn-tensor, burn-linalg and burn-signal 0.23.0-pre.1 as cargo unpacks
them. A line is `MODULE NAME`; functions of devices, servers, quantised tensors and option types are not
among them.
"""

import pathlib
import re
import sys

SKIPPED = {"quantization.rs", "check.rs", "execution.rs"}  # The last two hold nothing public.
names = set()
for crate in map(pathlib.Path, sys.argv[1:]):
    tensor = crate.name.startswith("burn-tensor")
    files = (crate / "src" / ("tensor" if tensor else "functions")).rglob("*.rs")
    for file in (f for f in files if f.name not in SKIPPED):
        if file.parent.name == "stats":  # Private.
            continue
        part = file.relative_to(crate / "src/tensor").parts[0].removesuffix(".rs") if tensor else crate.name.split("-")[1]
        home = ""
        for line in file.read_text().splitlines():
            if re.match(r"(mod|#\[cfg\(test)", line) and "test" in line:
                break
            if found := re.match(r"impl\b.*?\b(?:for )?([A-Z]\w+)(?:<[^{]*>)?(?: \{| *$|\n)", line):
                home = found[1]
            if line.startswith("impl") and (found := re.match(r"impl(?:<.*?>)? ([A-Z]\w+)", line)):
                home = found[1]
            if line == "}":
                home = ""
            if found := re.match(r"(?:    )?pub (?:const |async )?fn (\w+)", line):
                module = home or ("tensor" if part in ("api", "distributed", "report") else part)
                names.add((module, found[1]))
for name in ("einsum!", "s!", "assert_shape!", "debug_assert_shape!"):
    names.add(("tensor", name))
out = pathlib.Path(__file__).with_name("burn.txt")
out.write_text("\n".join(["# burn 0.23.0-pre.1", *(" ".join(name) for name in sorted(names))]) + "\n")
