#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a build costs around the compiler, by number of workers: docs/bench/CORES.md has what it gave.

usage: cores.py BIN_DIR [--generator make_project.py] [--project FOLDER] [--workers 1 2 4 16]
                [--layers 16] [--ram /dev/shm] [--perf]

Needs kiln and kilnd in BIN_DIR and nothing else: a project is FOLDER, or written by the generator
into a new one. For each number of workers a daemon starts with an empty cache in memory; then three
builds: cold, again with nothing changed, and again with one function of one material edited. Prints
one line of JSON for each, one of the figures that have gates, and a table. The file of the cache is
measured when the daemon has stopped. --perf adds a profile by thread and library of the cold build,
if perf may look at processes.
"""
import argparse
import collections
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
WALL = re.compile(r"wall ([0-9.]+) s\s+compile cpu ([0-9.]+) s")
RESULTS = re.compile(r"(\d+) cached\s+(\d+) compiled")


def cpu_of(path):
    """User and system seconds of a stat file."""
    fields = Path(path).read_text().rsplit(") ", 1)[1].split()
    return int(fields[11]) / TICKS, int(fields[12]) / TICKS


def threads_of(pid):
    """(user, system, context switches) by name of thread."""
    sums = collections.defaultdict(lambda: [0.0, 0.0, 0])
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            user, system = cpu_of(task / "stat")
            name = (task / "comm").read_text().strip()
            switches = sum(int(n) for n in re.findall(r"ctxt_switches:\s+(\d+)",
                                                      (task / "status").read_text()))
        except OSError:
            continue  # it has ended
        row = sums[name]
        row[0] += user
        row[1] += system
        row[2] += switches
    return sums


def nanoseconds_of(pid):
    """CPU time by thread: finer than the ticks of stat, without the threads that have ended."""
    spent = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            spent[task.name] = int((task / "schedstat").read_text().split()[0])
        except OSError:
            continue
    return spent


def memory_of(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return {name: int(re.search(rf"{name}:\s+(\d+)", status).group(1)) // 1024
            for name in ("VmRSS", "VmHWM")}


class Daemon:
    def __init__(self, options, workers, ram):
        self.options, self.ram = options, ram
        self.cache = ram / "cache"
        shutil.rmtree(self.cache, ignore_errors=True)
        socket = ram / "kilnd.sock"
        self.env = dict(os.environ, HOME=str(ram), XDG_RUNTIME_DIR=str(ram),
                        KILN_CACHE_DIR=str(self.cache), KILN_DAEMON=f"unix:{socket}")
        self.process = subprocess.Popen(
            [options.bin / "kilnd", "--listen.unix", socket, "--cache.dir", self.cache,
             "--jobs.workers", str(workers), "--jobs.polite", "false"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.env)
        for _ in range(100):
            if self.kiln("status", check=False).returncode == 0:
                return
            time.sleep(0.1)
        sys.exit("the daemon does not answer")

    def kiln(self, *words, check=True):
        return subprocess.run([self.options.bin / "kiln", *words], env=self.env, check=check,
                              capture_output=True, text=True)

    def build(self, project, what, workers):
        pid = self.process.pid
        user, system = cpu_of(f"/proc/{pid}/stat")
        before = threads_of(pid)
        fine_before = nanoseconds_of(pid)
        begun = time.monotonic()
        said = self.kiln("--manifest", str(project / "kiln.toml"), "build")
        client_s = time.monotonic() - begun
        now_user, now_system = cpu_of(f"/proc/{pid}/stat")
        text = said.stdout + said.stderr
        wall, compiling = (float(n) for n in WALL.search(text).groups())
        cached, compiled = (int(n) for n in RESULTS.search(text).groups())
        cpu = now_user - user + now_system - system
        fine = sum(spent - fine_before.get(task, 0)
                   for task, spent in nanoseconds_of(pid).items()) / 1e9
        row = {"workers": workers, "build": what, "wall_s": wall, "client_s": round(client_s, 3),
               "compile_cpu_s": compiling, "cpu_s": round(cpu, 2),
               "system_share": round((now_system - system) / cpu, 3) if cpu else 0,
               "cpu_fine_s": round(fine, 4),
               "cpu_of_compiling": round(fine / compiling, 2) if compiling else None,
               "cached": cached, "compiled": compiled, **memory_of(pid),
               "database_bytes": sum(f.stat().st_size for f in self.cache.glob("cache.db*")),
               "threads": {}}
        for name, after in sorted(threads_of(pid).items(), key=lambda t: -sum(t[1][:2])):
            was = before.get(name, (0, 0, 0))
            spent = [round(a - b, 2) for a, b in zip(after, was)]
            if spent[0] + spent[1] >= 0.05:
                row["threads"][name] = {"user_s": spent[0], "system_s": spent[1],
                                        "switches": int(spent[2])}
        print(json.dumps(row), flush=True)
        return row

    def stop(self):
        self.kiln("stop", check=False)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def content_bytes(self):
        """Bytes of the file of the cache, and raw ones of all that it holds. After stop()."""
        file = self.cache / "cache.db"
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
            raw = database.execute("SELECT sum(raw_size) FROM blob").fetchone()[0]
        return file.stat().st_size, raw


def made_project(options, folder):
    if options.project:
        shutil.copytree(options.project, folder, dirs_exist_ok=True)
        return folder
    folder.mkdir()
    subprocess.run([sys.executable, options.generator.resolve()], cwd=folder, check=True)
    manifest = folder / "kiln.toml"
    layers = ", ".join(str(n) for n in range(1, options.layers + 1))
    manifest.write_text(re.sub(r"layers = \[.*?\]", f"layers = [{layers}]", manifest.read_text()))
    return folder


def edit_one_function(project):
    """Changes a constant in a body of the first material that has one."""
    for source in sorted(project.glob("materials/*.rpl")):
        text = source.read_text()
        edited = re.sub(r"\* 0\.5;", "* 0.25;", text, count=1)
        if edited != text:
            source.write_text(edited)
            return True
    return False


# Of one worker, 92,200 variants; the ratio of bytes is that of the demo.
GATES = {"cold_of_compiling": 2.0, "edit_of_compiling": 1.3, "resident_mib": 256,
         "bytes_of_raw": 0.08}


def figures_of(rows, sizes):
    """What the gates are about: of the run with fewest workers."""
    of = {row["build"]: row for row in rows if row["workers"] == min(r["workers"] for r in rows)}
    figures = {"cold_of_compiling": of["cold"]["cpu_of_compiling"],
               "edit_of_compiling": of.get("edited", {}).get("cpu_of_compiling"),
               "resident_mib": max(row["VmRSS"] for row in of.values()),
               "bytes_of_raw": round(sizes[0] / sizes[1], 4)}
    return {name: {"value": value, "gate": GATES[name],
                   "ok": value is not None and value <= GATES[name]}
            for name, value in figures.items()}


def start_perf(pid, out):
    return subprocess.Popen(["perf", "record", "-F", "499", "-p", str(pid), "-o", out],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def show_perf(perf, out):
    perf.send_signal(signal.SIGINT)
    perf.wait()
    report = subprocess.run(["perf", "report", "-i", out, "--stdio", "--no-children",
                             "--sort", "comm,dso", "--percent-limit", "0.5"],
                            capture_output=True, text=True, check=False).stdout
    print("\n".join(line.rstrip() for line in report.splitlines()
                    if line.strip() and not line.startswith("#")))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin", type=Path)
    parser.add_argument("--generator", type=Path)
    parser.add_argument("--project", type=Path)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 16])
    parser.add_argument("--layers", type=int, default=16)
    parser.add_argument("--ram", default="/dev/shm" if os.path.isdir("/dev/shm") else None)
    parser.add_argument("--perf", action="store_true")
    options = parser.parse_args()
    options.bin = options.bin.resolve()
    if bool(options.generator) == bool(options.project):
        parser.error("either a generator or a project")
    rows = []
    sizes = None
    for workers in options.workers:
        ram = Path(tempfile.mkdtemp(prefix="kiln-cores.", dir=options.ram))
        try:
            project = made_project(options, ram / "project")
            daemon = Daemon(options, workers, ram)
            out = str(ram / "perf.data")
            perf = start_perf(daemon.process.pid, out) if options.perf else None
            rows.append(daemon.build(project, "cold", workers))
            if perf:
                show_perf(perf, out)
            rows.append(daemon.build(project, "again", workers))
            if edit_one_function(project):
                rows.append(daemon.build(project, "edited", workers))
            daemon.stop()
            sizes = sizes or daemon.content_bytes()
        finally:
            shutil.rmtree(ram, ignore_errors=True)
    print(json.dumps({"figures": figures_of(rows, sizes), "database_bytes": sizes[0],
                      "raw_bytes": sizes[1]}))
    print("workers build    wall s  cpu s  compiling s  x  system  RSS MiB  database MiB")
    for row in rows:
        print(f"{row['workers']:7} {row['build']:7} {row['wall_s']:7.2f} {row['cpu_s']:6.2f}"
              f" {row['compile_cpu_s']:11.2f} {row['cpu_of_compiling'] or 0:4.1f}"
              f" {row['system_share']:6.0%} {row['VmRSS']:7} {row['database_bytes'] / 2**20:10.1f}")


if __name__ == "__main__":
    main()
