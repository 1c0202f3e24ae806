#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""libkiln.so as games ship it: how large it is, what it needs, what it exports, and that its ABI is the
one that was promised. Prints the figures.

usage: shipped_library_test.py LIBRARY HEADERS ABI COMPILER    (a C compiler)
       shipped_library_test.py --print-abi HEADERS COMPILER    prints what belongs into ABI

ABI is the kept list of numbers, sizes, offsets and functions. A line of it that is gone or different
breaks programs that were compiled before: it wants another major version. A new line is to be added.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

MAX_BYTES = 1536 * 1024
NEEDED = {"libzstd.so.1", "libxxhash.so.0", "libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}
SONAME = "libkiln.so.0"


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout


def abi_of(headers, compiler):
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "print_abi")
        run(compiler, "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", headers,
            pathlib.Path(headers, "kiln/print_abi.c"), "-o", program)
        return run(program).splitlines()


class ShippedLibrary(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.stripped = pathlib.Path(cls.temporary.name, SONAME)
        shutil.copy(LIBRARY, cls.stripped)
        run("strip", "--strip-unneeded", cls.stripped)
        cls.dynamic = run("readelf", "--dynamic", "--wide", cls.stripped)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_it_is_small(self):
        size = self.stripped.stat().st_size
        print(f"{SONAME}: {size} bytes stripped, at most {MAX_BYTES}")
        self.assertLessEqual(size, MAX_BYTES)

    def test_it_needs_little(self):
        needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", self.dynamic))
        print(f"{SONAME}: needs {' '.join(sorted(needed))}")
        self.assertEqual(needed - NEEDED, set())
        self.assertIn("libzstd.so.1", needed)
        loaded = run("ldd", self.stripped)
        self.assertNotIn("not found", loaded)
        self.assertNotRegex(loaded, r"libstdc\+\+|libprotobuf|libgrpc|libabsl|libcrypto|libfmt|libvulkan|libsqlite")

    def test_it_has_its_name(self):
        self.assertIn(f"[{SONAME}]", self.dynamic)
        self.assertNotIn("TEXTREL", self.dynamic)

    def test_it_exports_the_functions_of_the_header_and_nothing_else(self):
        symbols = run("nm", "--dynamic", "--defined-only", "--with-symbol-versions", self.stripped).splitlines()
        exported = {line.split()[2] for line in symbols if line.split()[1] == "T"}
        rest = [line for line in symbols if line.split()[1] != "T" and not line.endswith(" A KILN_0")]
        self.assertEqual(rest, [])
        wanted = pathlib.Path(HEADERS, "kiln/functions.txt").read_text().split()
        self.assertEqual(exported, {f"{name}@@KILN_0" for name in wanted})
        print(f"{SONAME}: {len(wanted)} functions")

    def test_its_abi_is_the_promised_one(self):
        now, promised = abi_of(HEADERS, COMPILER), ABI.read_text().splitlines()
        self.assertEqual([line for line in promised if line not in now], [],
                         "these lines of the ABI are broken: that is another major version")
        self.assertEqual([line for line in now if line not in promised], [],
                         f"add what is new to {ABI.name}: shipped_library_test.py --print-abi")


if __name__ == "__main__":
    if sys.argv[1] == "--print-abi":
        print("\n".join(abi_of(sys.argv[2], sys.argv[3])))
    else:
        LIBRARY, HEADERS, ABI, COMPILER = map(pathlib.Path, sys.argv[1:5])
        unittest.main(argv=sys.argv[:1])
