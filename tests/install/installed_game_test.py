#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A game as a CMake project whose materials are built with it, and a client in Python that knows the .proto
files alone: both against the installed tree, with their pictures looked at.

usage: installed_game_test.py BUILD ROOT CMAKE GENERATOR COMPILER
"""
import os
import subprocess
import sys
import tarfile
import unittest

from installed_tree import CMAKE, InstalledTree
from pictures import BRICK, GRASS, WET, look_at_tiles


class InstalledGame(InstalledTree):
    def test_the_game_is_built_installed_and_packed(self):
        project, built = self.copy_example("game"), self.dir / "built_game"
        self.build(project, built)
        said = self.run_in(self.dir, built / "game", self.dir / "built.ppm")
        self.assertIn("3 tiles, 0 hitches", said)
        look_at_tiles(self, self.dir / "built.ppm", (BRICK, WET, GRASS))
        self.assertIn("no work to do", self.run_in(self.dir, CMAKE, "--build", built))
        # An edit makes the pack anew, and the installed tree runs from another place than it was built for.
        shader = project / "shaders/grass.rpl"
        shader.write_text(shader.read_text().replace("f4 {0.2, 0.8, 0.2", "f4 {0.8, 0.2, 0.2"))
        self.run_in(self.dir, CMAKE, "--build", built)
        self.run_in(self.dir, CMAKE, "--install", built, "--prefix", self.dir / "first")
        os.rename(self.dir / "first", self.dir / "second")
        os.rename(built / "game.kpack", built / "away.kpack")
        self.run_in(self.dir, self.dir / "second/bin/game", self.dir / "installed.ppm")
        look_at_tiles(self, self.dir / "installed.ppm", (BRICK, WET, BRICK))
        os.rename(built / "away.kpack", built / "game.kpack")
        self.run_in(built, "cpack")
        with tarfile.open(built / "game-1.0-Linux.tar.gz") as archive:
            names = archive.getnames()
        self.assertIn("game-1.0-Linux/bin/game", names)
        self.assertIn("game-1.0-Linux/share/game/game.kpack", names)

    def test_a_client_in_python_writes_a_pack_that_draws(self):
        client = self.copy_example("python_client")
        stubs = self.dir / "stubs"
        self.run_in(client, "./make_stubs.sh", self.prefix / "share/kiln/proto", stubs)
        self.run_in(self.dir, self.prefix / "bin/kiln", "start")
        python = dict(self.env, PYTHONPATH=str(stubs))
        socket = self.env["KILN_DAEMON"].removeprefix("unix:")
        pack = self.dir / "python.kpack"

        def run(*arguments):
            return subprocess.run(["/usr/bin/python3", client / "client.py", *arguments], env=python, text=True,
                                  capture_output=True, timeout=120, check=False)
        done = run(socket, pack)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 variants", done.stdout)
        built = self.dir / "built_triangle_c"
        self.build(self.copy_example("triangle_c"), built)
        self.run_in(self.dir, built / "triangle_c", pack, self.dir / "python.ppm", "blue")
        self.look_at(self.dir / "python.ppm", (0, 128, 255))
        wrong = self.dir / "wrong.rpl"
        wrong.write_text("rpl 2;\ngolbal fog: flag false;\n")
        failed = run(socket, pack, wrong)
        self.assertEqual(failed.returncode, 1)
        self.assertIn("triangle.rpl:2: ", failed.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
