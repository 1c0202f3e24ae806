#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shaders as renderers have them: each compiles, is valid, and has the interface that another compiler gives it.

usage: renderer_test.py KILNC [NAME ...]

The first lines of a source say what is compiled and how:

    // run: vertex=vs_main fragment=ps_main      stages of one program, whose interfaces must meet; may be repeated
    // hlsl: version=2018 layout=dx              settings of kiln
    // glslang: none, REASON                     the other compiler cannot read it
    // glslang: differs, REASON                  it makes another interface, for a reason

Registers of the classes t, s and u are shifted, because a renderer of Direct3D counts each class from 0. The other compiler is glslang's
reader of HLSL, which knows no shift of u: it gets registers whose numbers are those of the bindings. Its constants are laid out as Direct3D
does, which is `layout=dx`, and its storage buffers by std430, which is `layout=std`. It drops inputs that are not read.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import spirv_interface  # noqa: E402

CORPUS = pathlib.Path(__file__).parent / "corpus" / "renderer"
PROFILES = {"vertex": "vs", "fragment": "ps", "compute": "cs"}
STAGES = {"vertex": "vert", "fragment": "frag", "compute": "comp"}
SHIFTS = {"t": 32, "s": 64, "u": 96}
ENVIRONMENT = "vulkan1.2"


class Source:
    def __init__(self, path):
        self.path = path
        self.runs, self.settings, self.glslang = [], [], ""
        for line in path.read_text().splitlines():
            found = re.match(r"// (run|hlsl|glslang): (.*)", line)
            if not line.startswith("//"):
                break
            if found and found[1] == "run":
                self.runs.append([entry.split("=") for entry in found[2].split()])
            elif found and found[1] == "hlsl":
                self.settings += found[2].split()
            elif found:
                self.glslang = found[2]


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"{command[0]}: exit {done.returncode}\n{done.stdout}{done.stderr}"


def by_kiln(kilnc, source, entries, folder, layout):
    """Writes STAGE.spv for each entry; what went wrong, or nothing."""
    command = [kilnc, "compile", source.path, "--env", ENVIRONMENT, "--limit", "workgroup=1024", "--out", folder]
    for stage, name in entries:
        command += ["--entry", f"{stage}={name}"]
    for setting in source.settings + [f"shift.{letter}=all:{shift}" for letter, shift in SHIFTS.items()] + layout:
        command += ["--hlsl", setting]
    return run(*command)


def by_glslang(source, stage, name, folder):
    """Writes other.spv."""
    def shifted(found):
        return f"register({found[1]}{int(found[2]) + SHIFTS[found[1]]}"

    text = folder / source.path.name
    text.write_text(re.sub(r"register\(([tsu])(\d+)", shifted, source.path.read_text()))
    return run("glslangValidator", "-D", "-V", "--target-env", ENVIRONMENT, "-S", STAGES[stage], "-e", name, "--hlsl-offsets",
               "--auto-map-locations", "-o", folder / "other.spv", text)


def differences(ours, theirs):
    """Interfaces of one stage: what is read, written and bound must be equal; only inputs that are not read may be more."""
    (mine, stages, size), (other, other_stages, other_size) = ours, theirs
    for place in sorted(mine.keys() | other.keys(), key=str):
        if mine.get(place) != other.get(place):
            yield f"{place}: {mine.get(place)}, another compiler has {other.get(place)}"
    more = {variable for variable in stages - other_stages if variable[0] == "in"}
    if stages - more != other_stages:
        yield f"stage variables: {sorted(stages)}, another compiler has {sorted(other_stages)}"
    if size != other_size:
        yield f"workgroup: {size}, another compiler has {other_size}"


def read(folder, stage, layouts):
    """The interface that kiln gives a stage: constants of the first layout, the rest of the second."""
    of_constants, of_storage = [spirv_interface.read((folder / layout / f"{stage}.spv").read_bytes()) for layout in layouts]
    resources = {place: row if row[0] == "uniform" else of_storage[0][place] for place, row in of_constants[0].items()}
    return resources, of_constants[1], of_constants[2]


def check(kilnc, source, folder):
    for entries in source.runs:
        refused = ""
        for layout in ("relaxed", "std", "dx", "scalar"):
            refused = by_kiln(kilnc, source, entries, folder / layout, [f"layout={layout}"])
            scalar = ["--scalar-block-layout"] if layout in ("dx", "scalar") else []
            for stage, _ in [] if refused else entries:
                refused = refused or run("spirv-val", "--target-env", ENVIRONMENT, *scalar, folder / layout / f"{stage}.spv")
            if refused:
                yield f"{entries} layout={layout}: {refused}"
                break
        if refused or source.glslang.startswith("none") or not shutil.which("glslangValidator"):
            continue
        for stage, name in entries:
            unread = by_glslang(source, stage, name, folder)
            if unread:
                yield f"glslang: {unread}"
                continue
            theirs = spirv_interface.read((folder / "other.spv").read_bytes())
            found = list(differences(read(folder, stage, ("dx", "std")), theirs))
            if found and not source.glslang.startswith("differs"):
                yield f"{stage}={name}: " + "\n    ".join(found)


def main():
    names = sys.argv[2:]
    sources = [Source(path) for path in sorted(CORPUS.glob("*.hlsl")) if not names or path.stem in names]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            if not source.runs:
                print(f"FAILED {source.path.name}: no line 'run'")
                failures += 1
            for wrong in check(sys.argv[1], source, pathlib.Path(folder)):
                print(f"FAILED {source.path.name}: {wrong}")
                failures += 1
    print(f"{len(sources)} sources, {failures} failures")
    sys.exit(failures != 0 or not sources)


main()
