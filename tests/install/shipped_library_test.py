#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A library of C as it is shipped: how large it is, what it needs, what it exports, and that its ABI is the
one that was promised. Prints the figures.

usage: shipped_library_test.py LIBRARY HEADERS STEM ABI COMPILER ROOT    (a C compiler)
       shipped_library_test.py --print-abi HEADERS STEM COMPILER         prints what belongs into ABI
       shipped_library_test.py --close ABI VERSION                       VERSION is released: its lines are final

STEM is that of the header: kiln, client, compiler. ABI is the kept list of numbers, sizes, offsets and
functions, below the version that brought them. A line that is gone or different breaks programs that were
compiled before: that is another major version. What is new stands below the version that the project has now;
a version that was released is closed by a digest of its lines, so nothing is added to it afterwards.
"""
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BASE = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}
CXX = BASE | {"libkiln.so.0", "libxxhash.so.0", "libzstd.so.1", "libstdc++.so.6", "libgcc_s.so.1"}
# What each may need at most, and how large it may be.
LIBRARIES = {
    "kiln": ("libkiln.so.0", BASE | {"libzstd.so.1", "libxxhash.so.0"}, 1536 * 1024),
    "compiler": ("libkiln-compiler-c.so.0", CXX, 6 << 20),
    "client": ("libkiln-client-c.so.0", CXX | {
        "libgrpc++.so.1.51", "libgrpc.so.29", "libgpr.so.29", "libprotobuf.so.32", "libssl.so.3", "libcrypto.so.3",
        "libtomlplusplus.so.3"}, 6 << 20),
}
HEADING = re.compile(r"^# (\d+)\.(\d+)(?: closed ([0-9a-f]{16}))?$")


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout


def made_name(stem, what):
    return what if stem == "kiln" else f"{stem}_{what}"


def abi_of(headers, stem, compiler):
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "print_abi")
        run(compiler, "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", headers,
            pathlib.Path(headers, "kiln", made_name(stem, "print_abi.c")), "-o", program)
        return run(program).splitlines()


def read_abi(text):
    """[(version as (major, minor), digest or None, lines)], oldest first."""
    sections = []
    for line in text.splitlines():
        heading = HEADING.match(line)
        if heading:
            sections.append(((int(heading[1]), int(heading[2])), heading[3], []))
        elif line:
            sections[-1][2].append(line)
    return sections


def digest_of(lines):
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def close(path, version):
    sections = read_abi(path.read_text())
    text = ""
    for number, digest, lines in sections:
        name = f"{number[0]}.{number[1]}"
        digest = digest_of(lines) if name == version else digest
        text += f"# {name}{f' closed {digest}' if digest else ''}\n" + "".join(f"{line}\n" for line in lines) + "\n"
    path.write_text(text.rstrip("\n") + "\n")


class ShippedLibrary(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.soname, cls.may_need, cls.most = LIBRARIES[STEM]
        cls.stripped = pathlib.Path(cls.temporary.name, cls.soname)
        shutil.copy(LIBRARY, cls.stripped)
        run("strip", "--strip-unneeded", cls.stripped)
        cls.dynamic = run("readelf", "--dynamic", "--wide", cls.stripped)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_it_is_small(self):
        size = self.stripped.stat().st_size
        print(f"{self.soname}: {size} bytes stripped, at most {self.most}")
        self.assertLessEqual(size, self.most)

    def test_it_needs_little(self):
        needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", self.dynamic))
        print(f"{self.soname}: needs {' '.join(sorted(needed))}")
        self.assertEqual({name for name in needed - self.may_need if not name.startswith("libabsl_")}, set())
        self.assertTrue(STEM == "client" or not any(name.startswith("libabsl_") for name in needed), needed)
        self.assertIn("libkiln.so.0" if STEM != "kiln" else "libzstd.so.1", needed)

    def test_what_ships_loads_nothing_else(self):
        if STEM != "kiln":
            return
        loaded = run("ldd", self.stripped)
        self.assertNotIn("not found", loaded)
        self.assertNotRegex(loaded, r"libstdc\+\+|libprotobuf|libgrpc|libabsl|libcrypto|libfmt|libvulkan|libsqlite")

    def test_what_ships_has_no_global_constructor_of_its_own(self):
        if STEM != "kiln":
            return
        names = re.findall(r"_GLOBAL__sub_I_(\S+)", run("nm", LIBRARY))
        # Of the standard library of C++, which is inside.
        theirs = {name for name in names if re.fullmatch(r"(cxx11_)?w?(locale_inst|ios_failure)\.cc|"
                                                         r"(eh_alloc|system_error)\.cc", name)}
        self.assertEqual(set(names) - theirs, set())
        self.assertTrue(theirs, "there are symbols to look at")

    def test_it_has_its_name(self):
        self.assertIn(f"[{self.soname}]", self.dynamic)
        self.assertTrue(self.soname.endswith(f".so.{VERSION[0]}"), "the major version is that of the soname")
        self.assertNotIn("TEXTREL", self.dynamic)

    def test_it_exports_the_functions_of_the_header_and_nothing_else(self):
        name = f"KILN_{VERSION[0]}" if STEM == "kiln" else f"KILN_{STEM.upper()}_{VERSION[0]}"
        symbols = run("nm", "--dynamic", "--defined-only", "--with-symbol-versions", self.stripped).splitlines()
        exported = {line.split()[2] for line in symbols if line.split()[1] == "T"}
        rest = [line for line in symbols if line.split()[1] != "T" and not line.endswith(f" A {name}")]
        self.assertEqual(rest, [])
        wanted = pathlib.Path(HEADERS, "kiln", made_name(STEM, "functions.txt")).read_text().split()
        self.assertEqual(exported, {f"{function}@@{name}" for function in wanted})
        print(f"{self.soname}: {len(wanted)} functions")

    def test_its_abi_is_the_promised_one(self):
        now = abi_of(HEADERS, STEM, COMPILER)
        promised = [line for _, _, lines in read_abi(ABI.read_text()) for line in lines]
        self.assertEqual([line for line in promised if line not in now], [],
                         "these lines of the ABI are broken: that is another major version")
        self.assertEqual([line for line in now if line not in promised], [],
                         f"add what is new to {ABI.name}, below the project's version")

    def test_what_was_released_is_final(self):
        sections = read_abi(ABI.read_text())
        versions = [version for version, _, _ in sections]
        self.assertEqual(versions, sorted(set(versions)))
        self.assertLessEqual(versions[-1], VERSION, "of a version that the project has not reached")
        for version, digest, lines in sections:
            name = f"{version[0]}.{version[1]}"
            self.assertTrue(digest or version == VERSION,
                            f"{name} is older than the project's version: close it (--close)")
            if digest:
                self.assertEqual(digest, digest_of(lines),
                                 f"{name} was released and its ABI changed: what is new belongs below another version")


if __name__ == "__main__":
    if sys.argv[1] == "--print-abi":
        print("\n".join(abi_of(*sys.argv[2:5])))
    elif sys.argv[1] == "--close":
        close(pathlib.Path(sys.argv[2]), sys.argv[3])
    else:
        LIBRARY, HEADERS, STEM, ABI, COMPILER, ROOT = sys.argv[1:7]
        ABI = pathlib.Path(ABI)
        VERSION = tuple(int(part) for part in re.search(
            r"project\(kiln VERSION (\d+)\.(\d+)", pathlib.Path(ROOT, "CMakeLists.txt").read_text()).groups())
        unittest.main(argv=sys.argv[:1])
