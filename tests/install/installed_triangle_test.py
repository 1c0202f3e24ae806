#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The installed tree, as who installs it finds it: installs the build into a folder, builds
examples/triangle against it as a project of its own, bakes its pack with the installed programs, draws
and looks at the pictures.

usage: installed_triangle_test.py BUILD ROOT CMAKE GENERATOR COMPILER
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


class Installed(unittest.TestCase):
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
        # From here on nothing of the repository is used.
        cls.project = cls.dir / "triangle"
        shutil.copytree(next(cls.prefix.rglob("examples/triangle")), cls.project)
        cls.built = cls.dir / "built"

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

    def test_the_example_is_built_with_cmake_and_draws(self):
        self.run_in(self.dir, CMAKE, "-S", self.project, "-B", self.built, "-G", GENERATOR,
                    f"-DCMAKE_CXX_COMPILER={COMPILER}", "-DCMAKE_BUILD_TYPE=Debug",
                    "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")
        self.run_in(self.dir, CMAKE, "--build", self.built)
        self.run_in(self.dir, self.built / "triangle", self.built / "triangle.kpack", self.dir / "orange.ppm")
        self.look_at(self.dir / "orange.ppm", (255, 128, 0))
        self.run_in(self.dir, self.built / "triangle", self.built / "triangle.kpack",
                    self.dir / "blue.ppm", "blue")
        self.look_at(self.dir / "blue.ppm", (0, 128, 255))
        # What goes wrong is said in a sentence.
        said = self.run_in(self.dir, self.built / "triangle", self.built / "triangle.kpack",
                           self.dir / "red.ppm", "red", code=1)
        self.assertIn("triangle: ", said)
        self.assertIn("tint", said)
        (self.dir / "cut.kpack").write_bytes((self.built / "triangle.kpack").read_bytes()[:100])
        said = self.run_in(self.dir, self.built / "triangle", "cut.kpack", "cut.ppm", code=1)
        self.assertIn("cut.kpack", said)

    def test_what_is_asked_for_and_not_there_is_said(self):
        for wanted, message in (("0.1 REQUIRED COMPONENTS raytracer", "no component 'raytracer'"),
                                ("0.2 REQUIRED", "0.2"), ("1 REQUIRED", "kiln")):
            with self.subTest(wanted):
                folder = self.dir / "wrong"
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                (folder / "CMakeLists.txt").write_text(
                    "cmake_minimum_required(VERSION 3.25)\nproject(wrong LANGUAGES NONE)\n"
                    f"find_package(kiln {wanted})\n")
                said = self.run_in(folder, CMAKE, "-S", folder, "-B", folder / "b", "-G", GENERATOR, code=1)
                self.assertIn(message, said)

    def test_pkg_config_names_one_library_and_its_needs(self):
        files = next(self.prefix.rglob("kiln-graph.pc")).parent
        env = dict(self.env, PKG_CONFIG_PATH=str(files))
        for component in ("runtime", "graph", "client"):
            done = subprocess.run(["pkg-config", "--cflags", "--libs", f"kiln-{component}"], env=env,
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            words = done.stdout.split()
            self.assertIn("-lkiln-runtime", words)
            self.assertIn(f"-lkiln-{component}", words)
            (include,) = [word[2:] for word in words if word.endswith("include/kiln")]
            self.assertTrue(pathlib.Path(include, "runtime/pipeline/pipelines.h").exists(), include)

    def test_the_tree_has_what_belongs_into_it_and_no_more(self):
        listed = {line.split()[-1] for line in (ROOT / "cmake/package/headers.txt").read_text().splitlines()
                  if line and not line.startswith("#")}
        include = self.prefix / "include/kiln"
        self.assertEqual({path.relative_to(include).as_posix() for path in include.rglob("*") if path.is_file()},
                         listed)
        self.assertEqual([path.name for path in (self.prefix / "include").iterdir()], ["kiln"])
        self.assertEqual(sorted(path.name for path in self.prefix.rglob("*.a")),
                         ["libkiln-client.a", "libkiln-graph.a", "libkiln-runtime.a"])
        for program in ("kiln", "kilnc", "kilnd"):
            said = self.run_in(self.dir, self.prefix / "bin" / program, "--version")
            version = next(self.prefix.rglob("kiln-config-version.cmake")).read_text()
            self.assertIn(re.search(r'PACKAGE_VERSION "([\d.]+)"', version)[1], said)
        share = self.prefix / "share"
        for file in ("man/man1/kiln.1", "man/man1/kiln-build.1", "man/man5/kiln.toml.5", "man/man8/kilnd.8",
                     "bash-completion/completions/kiln", "zsh/site-functions/_kiln",
                     "fish/vendor_completions.d/kiln.fish", "kiln/proto/kiln/v1/metadata.proto",
                     "doc/kiln/LICENSE", "doc/kiln/docs/users/engine_programmer.md"):
            self.assertTrue((share / file).exists(), file)
        for unit in ("system/kilnd.service", "user/kilnd.service", "user/kilnd.socket"):
            self.assertTrue((self.prefix / "lib/systemd" / unit).exists(), unit)

    def test_no_path_of_the_build_is_in_what_others_read(self):
        for pattern in ("*.cmake", "*.pc"):
            for path in self.prefix.rglob(pattern):
                text = path.read_text()
                self.assertNotIn(str(BUILD), text, path.name)
                self.assertNotIn(str(ROOT), text, path.name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
