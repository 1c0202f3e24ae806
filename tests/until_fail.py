#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the suite again and again, in another random order each time, many tests at once, beside
processes that only burn time and on as few cores as one likes: what then fails was true by luck.

usage: until_fail.py BUILD [--rounds N] [--at-once K] [--busy B] [--cores LIST] [--stop]
                     [--tests REGEX] [--without REGEX] [--timeout SECONDS] [--json FILE]

  --rounds N       how often (1)
  --at-once K      tests at a time (as many as there are cores)
  --busy B         busy loops beside them, on the same cores (0)
  --cores LIST     cores for all of it, such as 0 or 0-3,6 (all)
  --stop           end at the first round in which something failed
  --tests REGEX    of names of tests, as ctest -R
  --without REGEX  as ctest -E
  --timeout S      of a test that has none of its own (1500)
  --json FILE      gets the object, too, after every round: a run of hours may be cut off

Prints one JSON object: what ran how, and each round with its seconds, counts and failures, each with
the end of what it printed, or what ctest said where no test ran. Progress goes to stderr. Exit 1 if
anything failed or nothing ran.
"""
import argparse
import collections
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

KEPT_OUTPUT = 8000  # characters of a test that failed
# Ends by itself when whoever started it is gone.
BUSY = "import os, sys\nwhile os.getppid() == int(sys.argv[1]):\n    sum(range(100000))\n"


def cores_of(text):
    """"0-2,5" -> {0, 1, 2, 5}"""
    cores = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        cores |= set(range(int(first), int(last or first) + 1))
    return cores


@contextlib.contextmanager
def busy_loops(count):
    loops = [subprocess.Popen([sys.executable, "-c", BUSY, str(os.getpid())]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def ctest_command(arguments, report):
    command = ["ctest", "--test-dir", arguments.build, "--schedule-random", "--no-tests=error",
               "--parallel", str(arguments.at_once), "--output-junit", str(report),
               "--test-output-size-failed", str(1 << 20), "--timeout", str(arguments.timeout)]
    command += ["-R", arguments.tests] if arguments.tests else []
    return command + (["-E", arguments.without] if arguments.without else [])


def results_of(report):
    """(name, seconds, passed | skipped | failed, output) of every test of a JUnit report of ctest."""
    for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
        status, skipped = case.get("status"), case.find("skipped")
        # What could not be started is said to be skipped, too, for another reason.
        by_itself = status == "notrun" and skipped is not None and skipped.get("message", "").startswith("SKIP_")
        state = "passed" if status == "run" else "skipped" if by_itself else "failed"
        yield case.get("name"), float(case.get("time", 0)), state, case.findtext("system-out") or ""


def run_round(arguments):
    """One round as the JSON has it."""
    with tempfile.TemporaryDirectory(prefix="until_fail_") as folder:
        report = pathlib.Path(folder) / "report.xml"
        begun = time.monotonic()
        ended = subprocess.run(ctest_command(arguments, report), stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace")
        found = {"seconds": round(time.monotonic() - begun, 1), "exit": ended.returncode,
                 "passed": 0, "skipped": 0, "failed": 0, "failures": []}
        results = list(results_of(report)) if report.exists() else []
        for name, seconds, state, output in results:
            found[state] += 1
            if state == "failed":
                found["failures"].append({"test": name, "seconds": seconds, "output": output[-KEPT_OUTPUT:]})
        if not results:
            found["error"] = ended.stdout[-KEPT_OUTPUT:]
        return found


def went_well(found):
    return found["exit"] == 0 and not found["failures"] and found["passed"] > 0


def parse_arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=os.cpu_count())
    parser.add_argument("--busy", type=int, default=0)
    parser.add_argument("--cores", type=cores_of, default=os.sched_getaffinity(0))
    parser.add_argument("--stop", action="store_true")
    parser.add_argument("--tests")
    parser.add_argument("--without")
    parser.add_argument("--timeout", type=int, default=1500)
    parser.add_argument("--json", type=pathlib.Path)
    return parser.parse_args()


def report_of(arguments, rounds):
    failed = collections.Counter(failure["test"] for found in rounds for failure in found["failures"])
    return json.dumps({"at_once": arguments.at_once, "busy": arguments.busy, "cores": sorted(arguments.cores),
                       "ok": all(map(went_well, rounds)) and len(rounds) == arguments.rounds,
                       "failed_in_rounds": dict(failed.most_common()), "rounds": rounds}, indent=1)


def main():
    arguments = parse_arguments()
    os.sched_setaffinity(0, arguments.cores)  # what is started from now on has them, too
    rounds = []
    with busy_loops(arguments.busy):
        for number in range(1, arguments.rounds + 1):
            found = run_round(arguments)
            rounds.append(found)
            names = [failure["test"] for failure in found["failures"]]
            print(f"round {number} of {arguments.rounds}: {found['passed']} passed, {found['skipped']} skipped, "
                  f"{found['failed']} failed in {found['seconds']} s {' '.join(names)}", file=sys.stderr, flush=True)
            if arguments.json:
                arguments.json.write_text(report_of(arguments, rounds))
            if arguments.stop and not went_well(found):
                break
    print(report_of(arguments, rounds))
    return 0 if rounds and all(map(went_well, rounds)) else 1


if __name__ == "__main__":
    sys.exit(main())
