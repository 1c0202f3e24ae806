#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kiln fetch and the other ways to results: what is missing, what is warm, what is there already,
packs; distinct variants; compiling past the cache.

usage: fetch_cli_test.py BUILD_FOLDER ROOT
"""
import json
import shutil
import sys
import unittest

from cli_case import CliCase

WARM = "variants = [ { warm = true, options = { fog = true } }, { options = { skinning = true } } ]"


class Fetch(CliCase):
    def fetched(self, *arguments, code=0):
        """The counts of a fetch."""
        return self.lines(self.kiln("--json", "fetch", *arguments), code)[-1]["counts"]

    def blobs(self, folder="out"):
        return {path.name for path in (self.dir / folder / "blobs").iterdir()}

    def index(self, folder="out"):
        return json.loads((self.dir / folder / "index.json").read_text())

    def named(self, folder="out"):
        """All content that the index names."""
        return {id for row in self.index(folder)
                for id in [*row["code"].values(), row["metadata"]]}

    def test_table_of_bad_input(self):
        self.write_project()
        self.write("root", "no root")
        rows = [
            (["--out", "o"], 2, ["--all"]),
            (["--all", "some", "--out", "o"], 2, ["--all"]),
            (["--all"], 2, ["--out"]),
            (["--all", "--out", "o", "--on-miss", "cry"], 2, ["--on-miss"]),
            (["--all", "--out", "o.kpack", "--have", "h"], 2, ["--have is for a folder"]),
            (["--all", "--out", "o.kpack", "--on-miss", "skip"], 2, ["--on-miss skip"]),
            (["--all", "--out", "o", "--have", "root"], 2, ["32 hex digits"]),
            (["--all", "--out", "o", "--warm"], 3, ["warm = true"]),
            (["nobody", "--out", "o"], 3, ["no program 'nobody'"]),
        ]
        for arguments, code, texts in rows:
            with self.subTest(arguments=arguments):
                self.expect(self.kiln("fetch", *arguments), code, *texts)
        self.assertFalse((self.dir / "o").exists())

    def test_on_miss_table(self):
        self.write_project()
        counts = self.fetched("--all", "--on-miss", "skip", "--out", "out")
        self.assertEqual((counts["results"], counts["blobs"], counts["skipped"]), (0, 0, 4))
        self.assertEqual(self.index(), [])
        self.expect(self.kiln("fetch", "--all", "--on-miss", "fail", "--out", "fail"), 3,
                    "4 of 4 variants are not in the cache", "kiln build")
        self.assertFalse((self.dir / "fail/index.json").exists())
        self.expect(self.kiln("compile", "some", "-o", "fog"), 0)
        counts = self.fetched("--all", "--on-miss", "skip", "--out", "out")
        self.assertEqual((counts["results"], counts["skipped"]), (1, 3))
        self.assertEqual(self.named(), self.blobs())
        said = self.expect(self.kiln("fetch", "--all", "--on-miss", "skip", "--out", "out"), 0)
        self.assertIn("skipped 3 variants", said.stdout)
        counts = self.fetched("--all", "--out", "out")  # compiled unless something else is said
        self.assertEqual((counts["results"], counts["skipped"]), (4, 0))
        for on_miss in "skip", "fail", "compile":
            with self.subTest(on_miss=on_miss):
                counts = self.fetched("--all", "--on-miss", on_miss, "--out", on_miss)
                self.assertEqual((counts["results"], counts["skipped"]), (4, 0))
                self.assertEqual(self.blobs(on_miss), self.blobs())

    def test_warm_ones_alone(self):
        self.write_project(extra=WARM)
        counts = self.fetched("--all", "--warm", "--out", "out")
        self.assertEqual(counts["results"], 1)
        counts = self.fetched("--all", "--warm", "--on-miss", "fail", "--out", "again")
        self.assertEqual(counts["results"], 1)
        self.assertEqual(self.index("again"), self.index())
        self.expect(self.kiln("fetch", "--all", "--on-miss", "fail", "--out", "all"), 3)

    def test_have_sends_nothing_twice(self):
        self.write_project()
        arguments = ["--all", "--have", "have", "--out", "out"]
        first = self.fetched(*arguments)
        root = (self.dir / "have").read_text()
        self.assertRegex(root, r"^[0-9a-f]{32}\n$")
        self.assertGreater(first["blobs"], 0)
        again = self.fetched(*arguments)
        self.assertEqual((again["results"], again["blobs"], again["bytes"]),
                         (first["results"], 0, 0))
        self.assertEqual(self.named(), self.blobs())
        self.write_project("vertex_stage_output_position (f4 {3.0});")
        changed = self.fetched(*arguments)
        self.assertGreater(changed["blobs"], 0)
        self.assertNotEqual((self.dir / "have").read_text(), root)
        self.assertLessEqual(self.named(), self.blobs())
        skipping = self.fetched("--on-miss", "skip", *arguments)
        self.assertEqual((skipping["results"], skipping["blobs"]), (4, 0))
        # A folder that was emptied gets everything, whatever the root says.
        shutil.rmtree(self.dir / "out")
        self.assertGreater(self.fetched(*arguments)["blobs"], 0)
        self.assertEqual(self.named(), self.blobs())
        # So does one in which a file is not what it was.
        blob = max((self.dir / "out" / "blobs").iterdir(), key=lambda path: path.stat().st_size)
        whole = blob.read_bytes()
        for what, change in {"changed": lambda: blob.write_bytes(b"?" + whole[1:]),
                             "cut": lambda: blob.write_bytes(whole[:-1]),
                             "longer": lambda: blob.write_bytes(whole + b"?"),
                             "gone": blob.unlink}.items():
            with self.subTest(what=what):
                change()
                self.assertGreater(self.fetched(*arguments)["blobs"], 0)
                self.assertEqual(blob.read_bytes(), whole)
        self.assertEqual(self.fetched(*arguments)["blobs"], 0)
        # A root that the daemon has forgotten saves nothing, and that is all.
        self.write("have", "0" * 31 + "1\n")
        self.assertGreater(self.fetched(*arguments)["blobs"], 0)

    def test_pack_as_out(self):
        self.write_project(extra=WARM)
        self.expect(self.kiln("fetch", "--all", "--on-miss", "fail", "--out", "none.kpack"), 3)
        self.assertFalse((self.dir / "none.kpack").exists())
        self.expect(self.kiln("fetch", "--all", "--out", "all.kpack"), 0, "fetched 4 results")
        self.expect(self.kiln("pack", "verify", "all.kpack"), 0, "sound")
        self.expect(self.kiln("pack", "build", "--out", "built.kpack"), 0)
        self.assertEqual((self.dir / "all.kpack").read_bytes(),
                         (self.dir / "built.kpack").read_bytes())
        self.expect(self.kiln("fetch", "--all", "--warm", "--out", "warm.kpack"), 0,
                    "fetched 1 results")
        self.expect(self.kiln("fetch", "--all", "--on-miss", "fail", "--out", "known.kpack"), 0)
        self.assertEqual((self.dir / "known.kpack").read_bytes(),
                         (self.dir / "all.kpack").read_bytes())

    def test_wrong_source_is_told_by_every_way(self):
        self.write_project("x;")
        self.expect(self.kiln("fetch", "--all", "--out", "out"), 1, "RPL6001")
        self.lines(self.kiln("--json", "fetch", "--all", "--out", "out"), 1)
        self.expect(self.kiln("fetch", "--all", "--out", "out.kpack"), 1, "RPL6001")
        self.assertFalse((self.dir / "out.kpack").exists())
        self.expect(self.kiln("fetch", "--all", "--on-miss", "skip", "--out", "out"), 1, "RPL6001")

    # -- other ways

    def test_distinct_shows_one_variant_of_each_result(self):
        self.write("fog.rpl", """
