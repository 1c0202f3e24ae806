#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The installed tree, as who installs it finds it, and how tests build against it and look at pictures.

Tests that use this are run with: BUILD ROOT CMAKE GENERATOR COMPILER
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, ROOT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
CMAKE, GENERATOR, COMPILER = sys.argv[3:6]
BACKGROUND = (0, 0, 64)


def read_ppm(path):
    """(width, height, function from column and row to a colour)."""
    data = path.read_bytes()
    head = re.match(rb"P6 (\d+) (\d+) 255\n", data)
    width, height = int(head[1]), int(head[2])

    def at(x, y):
        begin = head.end() + (y * width + x) * 3
        return tuple(data[begin:begin + 3])
    return width, height, at


class InstalledTree(unittest.TestCase):
    """Installs the build into a folder of its own."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="kiln_sdk_")
        cls.dir = pathlib.Path(cls.temporary.name)
        cls.prefix = cls.dir / "prefix"
        cls.env = dict(
            os.environ,
            PATH=f"{cls.prefix}/bin:/usr/bin:/bin",
            HOME=str(cls.dir),
            KILN_DAEMON=f"unix:{cls.dir}/run/kilnd.sock",
            KILN_CACHE_DIR=str(cls.dir / "cache"),
            KILN_JOBS_POLITE="false",
            XDG_CACHE_HOME=str(cls.dir / "xdg"),
            XDG_CONFIG_HOME=str(cls.dir / "config"),
            CMAKE_PREFIX_PATH=str(cls.prefix),
            NO_COLOR="1",
        )
        cls.run_in(cls.dir, CMAKE, "--install", str(BUILD), "--prefix", str(cls.prefix), "--strip")

    @classmethod
    def copy_example(cls, name):
        """The example as it was installed; from here on nothing of the repository is used."""
        project = cls.dir / name
        if not project.exists():
            shutil.copytree(next(cls.prefix.rglob(f"examples/{name}")), project)
        return project

    @classmethod
    def tearDownClass(cls):
        subprocess.run([cls.prefix / "bin/kiln", "stop"], env=cls.env, capture_output=True, check=False)
        cls.temporary.cleanup()

    @classmethod
    def run_in(cls, folder, *command, code=0):
        done = subprocess.run([str(part) for part in command], cwd=folder, env=cls.env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=500, check=False)
        if done.returncode != code:
            raise AssertionError(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}")
        return done.stdout

    def build(self, project, built, *flags):
        self.run_in(self.dir, CMAKE, "-S", project, "-B", built, "-G", GENERATOR, f"-DCMAKE_CXX_COMPILER={COMPILER}",
                    "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror",
                    "-DCMAKE_C_FLAGS=-Wall -Wextra -Wpedantic -Werror", *flags)
        self.run_in(self.dir, CMAKE, "--build", built)

    def draw_both(self, program, pack):
        """Both variants, and what goes wrong said in a sentence."""
        self.run_in(self.dir, program, pack, self.dir / "orange.ppm")
        self.look_at(self.dir / "orange.ppm", (255, 128, 0))
        self.run_in(self.dir, program, pack, self.dir / "blue.ppm", "blue")
        self.look_at(self.dir / "blue.ppm", (0, 128, 255))
        said = self.run_in(self.dir, program, pack, self.dir / "red.ppm", "red", code=1)
        self.assertIn(f"{program.name}: ", said)
        self.assertIn("tint", said)
        (self.dir / "cut.kpack").write_bytes(pathlib.Path(pack).read_bytes()[:100])
        said = self.run_in(self.dir, program, "cut.kpack", "cut.ppm", code=1)
        self.assertIn("cut.kpack", said)

    def look_at(self, path, center):
        width, height, at = read_ppm(path)
        for corner in ((0, 0), (width - 1, 0), (0, height // 2), (width - 1, height // 2)):
            for got, wanted in zip(at(*corner), BACKGROUND):
                self.assertLessEqual(abs(got - wanted), 1, f"{corner}: {at(*corner)}")
        for got, wanted in zip(at(width // 2, height // 2), center):
            self.assertLessEqual(abs(got - wanted), 3, f"centre: {at(width // 2, height // 2)}")
        # It stands on its base: below the centre it is wider than above.
        row = [sum(at(x, y) != at(0, 0) for x in range(width)) for y in (height // 4, 3 * height // 4)]
        self.assertLess(row[0], row[1])
