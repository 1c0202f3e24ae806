#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which sources share a unit (cmake/unity.py), and which must not.

usage: unity_test.py ROOT
"""
import os
import pathlib
import re
import subprocess
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
        """[[stem…] of each unit…] and what each source is given other names for, by stem; those alone come last."""
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for name, text in sources.items():
                paths.append(f"{folder}/{name}.cc")
                pathlib.Path(paths[-1]).write_text(text)
            units, alone = unity.group(paths)
            self.texts = [unit.text() for unit in units]
            self.renamed = {name: re.findall(rf"((?:#define .*\n)*)#include \".*/{name}.cc\"", text)[0].count("#define")
                            for text in self.texts for name in sources if f"/{name}.cc" in text}
            stems = [[pathlib.Path(source.path).stem for source in unit.sources] for unit in units]
            return stems + [[pathlib.Path(path).stem] for path in alone]

    def test_sources_with_names_of_their_own_share_a_unit(self):
        self.assertEqual(self.group(a=source("A", "int Read() { return 1; }\n"), b=source("B", "int Write() { return 1; }\n")),
                         [["a", "b"]])
        self.assertEqual(self.renamed, {"a": 0, "b": 0})

    def test_one_internal_name_twice_is_renamed(self):
        text = "int Read() { return 1; }\n"
        self.assertEqual(self.group(a=source("A", text), b=source("B", text)), [["a", "b"]])
        self.assertEqual(self.renamed, {"a": 1, "b": 1})
        self.assertIn("#define Read Read_of_1\n#include", self.texts[0])
        self.assertIn("b.cc\"\n#undef Read\n", self.texts[0])

    def test_a_name_that_another_looks_up_is_renamed(self):
        # An overload that b never saw could be the better one.
        a = source("A", "int Read(const char* text) { return *text; }\n")
        for look_up in ("Read(\"x\")", "kiln::Read(\"x\")"):
            self.assertEqual(self.group(a=a, b=source("B", "int Own() { return 1; }\n", look_up)), [["a", "b"]])
            self.assertEqual(self.renamed, {"a": 1, "b": 0})

    def test_a_name_that_a_macro_would_also_reach_elsewhere_is_two_units(self):
        other = source("B", "int Read() { return 1; }\nint Message() { return 1; }\n", "Read()")
        for what, text in (("a member", "int Read(File& file) { return file.Read(); }\n"),
                           ("a member of a pointer", "int Read(File* file) { return file->Read(); }\n"),
                           ("a qualified name", "int Read() { return other::Read(); }\n"),
                           ("a word of a macro of others", "int Message() { return 1; }\nint Read() { return Message(); }\n"),
                           ("a name of a test", "TEST(Read, Twice) {}\nint Read() { return 1; }\n")):
            with self.subTest(what):
                self.assertEqual(self.group(a=source("A", text), b=other), [["a"], ["b"]])
        self.assertIn("Lines", unity.words_of(ROOT / "client/cli/output/print.h"))
        a = '#include "client/cli/output/print.h"\n' + source("A", "int Lines() { return 1; }\n")
        self.assertEqual(self.group(a=a, b=source("B", "int Own() { return 1; }\n", "Lines()")), [["a"], ["b"]])

    def test_a_name_of_a_header_that_another_brings_is_renamed(self):
        header = '#include "client/cli/output/print.h"\n'
        self.assertIn("Lines", unity.declared_by(ROOT / "client/cli/output/print.h"))
        lines = source("B", "int Lines() { return 1; }\n")
        self.assertEqual(self.group(a=header + source("A", "int Own() { return 1; }\n"), b=lines), [["a", "b"]])
        self.assertEqual(self.renamed, {"a": 0, "b": 1})
        self.assertLess(self.texts[0].index("print.h"), self.texts[0].index("#define Lines"))
        self.assertEqual(self.group(a=header + source("A", "int Own() { return 1; }\n"), b=header + source("B", "int Two() { return 1; }\n")),
                         [["a", "b"]])
        self.assertEqual(self.renamed, {"a": 0, "b": 0})

    def test_a_member_of_that_name_is_no_look_up(self):
        a = source("A", "int Read() { return 1; }\n")
        self.assertEqual(self.group(a=a, b=source("B", "int Own() { return 1; }\n", "file.Read() + file->Read()")), [["a", "b"]])
        self.assertEqual(self.renamed, {"a": 0, "b": 0})

    def test_a_word_of_a_comment_or_a_text_is_none(self):
        a = source("A", "int Read() { return 1; }\n")
        self.assertEqual(self.group(a=a, b=source("B", "// Read\nint Own() { return 1; }\n", "\"Read\"[0]")), [["a", "b"]])
        self.assertEqual(self.renamed, {"a": 0, "b": 0})

    def test_one_alias_spelled_alike_is_one(self):
        for text in ("using Json = nlohmann::json;\n", "using spv::Op;\n"):
            with self.subTest(text):
                self.assertEqual(self.group(a=source("A", text), b=source("B", text)), [["a", "b"]])
                self.assertEqual(self.renamed, {"a": 0, "b": 0})
        a = source("A", "using Json = nlohmann::json;\n")
        self.assertEqual(self.group(a=a, b=source("B", "using Json = nlohmann::ordered_json;\n")), [["a", "b"]])
        self.assertEqual(self.renamed, {"a": 1, "b": 1})
        a = "struct Row {};\nusing Rows = std::set<Row*>;\n"  # two sets: each of its own rows
        self.assertEqual(self.group(a=source("A", a), b=source("B", a)), [["a", "b"]])
        self.assertEqual(self.renamed, {"a": 2, "b": 2})
        # What `using spv::Op` is given another name for would be looked up in spv.
        a = source("A", "using spv::Op;\n")
        self.assertEqual(self.group(a=a, b=source("B", "using other::Op;\n")), [["a"], ["b"]])

    def test_an_alias_that_hides_a_word_of_a_table_is_two_units(self):
        word = sorted(unity.words_of(ROOT / "compiler/diag/codes.def"))[-1]
        a = source("A", f"using other::{word};\n")
        b = '#include "compiler/diag/codes.def"\n' + source("B", "int Own() { return 1; }\n")
        self.assertEqual(self.group(a=a, b=b), [["a"], ["b"]])

    def test_a_macro_ends_with_its_source(self):
        a = "#define KILN_OWN(x) x\n" + source("A", "int One() { return 1; }\n", "KILN_OWN(1)")
        b = source("B", "int Two() { return 1; }\n", "KILN_OWN(2)")
        self.assertEqual(self.group(a=a, b=b), [["a", "b"]])
        self.assertIn("a.cc\"\n#undef KILN_OWN\n", self.texts[0])

    def test_what_reaches_to_the_end_of_the_unit_stays_alone(self):
        for text in ("#define ROW(x) x\n", "using namespace kiln;\n", "#pragma pack(1)\n", "#ifdef X\n#include <there.h>\n#endif\n"):
            with self.subTest(text):
                self.assertEqual(self.group(a=text + source("A", "int One() { return 1; }\n"),
                                            b=source("B", "int Two() { return 1; }\n")), [["a"], ["b"]])

    def test_headers_that_declare_the_same_are_two_units(self):
        linux, libc = "#include <linux/tcp.h>\n", "#include <netinet/tcp.h>\n"
        a, b = source("A", "int One() { return 1; }\n"), source("B", "int Two() { return 1; }\n")
        self.assertEqual(self.group(a=linux + a, b=libc + b), [["a"], ["b"]])
        self.assertEqual(self.group(a=linux + a, b=linux + b), [["a", "b"]])

    def test_a_source_with_conditions_keeps_its_names(self):
        a = source("A", "#ifdef X\nint Read() { return 1; }\n#endif\n")
        self.assertEqual(self.group(a=a, b=source("B", "int Own() { return 1; }\n")), [["a", "b"]])
        self.assertEqual(self.group(a=a, b=source("B", "int Read() { return 1; }\n")), [["a"], ["b"]])

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

    def test_an_include_of_a_raw_text_is_none(self):
        a = source("A", 'const char* Read() { return R"(\n#include <there.h>\n)"; }\n')
        self.assertEqual(self.group(a=a, b=source("B", "int Own() { return 1; }\n")), [["a", "b"]])
        self.assertNotIn("there.h", self.texts[0])

    def test_a_unit_means_what_its_sources_mean(self):
        # Each has a Read and a kRows of its own; b would find a's overload for a text, were that not renamed.
        a = source("A", "constexpr int kRows = 1;\nint Read(const char*) { return kRows; }\n", "Read(\"\")")
        b = source("B", "constexpr int kRows = 2;\nint Read(std::string) { return kRows; }\n", "Read(\"\")")
        main = "int main() { return kiln::OfA() * 10 + kiln::OfB(); }\n"
        self.assertEqual(self.group(a=a, b=b), [["a", "b"]])
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "a.cc").write_text(a)
            (pathlib.Path(folder) / "b.cc").write_text(b)
            text = re.sub(r'#include ".*/([ab]\.cc)"', r'#include "\1"', self.texts[0])
            (pathlib.Path(folder) / "unit.cc").write_text(text + main)
            subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-o", f"{folder}/unit", f"{folder}/unit.cc"], check=True)
            self.assertEqual(subprocess.run([f"{folder}/unit"], check=False).returncode, 12)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
