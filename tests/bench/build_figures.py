#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What building kiln costs, as JSON: CPU minutes of the first run and of the whole suite, and the seconds that
one edit of the compiler takes until kilnc is there.

usage: build_figures.py --of BUILD      of a tree that was built: its steps, and where their time went
       build_figures.py --first ROOT    builds what deploy/run builds, in a new tree
       build_figures.py --suite ROOT    builds what deploy/test builds, in a new tree
       build_figures.py --edit ROOT     builds kilnc source by source, then touches one source of it

New trees are made without a compiler cache and go afterwards. KILN_JOBS limits the parallel jobs. The exit
code is 1 if a gate of the figure is missed.
"""
import collections
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

GATES = {"first_cpu_minutes": 9, "suite_cpu_minutes": 35, "edit_seconds": 5}
# Neither the smallest nor the largest of its folders.
EDITED = "compiler/resolve/specialise/specialise_statement.cc"
JOBS = os.environ.get("KILN_JOBS", str(os.cpu_count() or 1))


def run(*command):
    """Wall and CPU seconds, those of everything that it started included."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL,
                   env=dict(os.environ, CCACHE_DISABLE="1"))
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


def edit(root, build):
    configure(root, build)
    run("cmake", "--build", build, "--parallel", JOBS, "--target", "kilnc")
    seconds, cpus = [], []
    for _ in range(3):
        os.utime(root / EDITED)
        wall, cpu = run("cmake", "--build", build, "--parallel", JOBS, "--target", "kilnc")
        seconds.append(round(wall, 2))
        cpus.append(round(cpu, 2))
    return {"source": EDITED, "seconds": min(seconds), "cpu_seconds": min(cpus), "all_seconds": seconds}


def main():
    what, path = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    if what == "--of":
        print(json.dumps({"build": of_tree(path)}, indent=1))
        return 0
    with tempfile.TemporaryDirectory(prefix="kiln_build_") as folder:
        build = pathlib.Path(folder)
        if what == "--first":
            figure = cold(path, build, ["kiln", "kilnd", "kiln_demo"])
            gate, value = "first_cpu_minutes", figure["cpu_minutes"]
        elif what == "--suite":
            figure = cold(path, build, [])
            gate, value = "suite_cpu_minutes", figure["cpu_minutes"]
        else:
            figure = edit(path, build)
            gate, value = "edit_seconds", figure["seconds"]
    print(json.dumps({what[2:]: figure, "gate": {gate: GATES[gate], "met": value <= GATES[gate]}}, indent=1))
    return 0 if value <= GATES[gate] else 1


if __name__ == "__main__":
    sys.exit(main())
