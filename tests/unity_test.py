#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which sources share a unit (cmake/unity.py), and which must not.

usage: unity_test.py ROOT
"""
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "cmake"))
import unity  # noqa: E402

HEAD = '#include <string>\n\nnamespace kiln {\nnamespace {\n\n'
TAIL = '\n}}  // namespace\n\nint Of{0}() {{ return {1}; }}\n\n}}  // namespace kiln\n'


def source(name, internal, used="1"):
    return HEAD + internal + TAIL.format(name, used)


class Names(unittest.TestCase):
    def check(self, text, names):
        self.assertEqual(unity.internal_names(unity.plain(HEAD + text + TAIL.format("X", "1"))), set(names))

    def test_every_kind_of_declaration_has_its_name(self):
        for text, names in (
                ("int Count(int value) { return value; }\n", ["Count"]),
                ("constexpr size_t kMost = 3;\n", ["kMost"]),
                ("constexpr std::array<int, 3> kRows = {1, 2, 3};\n", ["kRows"]),
                ("struct Row {\n  int member = 0;\n};\n", ["Row"]),
                ("enum class Kind { kOne, kTwo };\n", ["Kind"]),
                ("enum Code { kGood, kBad };\n", ["Code", "kGood", "kBad"]),
                ("using Json = nlohmann::json;\n", ["Json"]),
                ("using spv::Op;\n", ["Op"]),
                ("template <class T>\nT Twice(T value) {\n  return value + value;\n}\n", ["Twice"]),
                ("std::map<std::string, std::vector<int>, std::less<>>\n    Rows(int count) {\n  return {};\n}\n", ["Rows"]),
                ("void Row::Add(int value) { rows += value; }\n", []),
                ("// int Comment(int value);\n", [])):
            with self.subTest(text):
                self.check(text, names)

    def test_names_outside_are_everybodys(self):
        self.assertEqual(unity.internal_names("namespace kiln {\nint Known() { return 1; }\n}\n"), set())
        self.assertEqual(unity.internal_names("static int Hidden() { return 1; }\n"), {"Hidden"})


class Units(unittest.TestCase):
    def group(self, **sources):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for name, text in sources.items():
                paths.append(f"{folder}/{name}.cc")
                pathlib.Path(paths[-1]).write_text(text)
            return [[pathlib.Path(path).stem for path in unit] for unit in unity.group(paths)]

    def test_sources_with_names_of_their_own_share_a_unit(self):
        self.assertEqual(self.group(a=source("A", "int Read() { return 1; }\n"), b=source("B", "int Write() { return 1; }\n")),
                         [["a", "b"]])

    def test_one_internal_name_twice_is_two_units(self):
        text = "int Read() { return 1; }\n"
        self.assertEqual(self.group(a=source("A", text), b=source("B", text)), [["a"], ["b"]])

    def test_a_name_that_another_looks_up_is_two_units(self):
        # An overload that b never saw could be the better one.
        a = source("A", "int Read(const char* text) { return *text; }\n")
        self.assertEqual(self.group(a=a, b=source("B", "int Own() { return 1; }\n", "Read(\"x\")")), [["a"], ["b"]])
        self.assertEqual(self.group(b=source("B", "int Own() { return 1; }\n", "kiln::Read(\"x\")"), a=a), [["b"], ["a"]])

    def test_a_name_of_a_header_that_another_brings_is_two_units(self):
        header = '#include "client/cli/output/print.h"\n'
        self.assertIn("Lines", unity.declared_by(ROOT / "client/cli/output/print.h"))
        lines = source("B", "using Lines = int;\n")
        self.assertEqual(self.group(a=header + source("A", "int Own() { return 1; }\n"), b=lines), [["a"], ["b"]])
        self.assertEqual(self.group(b=lines, a=header + source("A", "int Own() { return 1; }\n")), [["b"], ["a"]])
        self.assertEqual(self.group(a=header + source("A", "int Own() { return 1; }\n"), b=header + source("B", "int Two() { return 1; }\n")),
                         [["a", "b"]])

    def test_a_member_of_that_name_is_no_look_up(self):
        a = source("A", "int Read() { return 1; }\n")
        self.assertEqual(self.group(a=a, b=source("B", "int Own() { return 1; }\n", "file.Read() + file->Read()")), [["a", "b"]])

    def test_a_word_of_a_comment_or_a_text_is_none(self):
        a = source("A", "int Read() { return 1; }\n")
        self.assertEqual(self.group(a=a, b=source("B", "// Read\nint Own() { return 1; }\n", "\"Read\"[0]")), [["a", "b"]])

    def test_one_alias_spelled_alike_is_one(self):
        for text in ("using Json = nlohmann::json;\n", "using spv::Op;\n"):
            with self.subTest(text):
                self.assertEqual(self.group(a=source("A", text), b=source("B", text)), [["a", "b"]])
        a = source("A", "using Json = nlohmann::json;\n")
        for other in (source("B", "using Json = nlohmann::ordered_json;\n"),
                      source("B", "int Own() { return 1; }\n", "Json(1)")):
            with self.subTest(other):
                self.assertEqual(self.group(a=a, b=other), [["a"], ["b"]])

    def test_an_alias_that_hides_a_word_of_a_header_is_two_units(self):
        word = sorted(unity.words_of(ROOT / "client/cli/output/print.h"))[-1]
        a = source("A", f"using other::{word};\n")
        b = '#include "client/cli/output/print.h"\n' + source("B", "int Own() { return 1; }\n")
        self.assertEqual(self.group(a=a, b=b), [["a"], ["b"]])

    def test_a_macro_is_a_name_to_the_end_of_the_unit(self):
        a = "#define KILN_OWN(x) x\n" + source("A", "int One() { return 1; }\n", "KILN_OWN(1)")
        self.assertEqual(self.group(a=a, b=source("B", "int Two() { return 1; }\n")), [["a", "b"]])
        b = source("B", "int Two() { return 1; }\n", "KILN_OWN(2)")
        self.assertEqual(self.group(a=a, b=b), [["a"], ["b"]])
        self.assertEqual(self.group(b=b, a=a), [["b"], ["a"]])

    def test_a_macro_of_a_table_that_another_reads_is_two_units(self):
        self.assertIn("KILN_CODE", (ROOT / "compiler/diag/codes.def").read_text())
        a = "#define KILN_CODE(...)\n" + source("A", "int One() { return 1; }\n")
        b = '#include "compiler/diag/codes.def"\n' + source("B", "int Two() { return 1; }\n")
        self.assertEqual(self.group(a=a, b=b), [["a"], ["b"]])
        self.assertEqual(self.group(b=b, a=a), [["b"], ["a"]])

    def test_what_reaches_to_the_end_of_the_unit_stays_alone(self):
        for text in ("#define ROW(x) x\n", "using namespace kiln;\n", "#pragma pack(1)\n", "#ifdef X\n#endif\n"):
            with self.subTest(text):
                self.assertEqual(self.group(a=text + source("A", "int One() { return 1; }\n"),
                                            b=source("B", "int Two() { return 1; }\n")), [["b"], ["a"]])

    def test_what_reads_one_heavy_header_stands_together(self):
        def text(name, include):
            return include + source(name, f"int Own{name}() {{ return 1; }}\n")
        half = unity.MAX_SOURCES
        sources = {f"s{i}": text(f"S{i}", "#include <CLI/CLI.hpp>\n" if i % 2 else "") for i in range(2 * half)}
        self.assertEqual(self.group(**sources), [[f"s{i}" for i in range(1, 2 * half, 2)], [f"s{i}" for i in range(0, 2 * half, 2)]])

    def test_a_unit_has_bounds(self):
        many = {f"s{i}": source(f"S{i}", f"int Own{i}() {{ return 1; }}\n") for i in range(2 * unity.MAX_SOURCES + 1)}
        sizes = [len(unit) for unit in self.group(**many)]
        self.assertEqual(sizes, [unity.MAX_SOURCES, unity.MAX_SOURCES, 1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
