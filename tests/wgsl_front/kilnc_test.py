#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kilnc and WGSL: every source of corpus/ and every text that kiln itself emits becomes SPIR-V that
the validator accepts; overrides; exit codes and places.

usage: kilnc_test.py KILNC ROOT
"""
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

KILNC = ""
ROOT = pathlib.Path()
SHIFT = """override kCount : u32 = 3;
@id(7) override kScale = 2.0;
override kDouble = kCount * 2u;
@group(0) @binding(0) var<storage, read_write> out : array<f32, 64>;
@compute @workgroup_size(kCount, 2) fn main(@builtin(local_invocation_index) i : u32) {
  out[i] = f32(kDouble) * kScale;
}
"""


def entries_of(text):
    words = re.search(r"^// entries: (.*)$", text, re.M)[1].split()
    return [word for entry in words for word in ("--entry", entry)]


class Work(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def kilnc(self, *arguments):
        done = subprocess.run([KILNC, "compile", *map(str, arguments)], cwd=self.path, capture_output=True,
                              text=True, check=False, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def compile(self, *arguments):
        """The modules that come out, each valid."""
        shutil.rmtree(self.path / "out", ignore_errors=True)
        code, _, err = self.kilnc(*arguments, "--out", "out", "--meta", "out/meta.json")
        self.assertEqual((code, err), (0, ""), arguments)
        modules = sorted((self.path / "out").glob("*.spv"))
        self.assertTrue(modules)
        for module in modules:
            done = subprocess.run(["spirv-val", "--target-env", "vulkan1.3", module], capture_output=True,
                                  text=True, check=False)
            self.assertEqual(done.returncode, 0, f"{arguments}: {module.name}: {done.stderr}")
        return modules


class Corpus(Work):
    def test_every_source_compiles_and_validates(self):
        sources = sorted((ROOT / "tests/wgsl_front/corpus").glob("*.wgsl"))
        self.assertGreaterEqual(len(sources), 30)
        for source in sources:
            with self.subTest(source=source.name):
                modules = self.compile(source, *entries_of(source.read_text()))
                self.assertEqual(len(modules), len(entries_of(source.read_text())) // 2)


class RoundTrip(Work):
    """What kiln writes is read back."""

    def read_back(self, case, arguments):
        modules, message = self.cases.compile_case(KILNC, arguments, self.path)
        if modules is None:
            self.assertIn("WGSL", message, case)
            return 0
        for stage, text in modules.items():
            file = self.path / f"{stage}.wgsl"
            file.write_text(text)
            name = re.search(rf"@{stage}\b[^;{{]*?\bfn (\w+)", text)[1]
            with self.subTest(case=case, stage=stage):
                self.compile(file, "--entry", f"{stage}={name}")
        return len(modules)

    def test_texts_that_kiln_emits_are_read(self):
        sys.path.insert(0, str(ROOT / "tests/wgsl"))
        import cases  # pylint: disable=import-outside-toplevel,import-error
        self.cases = cases
        count = 0
        for case, arguments in [*cases.demo(ROOT, 3), *cases.uber(ROOT, 12), *cases.acceptance(ROOT)]:
            count += self.read_back(case, arguments)
        self.assertGreater(count, 60)


class Overrides(Work):
    def size_of(self, module):
        words = struct.unpack(f"<{module.stat().st_size // 4}I", module.read_bytes())
        at = 5
        while at < len(words):
            length, op = words[at] >> 16, words[at] & 0xFFFF
            if op == 16 and words[at + 2] == 17:  # OpExecutionMode LocalSize
                return words[at + 3:at + 6]
            at += length
        return None

    def test_values_are_options(self):
        (self.path / "shift.wgsl").write_text(SHIFT)
        (module,) = self.compile("shift.wgsl", "--entry", "compute=main")
        self.assertEqual(self.size_of(module), (3, 2, 1))
        (module,) = self.compile("shift.wgsl", "--entry", "compute=main", "-o", "kCount=5", "-o", "kScale=0.5")
        self.assertEqual(self.size_of(module), (5, 2, 1))

    def test_a_value_of_another_type_is_refused(self):
        (self.path / "shift.wgsl").write_text(SHIFT)
        code, _, err = self.kilnc("shift.wgsl", "--entry", "compute=main", "-o", "kCount=-1", "--out", "out")
        self.assertNotEqual(code, 0)
        self.assertIn("kCount", err)


class Messages(Work):
    def test_an_error_has_its_place(self):
        (self.path / "wrong.wgsl").write_text("fn f() -> u32 {\n  return x;\n}\n")
        code, _, err = self.kilnc("wrong.wgsl", "--entry", "fragment=f")
        self.assertEqual(code, 1)
        self.assertIn("WGSL2005", err)
        self.assertIn("wrong.wgsl:2:10", err)

    def test_one_error_for_each_statement(self):
        (self.path / "wrong.wgsl").write_text("fn f() {\n  let a = b + c;\n  let d = a * e;\n  let g = ;\n}\nfn h() { k(); }\n")
        code, _, err = self.kilnc("wrong.wgsl", "--stage", "parse")
        self.assertEqual((code, err.count("error[")), (1, 1))
        (self.path / "wrong.wgsl").write_text("fn f() {\n  let a = b + c;\n  let d = a * e;\n}\nfn h() { k(); }\n")
        code, _, err = self.kilnc("wrong.wgsl", "--entry", "fragment=h")
        self.assertEqual((code, err.count("error[")), (1, 2))

    def test_stages_print(self):
        (self.path / "a.wgsl").write_text("const a = array<vec2<f32>, 2>();\n")
        code, out, _ = self.kilnc("a.wgsl", "--stage", "lex")
        self.assertEqual((code, out.count("template ")), (0, 4))
        code, out, _ = self.kilnc("a.wgsl", "--stage", "parse")
        self.assertEqual((code, out), (0, "const a = array<vec2<f32>, 2>()\n"))
        code, out, _ = self.kilnc("a.wgsl", "--stage", "lower")
        self.assertEqual(code, 0)
        self.assertIn("module wgsl 1 typed", out)


if __name__ == "__main__":
    KILNC = sys.argv.pop(1)
    ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
