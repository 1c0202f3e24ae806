#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The installed tree, as who installs it finds it: examples/triangle is built against it as a project of its
own, with the archives and with the shared libraries, bakes its pack with the installed programs, draws,
and the pictures are looked at.

usage: installed_triangle_test.py BUILD ROOT CMAKE GENERATOR COMPILER
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from installed_tree import BUILD, CMAKE, GENERATOR, ROOT, InstalledTree


class Installed(InstalledTree):
    def test_the_example_is_built_with_cmake_and_draws(self):
        built = self.dir / "built"
        self.build(self.copy_example("triangle"), built)
        self.draw_both(built / "triangle", built / "triangle.kpack")
        # A game is its program and its pack; a shader that changes makes the pack anew, and nothing else does.
        game = self.dir / "game"
        self.run_in(self.dir, CMAKE, "--install", built, "--prefix", game)
        self.run_in(self.dir, game / "bin/triangle", game / "share/triangle/triangle.kpack", self.dir / "game.ppm")
        self.look_at(self.dir / "game.ppm", (255, 128, 0))
        self.assertIn("no work to do", self.run_in(self.dir, CMAKE, "--build", built))
        shader = self.dir / "triangle/shaders/triangle.rpl"
        self.addCleanup(shader.write_text, shader.read_text())
        shader.write_text(shader.read_text().replace("f4 {1.0, 0.5 + 0.1", "f4 {0.0, 0.5 + 0.1"))
        self.run_in(self.dir, CMAKE, "--build", built, "--target", "triangle")
        self.run_in(self.dir, built / "triangle", built / "triangle.kpack", self.dir / "green.ppm")
        self.look_at(self.dir / "green.ppm", (0, 128, 0))

    def test_the_example_draws_with_the_shared_libraries(self):
        built = self.dir / "built_shared"
        self.build(self.copy_example("triangle"), built, "-DBUILD_SHARED_LIBS=ON")
        needed = subprocess.run(["readelf", "-d", built / "triangle"], capture_output=True, text=True,
                                check=True).stdout
        self.assertIn("[libkiln-runtime.so.0]", needed)
        self.assertIn("[libkiln-graph.so.0]", needed)
        self.draw_both(built / "triangle", built / "triangle.kpack")

    def test_what_is_asked_for_and_not_there_is_said(self):
        for wanted, message in (("0.2 REQUIRED COMPONENTS raytracer", "no component 'raytracer'"),
                                ("0.2 REQUIRED COMPONENTS runtime shared static", "both shared and static"),
                                ("0.1 REQUIRED", "0.1"), ("0.3 REQUIRED", "0.3"), ("1 REQUIRED", "kiln")):
            with self.subTest(wanted):
                folder = self.dir / "wrong"
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                (folder / "CMakeLists.txt").write_text(
                    "cmake_minimum_required(VERSION 3.25)\nproject(wrong LANGUAGES C)\n"
                    f"find_package(kiln {wanted})\n")
                said = self.run_in(folder, CMAKE, "-S", folder, "-B", folder / "b", "-G", GENERATOR, code=1)
                self.assertIn(message, said)

    def test_pkg_config_names_one_library_and_its_needs(self):
        files = next(self.prefix.rglob("kiln-graph.pc")).parent
        env = dict(self.env, PKG_CONFIG_PATH=str(files))
        for component in ("runtime", "graph", "client", "compiler"):
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
                         listed | {"kiln.h", "client.h", "compiler.h"})
        self.assertEqual([path.name for path in (self.prefix / "include").iterdir()], ["kiln"])
        self.assertEqual(sorted(path.name for path in self.prefix.rglob("*.a")),
                         ["libkiln-c.a", "libkiln-client-c.a", "libkiln-client.a", "libkiln-compiler-c.a",
                          "libkiln-compiler.a", "libkiln-graph.a", "libkiln-runtime.a"])
        self.assertEqual(sorted(path.name for path in self.prefix.rglob("*.so.0")),
                         ["libkiln-client-c.so.0", "libkiln-client.so.0", "libkiln-compiler-c.so.0",
                          "libkiln-compiler.so.0", "libkiln-graph.so.0", "libkiln-runtime.so.0", "libkiln.so.0"])
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
        for unit in ("system/kilnd.service", "system/kilnd.socket", "user/kilnd.service", "user/kilnd.socket"):
            self.assertTrue((self.prefix / "lib/systemd" / unit).exists(), unit)

    def test_no_path_of_the_build_is_in_what_others_read(self):
        for pattern in ("*.cmake", "*.pc"):
            for path in self.prefix.rglob(pattern):
                text = path.read_text()
                self.assertNotIn(str(BUILD), text, path.name)
                self.assertNotIn(str(ROOT), text, path.name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
