#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The installed tree, as who installs it finds it, and how tests build against it and look at pictures.

Tests that use this are run with: BUILD ROOT CMAKE GENERATOR COMPILER
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from pictures import BLUE, ORANGE, look_at_triangle

BUILD, ROOT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
CMAKE, GENERATOR, COMPILER = sys.argv[3:6]


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
        self.look_at(self.dir / "orange.ppm", ORANGE)
        self.run_in(self.dir, program, pack, self.dir / "blue.ppm", "blue")
        self.look_at(self.dir / "blue.ppm", BLUE)
        said = self.run_in(self.dir, program, pack, self.dir / "red.ppm", "red", code=1)
        self.assertIn(f"{program.name}: ", said)
        self.assertIn("tint", said)
        (self.dir / "cut.kpack").write_bytes(pathlib.Path(pack).read_bytes()[:100])
        said = self.run_in(self.dir, program, "cut.kpack", "cut.ppm", code=1)
        self.assertIn("cut.kpack", said)

    def look_at(self, path, center):
        look_at_triangle(self, path, center)
