#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What does not fit, tried with the installed tree: a pack of a newer kiln, a struct of C of another size, and
a library of another version beside the header, in C and C++, shared and static. Each is refused in a sentence
that says so.

A missing feature of the device is tried where a device without it can be had: runtime_pipeline_test and
c_interface_test.

usage: installed_bad_input_test.py BUILD ROOT CMAKE GENERATOR COMPILER
"""
import ctypes
import re
import shutil
import subprocess
import sys
import unittest

from installed_tree import CMAKE, GENERATOR, InstalledTree

# Of the header of a pack, cache/pack/format.h: where its major version and its sum are.
MAJOR, SUM = 8, 120
STRUCT = """#include <kiln/kiln.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char** argv) {
  struct { kiln_context_info info; unsigned char news[8]; } later;
  kiln_context* context = NULL;
  kiln_error* error = NULL;
  memset(&later, 0, sizeof later);
  later.info.struct_size = argc > 1 ? (size_t)atol(argv[1]) : sizeof later;
  later.info.header_version = KILN_HEADER_VERSION;
  later.news[0] = argc > 2;
  if (kiln_context_create(&later.info, &context, &error) != KILN_OK) {
    printf("%s: %s\\n", kiln_error_reason(error).data, kiln_error_message(error).data);
    return 1;
  }
  kiln_context_destroy(context);
  return 0;
}
"""


class BadInput(InstalledTree):
    def setUp(self):
        self.library = next(self.prefix.rglob("libkiln.so")).parent

    def compile_c(self, source, program, include):
        self.run_in(self.dir, "cc", "-std=c99", "-Wall", "-Werror", f"-I{include}", source, f"-L{self.library}", "-lkiln",
                    f"-Wl,-rpath,{self.library}", "-o", program)

    def built(self, example, *flags):
        built = self.dir / f"built_{example}{'_shared' if flags else ''}"
        if not built.exists():
            self.build(self.copy_example(example), built, *flags)
        return built

    def test_a_pack_of_a_newer_major_is_refused_with_both_versions(self):
        hasher = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
        hasher.restype = ctypes.c_uint64
        for example in ("triangle", "triangle_c"):
            with self.subTest(example):
                built = self.built(example)
                data = bytearray((built / "triangle.kpack").read_bytes())
                major = data[MAJOR]
                self.assertEqual(int.from_bytes(data[SUM:SUM + 8], "little"), hasher(bytes(data[:SUM]), ctypes.c_size_t(SUM)))
                data[MAJOR] = major + 1
                data[SUM:SUM + 8] = hasher(bytes(data[:SUM]), ctypes.c_size_t(SUM)).to_bytes(8, "little")
                (self.dir / "newer.kpack").write_bytes(data)
                said = self.run_in(self.dir, built / example, "newer.kpack", "newer.ppm", code=1)
                self.assertRegex(said, rf"newer\.kpack.*format {major + 1}\.\d+; this reader knows {major}\.\d+")

    def test_a_struct_of_another_size_is_refused_unless_its_news_are_zero(self):
        (self.dir / "struct.c").write_text(STRUCT)
        program = self.dir / "struct"
        self.compile_c("struct.c", program, self.prefix / "include")
        self.run_in(self.dir, program)
        for arguments in (("8",), ("100000",), ("1000000000000",)):
            with self.subTest(arguments):
                said = self.run_in(self.dir, program, *arguments, code=1)
                self.assertRegex(said, rf"STRUCT_SIZE: .*struct_size {arguments[0]}, this library knows \d+ bytes")
        size = re.search(r"knows (\d+) bytes", self.run_in(self.dir, program, "8", code=1))[1]
        said = self.run_in(self.dir, program, str(int(size) + 8), "news", code=1)
        self.assertIn("STRUCT_SIZE", said)

    def test_a_header_of_another_version_is_refused_with_both(self):
        include = self.dir / "later_include"
        shutil.copytree(self.prefix / "include", include)
        header = include / "kiln/kiln.h"
        text, count = re.subn(r"(#define KILN_HEADER_VERSION )\d+U", r"\g<1>3000U", header.read_text())
        self.assertEqual(count, 1)
        header.write_text(text)
        (self.dir / "later.c").write_text((self.copy_example("triangle_c") / "main.c").read_text())
        self.compile_c("later.c", self.dir / "later", include)
        said = self.run_in(self.dir, self.dir / "later", self.built("triangle_c") / "triangle.kpack", "later.ppm", code=1)
        self.assertRegex(said, r"compiled with kiln\.h of version 0\.3\.0, the library is version 0\.2\.\d+")

    def test_a_shared_library_of_cxx_of_another_version_is_refused_by_the_loader(self):
        program = self.built("triangle", "-DBUILD_SHARED_LIBS=ON") / "triangle"
        other = self.dir / "other"
        other.mkdir()
        (self.dir / "stub.map").write_text("KILN_RUNTIME_0.3 { global: *; };\n")
        (self.dir / "stub.c").write_text("int kiln_of_tomorrow;\n")
        self.run_in(self.dir, "cc", "-shared", "-fPIC", "stub.c", "-Wl,-soname,libkiln-runtime.so.0",
                    "-Wl,--version-script=stub.map", "-o", other / "libkiln-runtime.so.0")
        done = subprocess.run([program, "a.kpack", "a.ppm"], env=dict(self.env, LD_LIBRARY_PATH=str(other)), text=True,
                              capture_output=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"version `KILN_RUNTIME_0\.2' not found")

    def test_an_archive_of_another_version_is_refused_by_the_linker(self):
        prefix = self.dir / "mixed"
        shutil.copytree(self.prefix, prefix, symlinks=True)
        archive = next(prefix.rglob("libkiln-runtime.a"))
        self.run_in(self.dir, "objcopy", "--redefine-sym", "kiln_library_of_0_2=kiln_library_of_0_3", archive)
        built = self.dir / "built_mixed"
        self.run_in(self.dir, CMAKE, "-S", self.copy_example("triangle"), "-B", built, "-G", GENERATOR,
                    f"-DCMAKE_PREFIX_PATH={prefix}")
        said = self.run_in(self.dir, CMAKE, "--build", built, code=1)
        self.assertIn("kiln_library_of_0_2", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
