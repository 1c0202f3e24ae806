#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_citations.py over a small tree that is right, and over the same tree with one fault.

usage: check_citations_test.py
"""
import pathlib
import tempfile
import unittest

import check_citations

CACHE = """# Cache

## 1. Purpose
1.1 It remembers.

### 8.4 Leases
1. They end.

**8.4.1** They are renewed.

| row | what |
|---|---|
| 8.5 | a row |

```
9.9 text between fences is no section
```

## Appendix A. Traps

## State

| section | state | what shows it |
|---|---|---|
| 1.1, 8.4 leases | done | `Lease.*`, `Lease.Old_Ends`, `lease_test`, `both_cli`, `cli: test_leases` |
| 8.4 to 8.5, Appendix A | part | rows are few |
"""
TREE = {
    "README.md": "Read [the law](docs/spec/cache.md).\n",
    "docs/spec/cache.md": CACHE,
    "cache/lease.h": "// See spec/cache 1.1, 8.4,\n// 8.4.1 and 8.5. `spec/cache 8.4.1`; spec/cache. RFC 8410 §10.3\n",
    "cache/lease_test.cc": "TEST_F(Lease, Old_Ends) {}\nTEST(Lease, New_Stays) {}\n",
    "cache/CMakeLists.txt": "kiln_test(\n  lease_test\n  SRCS lease_test.cc)\nforeach(word one both)\n"
                            "  add_test(NAME ${word}_cli COMMAND x)\nendforeach()\n",
    "tests/cli_test.py": "class Cli:\n    def test_leases(self):\n        pass\n",
    "tests/pictures/a.bin": b"\xff\xfe\x00",
}


def faults_of(tree):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in tree.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return check_citations.faults(root)[0]


def with_text(name, text):
    return TREE | {name: text}


def with_row(row):
    return with_text("docs/spec/cache.md", CACHE + row + "\n")


class CheckCitations(unittest.TestCase):
    def test_right_tree_has_no_fault(self):
        self.assertEqual(faults_of(TREE), [])

    def test_citations_of_what_is_not_there(self):
        for text, fault in (
                ("// See spec/stack 1.1", "a.h:1: no document docs/spec/stack.md"),
                ("// See spec/cache 1.2", "a.h:1: spec/cache has no section 1.2"),
                ("int a;\n// See spec/cache 1.1, 8.4,\n// 7.1", "a.h:2: spec/cache has no section 7.1"),
                ("// `spec/cache 8.4 to 8.6`", "a.h:1: spec/cache has no section 8.6"),
                ("// spec/cache\n// 2.1", "a.h:1: spec/cache has no section 2.1"),
                ("// spec/cache 9.9", "a.h:1: spec/cache has no section 9.9"),
                ("// spec/cache 8.4.2", "a.h:1: spec/cache has no section 8.4.2")):
            with self.subTest(text=text):
                self.assertEqual(faults_of(with_text("cache/a.h", text)), ["cache/" + fault])

    def test_other_forms(self):
        for text in ("cache §8.4", "§8.4", "`cache.md` §8.4", "cache.md 8.4", "docs/spec/cache.md 8.4", "layout.md, section 17", "daemon.md",
                     "daemon 6.2", "Spec: cli 4", "(pso_runtime 5.2)", "(10.1)", "(7.3 step 2)", "issue 5", "Issues 20",
                     "shared/spec/rpl.md"):
            with self.subTest(text=text):
                found = faults_of(with_text("cache/a.h", f"\n// A sentence {text}\n"))
                self.assertTrue(found and found[0].startswith("cache/a.h:2: "), found)

    def test_what_is_no_citation(self):
        for text in ("rpl 2; f1 x;", "R\"(rpl 2;", "kept in the cache 64 MiB long", "// between (0.5) and (1.0)", "vec4 (1.5)",
                     "// See docs/spec/cache.md", "FIPS 180-4 §5.1", "users/operations.md", "// reissue 5 of them"):
            with self.subTest(text=text):
                self.assertEqual(faults_of(with_text("cache/a.h", text)), [])

    def test_rows_of_a_state_table(self):
        for row, fault in (
                ("| 8.6 more | done | `Lease.*` |", "no section 8.6"),
                ("| leases | done | `Lease.*` |", "no section leases"),
                ("| 8.4 | nearly | `Lease.*` |", "state 'nearly' is none of done, part, deviates, not built"),
                ("| 8.4 | done | `Lease.Older_*` |", "no test Lease.Older_*"),
                ("| 8.4 | done | `Leases.Old_Ends` |", "no test Leases.Old_Ends"),
                ("| 8.4 | done | `rent_test` |", "no test rent_test"),
                ("| 8.4 | done | `cli: test_rents` |", "no test cli: test_rents"),
                ("| 8.4 | done | `pack: test_leases` |", "no test pack: test_leases"),
                ("| 8.4 | done |", "2 cells instead of 3")):
            with self.subTest(row=row):
                line = CACHE.count("\n") + 1
                self.assertEqual(faults_of(with_row(row)), [f"docs/spec/cache.md:{line}: {fault}"])

    def test_rows_of_findings(self):
        head = "| finding | what is true now | shown by |\n|---|---|---|\n"
        for row, fault in (
                ("| C1 | it holds | `Lease.Old_Ends`, `Lease.*`, `both_cli` |", []),
                ("| C1 | it holds | `cli: test_leases` (three rows) |", []),
                ("| C1 | answered | none: nobody can try it |", []),
                ("| C1 | it holds | |", ["no test, and no 'none: ' with a reason"]),
                ("| C1 | it holds | none: |", ["no test, and no 'none: ' with a reason"]),
                ("| C1 | it holds | read, not run |", ["no test, and no 'none: ' with a reason"]),
                ("| C1 | it holds | `Lease.Older_*` |", ["no test Lease.Older_*"]),
                ("| C1 | it holds | `Lease.Old_Ends`, `rent_test` |", ["no test rent_test"]),
                ("| C1 | it holds |", ["2 cells instead of 3"])):
            with self.subTest(row=row):
                self.assertEqual(faults_of(with_text("docs/FINDINGS.md", head + row + "\n")),
                                 ["docs/FINDINGS.md:3: " + text for text in fault])

    def test_tests_that_arguments_name(self):
        for text, fault in (
                ("*Test:* `Lease.Old_Ends`, `Lease.*`, `Lease.Old_…`, `Call::may_write`, `cache/lease.cc`, `RFC 1`", []),
                ("`Lease.Older_…`", ["no test Lease.Older_…"]),
                ("`Rent.*`", ["no test Rent.*"])):
            with self.subTest(text=text):
                self.assertEqual(faults_of(with_text("docs/SECURITY.md", text)),
                                 ["docs/SECURITY.md:1: " + one for one in fault])

    def test_rows_of_diagnostics(self):
        codes = 'KILN_CODE(kA, "LAY1001", "a", kError, "a \'{name}\'")\nKILN_CODE(kB, "LAY1002", "b", kWarning, "b")\n'
        rows = "| LAY1001 | E | a '{name}' |\n", "| LAY1002 | W | b |\n"
        for table, fault in (
                (rows[0] + rows[1], []),
                (rows[0], ["1: no row for LAY1002"]),
                (rows[0] + "| LAY1002 | E | b |\n", ["2: LAY1002 is not as in compiler/diag/codes.def"]),
                ("| LAY1001 | E | a |\n" + rows[1], ["1: LAY1001 is not as in compiler/diag/codes.def"]),
                (rows[0] + rows[1] + "| LAY1003 | E | c |\n", ["3: LAY1003 is not as in compiler/diag/codes.def"])):
            with self.subTest(table=table):
                end = "\n## State\n\n| section | state | what shows it |\n|---|---|---|\n"
                tree = TREE | {"docs/spec/layout.md": table + end, "compiler/diag/codes.def": codes}
                self.assertEqual(faults_of(tree), ["docs/spec/layout.md:" + text for text in fault])

    def test_document_without_a_state_table(self):
        found = faults_of(with_text("docs/spec/cache.md", CACHE.split("## State")[0]))
        self.assertEqual(found, ["docs/spec/cache.md:1: no section '## State'"])


if __name__ == "__main__":
    unittest.main()
