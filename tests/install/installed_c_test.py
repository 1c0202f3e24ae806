#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kiln.h as who installs kiln finds it: examples/triangle_c is built against the installed tree with CMake,
with pkg-config and with the archive, draws, and the pictures are looked at.

usage: installed_c_test.py BUILD ROOT CMAKE GENERATOR COMPILER
"""
import os
import subprocess
import sys
import unittest

from installed_tree import InstalledTree


class InstalledC(InstalledTree):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.project = cls.copy_example("triangle_c")
        cls.built = cls.dir / "built_c"

    def setUp(self):
        if not self.built.exists():
            self.build(self.project, self.built)
        self.pack = self.built / "triangle.kpack"

    def needs_of(self, program):
        return subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout

    def test_the_example_is_built_with_cmake_and_draws(self):
        self.draw_both(self.built / "triangle_c", self.pack)
        self.assertIn("[libkiln.so.0]", self.needs_of(self.built / "triangle_c"))
        self.assertNotIn("libstdc++", self.needs_of(self.built / "triangle_c"))

    def test_the_example_is_built_with_pkg_config_and_draws(self):
        files = next(self.prefix.rglob("kiln-c.pc")).parent
        words = subprocess.run(["pkg-config", "--cflags", "--libs", "kiln-c"], capture_output=True, text=True,
                               env=dict(self.env, PKG_CONFIG_PATH=str(files)), check=True).stdout.split()
        program = self.dir / "by_hand"
        library = next(self.prefix.rglob("libkiln.so")).parent
        self.run_in(self.dir, "cc", "-std=c99", "-Wall", "-Wextra", "-Werror", self.project / "main.c", *words,
                    f"-Wl,-rpath,{library}", "-o", program)
        self.run_in(self.dir, program, self.pack, self.dir / "by_hand.ppm")
        self.look_at(self.dir / "by_hand.ppm", (255, 128, 0))

    def test_the_archive_has_the_same_functions(self):
        project = self.dir / "triangle_c_static"
        project.mkdir()
        text = (self.project / "CMakeLists.txt").read_text()
        text = text.replace("COMPONENTS c)", "COMPONENTS c static)").replace("LANGUAGES C)", "LANGUAGES C CXX)")
        (project / "CMakeLists.txt").write_text(text[:text.index("kiln_shaders(")])
        (project / "main.c").write_text((self.project / "main.c").read_text())
        self.build(project, self.dir / "built_static")
        program = self.dir / "built_static/triangle_c"
        self.assertNotIn("libkiln", self.needs_of(program))
        self.run_in(self.dir, program, self.pack, self.dir / "static.ppm", "blue")
        self.look_at(self.dir / "static.ppm", (0, 128, 255))

    def test_the_library_is_loaded_without_the_loader_of_vulkan(self):
        # A pack is looked at on machines that have no Vulkan at all.
        program = self.dir / "version"
        (self.dir / "version.c").write_text("#include <kiln/kiln.h>\n#include <stdio.h>\n"
                                            "int main(void) { return puts(kiln_version()) < 0; }\n")
        library = next(self.prefix.rglob("libkiln.so")).parent
        self.run_in(self.dir, "cc", "-std=c99", f"-I{self.prefix}/include", "version.c", f"-L{library}", "-lkiln",
                    f"-Wl,-rpath,{library}", "-o", program)
        said = subprocess.run([program], env=dict(os.environ, LD_DEBUG="libs"), capture_output=True, text=True,
                              check=True)
        self.assertRegex(said.stdout, r"^\d+\.\d+\.\d+\n$")
        self.assertNotIn("libvulkan", said.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
