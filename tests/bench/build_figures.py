#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What building kiln costs, as JSON: CPU minutes of the first run and of the whole suite, and the seconds that
one edit of the compiler takes until kilnc is there.

usage: build_figures.py --of BUILD      of a tree that was built: its steps, and where their time went
       build_figures.py --build BUILD   builds a configured tree, all of it, and prints what that cost (deploy/test)
       build_figures.py --steps ROOT    configures a new tree, compiles nothing, and counts what would be compiled
       build_figures.py --first ROOT    builds what deploy/run builds, in a new tree
       build_figures.py --suite ROOT    builds what deploy/test builds, in a new tree
       build_figures.py --edit ROOT     builds kilnc source by source, then touches one source of it

CPU time is no wall time: it is the same on one core and on eight, and beside load it grows by some percent only.
Still it is the machine's, so the test of every day counts steps (--steps), and deploy/nightly has --first,
--suite and --edit. Their new trees are made without a compiler cache and go afterwards. KILN_JOBS limits the
parallel jobs. The exit code is 1 if a gate of the figure is missed, 2 after
words that are wrong.
"""
import collections
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

GATES = {"first_cpu_minutes": 9, "suite_cpu_minutes": 35, "edit_cpu_seconds": 5}
# What the first two come from: a step is some 6 s of CPU, precompiled headers, units and tests alike.
STEPS = {"first": 85, "suite": 375}
FIRST = ("kiln", "kilnd", "kiln_demo")
# Neither the smallest nor the largest of its folders.
EDITED = "compiler/resolve/specialise/specialise_statement.cc"
JOBS = os.environ.get("KILN_JOBS", str(os.cpu_count() or 1))


def run(*command, cache="1", out=subprocess.DEVNULL):
    """Wall and CPU seconds, those of everything that it started included."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    env = dict(os.environ, CCACHE_DISABLE="1") if cache else os.environ
    subprocess.run([str(part) for part in command], check=True, stdout=out, env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def configure(root, build, *flags):
    run("cmake", "-S", root, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", *flags)


def of_tree(build):
    """Steps of its log; each step's time is that of the clock, so a busy machine makes it longer."""
    rows, folders = {}, collections.Counter()
    for line in (build / ".ninja_log").read_text().splitlines():
        if not line.startswith("#"):
            begin, end, _, output, _ = line.split("\t")
            rows[output] = int(end) - int(begin)
    for output, ms in rows.items():
        folders[output.partition("/CMakeFiles")[0]] += ms
    unity = "KILN_UNITY:BOOL=ON" in (build / "CMakeCache.txt").read_text()
    return {"steps": len(rows), "unity": unity, "step_minutes": round(sum(rows.values()) / 60000, 1),
            "longest_s": {name: round(ms / 1000, 1) for name, ms in folders.most_common(12)}}


def cold(root, build, targets):
    configure(root, build, "-DKILN_UNITY=ON")
    wall, cpu = run("cmake", "--build", build, "--parallel", JOBS, *(["--target", *targets] if targets else []))
    return {"cpu_minutes": round(cpu / 60, 2), "wall_minutes": round(wall / 60, 2), "tree": of_tree(build)}


def build_here(build):
    """With the compiler cache that there is; how much that gave stands beside the figure."""
    before = cache_hits()
    wall, cpu = run("cmake", "--build", build, "--parallel", JOBS, cache="", out=None)
    hits = cache_hits() - before
    return {"cpu_minutes": round(cpu / 60, 2), "wall_minutes": round(wall / 60, 2), "from_compiler_cache": hits,
            "tree": of_tree(build)}


def cache_hits():
    """Of everybody who uses it meanwhile; 0 without ccache."""
    done = subprocess.run(["ccache", "--print-stats"], capture_output=True, text=True, check=False) if shutil.which(
        "ccache") else None
    rows = dict(line.split("\t") for line in done.stdout.splitlines()) if done else {}
    return int(rows.get("direct_cache_hit", 0)) + int(rows.get("preprocessed_cache_hit", 0))


def count_steps(root, build):
    """Compile steps of a tree in units, of what deploy/run builds and of everything."""
    configure(root, build, "-DKILN_UNITY=ON")

    def steps(*targets):
        said = subprocess.run(["ninja", "-C", build, "-t", "commands", *targets], capture_output=True, text=True,
                              check=True).stdout
        return sum(" -c " in line for line in said.splitlines())
    return {"first": steps(*FIRST), "suite": steps("all")}


def edit(root, build):
    configure(root, build)
    run("cmake", "--build", build, "--parallel", JOBS, "--target", "kilnc")
    seconds, cpus = [], []
    for _ in range(3):
        os.utime(root / EDITED)
        wall, cpu = run("cmake", "--build", build, "--parallel", JOBS, "--target", "kilnc")
        seconds.append(round(wall, 2))
        cpus.append(round(cpu, 2))
    return {"source": EDITED, "cpu_seconds": min(cpus), "wall_seconds": min(seconds), "all_cpu_seconds": cpus}


def figure_of(what, path, build):
    """(figure, {gate: (value, bound)})"""
    if what == "--steps":
        figure = count_steps(path, build)
        return figure, {f"{name}_steps": (figure[name], bound) for name, bound in STEPS.items()}
    if what == "--edit":
        figure = edit(path, build)
        return figure, {"edit_cpu_seconds": (figure["cpu_seconds"], GATES["edit_cpu_seconds"])}
    figure = cold(path, build, list(FIRST) if what == "--first" else [])
    gate = f"{what[2:]}_cpu_minutes"
    return figure, {gate: (figure["cpu_minutes"], GATES[gate])}


WAYS = ("--of", "--build", "--steps", "--first", "--suite", "--edit")


def main():
    words = sys.argv[1:]
    if words in (["--help"], ["-h"]):
        print(__doc__.strip())
        return 0
    if len(words) != 2 or words[0] not in WAYS or not pathlib.Path(words[1]).is_dir():
        print(f"usage: build_figures.py {'|'.join(WAYS)} FOLDER, which is there; --help says what each does",
              file=sys.stderr)
        return 2
    what, path = words[0], pathlib.Path(words[1]).resolve()
    if what in ("--of", "--build"):
        try:
            print(json.dumps({"build": (of_tree if what == "--of" else build_here)(path)}, indent=1))
        except subprocess.CalledProcessError:
            return 1  # the compiler has said what is wrong
        return 0
    with tempfile.TemporaryDirectory(prefix="kiln_build_") as folder:
        figure, gates = figure_of(what, path, pathlib.Path(folder))
    met = all(value <= bound for value, bound in gates.values())
    print(json.dumps({what[2:]: figure, "gates": {name: bound for name, (_, bound) in gates.items()}, "met": met},
                     indent=1))
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