global fog: flag false;
global idle: enum "a" "b" "c";
void v (void)
{
    vertex_stage_output_position (f4 {0.0});
    conditional (fog) { vertex_stage_output_position (f4 {1.0}); }
}
""")
        self.write("kiln.toml", """[project]
manifest = 1
[[program]]
name = "fog"
sources = ["fog.rpl"]
entry_points = { vertex = "v" }
axes = { fog = "*", idle = "*" }
""")

        def rows(*flags):
            return [row for row in self.lines(self.kiln("--json", "options", "fog", *flags))
                    if row["type"] == "variant"]
        self.assertEqual(len(rows("--list")), 6)
        for built in False, True:
            with self.subTest(built=built):
                self.assertEqual([row["options"]["fog"] for row in rows("--distinct")],
                                 [False, True])
                self.assertEqual(len(rows("--distinct", "--list", "1")), 1)
                self.assertEqual(len(rows("--distinct", "--where", "fog")), 1)
                self.assertEqual(rows(), [])
            self.expect(self.kiln("build"), 0)
        self.assertTrue(all(row["signature"] for row in rows("--distinct")))
        self.expect(self.kiln("options", "fog", "--distinkt"), 2, "did you mean '--distinct'?")

    def test_no_cache_neither_reads_nor_writes(self):
        self.write_project()
        compile_it = ["compile", "some", "-o", "fog"]
        past = self.lines(self.kiln("--json", *compile_it, "--no-cache", "--out", "past"))
        self.assertEqual([row["origin"] for row in past if row["type"] == "item"], ["compiled"])
        self.assertFalse((self.dir / "cache").exists())
        self.assertFalse((self.dir / "run").exists(), "a shared daemon was started")
        self.assertEqual(list((self.dir / "tmp").iterdir()), [])
        shared = self.lines(self.kiln("--json", *compile_it, "--out", "shared"))
        self.assertEqual(shared[0]["origin"], "compiled")
        self.assertNotEqual(self.lines(self.kiln("--json", *compile_it))[0]["origin"], "compiled")
        again = self.lines(self.kiln("--json", *compile_it, "--no-cache"))
        self.assertEqual(again[0]["origin"], "compiled")
        for path in (self.dir / "past").iterdir():
            self.assertEqual(path.read_bytes(), (self.dir / "shared" / path.name).read_bytes())
        self.expect(self.kiln(*compile_it, "--no-cache", "--explain"), 0, "miss: first_seen")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
