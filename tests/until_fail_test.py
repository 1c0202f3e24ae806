#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""until_fail.py over small suites: it finds what fails some of the time, and believes nothing else.

usage: until_fail_test.py
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).with_name("until_fail.py")
# Fails each second time: a file is there, or it is not.
NOW_AND_THEN = 'sh "-c" "if rm there; then echo it is there; exit 1; else touch there; fi"'


class UntilFail(unittest.TestCase):
    def run_over(self, tests, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            lines = [f"add_test({name} {command})\n{properties}" for name, command, properties in tests]
            (pathlib.Path(folder) / "CTestTestfile.cmake").write_text("\n".join(lines))
            result = subprocess.run([sys.executable, str(SCRIPT), folder, *arguments],
                                    capture_output=True, text=True)
        return result.returncode, json.loads(result.stdout), result.stderr

    def test_suite_that_passes(self):
        code, found, told = self.run_over([("one", "true", ""), ("two", "true", "")], "--rounds", "2",
                                          "--at-once", "2", "--busy", "1")
        self.assertEqual((code, found["ok"], found["failed_in_rounds"]), (0, True, {}))
        self.assertEqual([row["passed"] for row in found["rounds"]], [2, 2])
        self.assertIn("round 2 of 2: 2 passed", told)

    def test_what_fails_now_and_then(self):
        tests = [("steady", "true", ""), ("unsteady", NOW_AND_THEN, "")]
        code, found, _ = self.run_over(tests, "--rounds", "4")
        self.assertEqual((code, found["ok"], found["failed_in_rounds"]), (1, False, {"unsteady": 2}))
        self.assertEqual([row["failed"] for row in found["rounds"]], [0, 1, 0, 1])
        self.assertIn("it is there", found["rounds"][1]["failures"][0]["output"])
        code, found, _ = self.run_over(tests, "--rounds", "4", "--stop")
        self.assertEqual((code, found["ok"], len(found["rounds"])), (1, False, 2))

    def test_what_is_no_success(self):
        skipped = 'set_tests_properties(one PROPERTIES SKIP_RETURN_CODE 77)'
        late = 'set_tests_properties(one PROPERTIES TIMEOUT 1)'
        for what, tests, failed in (
                ("nothing to run", [], 0),
                ("all skipped", [("one", 'sh "-c" "exit 77"', skipped)], 0),
                ("too late", [("one", 'tail "-f" "/dev/null"', late)], 1),
                ("no such program", [("one", "/nowhere/program", "")], 1),
                ("switched off", [("one", "true", 'set_tests_properties(one PROPERTIES DISABLED TRUE)')], 1),
                ("killed", [("one", 'sh "-c" "kill -9 $$"', "")], 1)):
            with self.subTest(what):
                code, found, _ = self.run_over(tests)
                self.assertEqual((code, found["ok"]), (1, False))
                self.assertEqual(sum(row["failed"] for row in found["rounds"]), failed)
                self.assertEqual("No tests were found" in found["rounds"][0].get("error", ""), not tests)

    def test_file_that_grows_with_the_rounds(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "rounds.json"
            # The second round's test finds the report of the first.
            reads = f'{sys.executable} "-c" "import os; assert os.path.exists(\'{file}\')"'
            _, found, _ = self.run_over([("one", reads, "")], "--rounds", "2", "--json", str(file))
            self.assertEqual([row["failed"] for row in found["rounds"]], [1, 0])
            self.assertEqual(json.loads(file.read_text()), found)

    def test_tests_that_are_chosen(self):
        tests = [("one", "true", ""), ("two", "false", ""), ("three", "false", "")]
        self.assertEqual(self.run_over(tests, "--tests", "^one$")[0], 0)
        self.assertEqual(self.run_over(tests, "--without", "two|three")[0], 0)
        self.assertEqual(self.run_over(tests, "--tests", "two")[0], 1)

    def test_cores_are_those_of_all_that_runs(self):
        core = min(os.sched_getaffinity(0))
        shows = f'{sys.executable} "-c" "import os; assert os.sched_getaffinity(0) == {{{core}}}, os.sched_getaffinity(0)"'
        code, found, _ = self.run_over([("one", shows, "")], "--cores", str(core))
        self.assertEqual((code, found["cores"]), (0, [core]), found)


if __name__ == "__main__":
    unittest.main()
