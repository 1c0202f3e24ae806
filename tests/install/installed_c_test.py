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


# What a game does before its first frame, counting what the process has after each step.
COUNTS = r"""#include <kiln/kiln.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
static int Tasks(void) {
  DIR* folder = opendir("/proc/self/task");
  int count = -2;  /* . and .. */
  while (readdir(folder) != NULL) { ++count; }
  closedir(folder);
  return count;
}
static int Maps(const char* name) {
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[4096];
  int count = 0;
  while (fgets(line, sizeof line, maps) != NULL) { count += strstr(line, name) != NULL; }
  fclose(maps);
  return count;
}
#define TRY(call) do { if ((call) != KILN_OK) { puts(kiln_error_message(error).data); return 1; } } while (0)
int main(int argc, char** argv) {
  kiln_error* error = NULL;
  kiln_context_info info;
  kiln_context* context;
  kiln_pack_info pack_info;
  kiln_pack* pack;
  kiln_pack_source_info source_info;
  kiln_source* source;
  kiln_device_info device_info;
  kiln_device* device;
  kiln_pipelines_info pipelines_info;
  kiln_pipelines* pipelines;
  kiln_load_report report;
  int of_the_driver;
  (void)argc;
  KILN_INIT(info);
  info.header_version = KILN_HEADER_VERSION;
  TRY(kiln_context_create(&info, &context, &error));
  KILN_INIT(pack_info);
  pack_info.path = kiln_text_of(argv[1]);
  TRY(kiln_pack_open(context, &pack_info, &pack, &error));
  KILN_INIT(source_info);
  TRY(kiln_source_from_pack(pack, &source_info, &source, &error));
  printf("pack: %d threads, %d mappings\n", Tasks(), Maps(argv[1]));
  KILN_INIT(device_info);
  TRY(kiln_device_open(context, &device_info, &device, &error));
  of_the_driver = Tasks();
  KILN_INIT(pipelines_info);
  TRY(kiln_pipelines_create(device, &pipelines_info, &pipelines, &error));
  KILN_INIT(report);
  TRY(kiln_pipelines_load(pipelines, source, &report, &error));
  printf("pipelines: %d threads more\n", Tasks() - of_the_driver);
  return 0;
}
"""


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

    def test_a_start_up_maps_the_pack_once_and_starts_no_thread(self):
        (self.dir / "counts.c").write_text(COUNTS)
        library = next(self.prefix.rglob("libkiln.so")).parent
        self.run_in(self.dir, "cc", "-std=gnu99", "-Wall", "-Werror", f"-I{self.prefix}/include", "counts.c", f"-L{library}",
                    "-lkiln", f"-Wl,-rpath,{library}", "-o", self.dir / "counts")
        said = self.run_in(self.dir, self.dir / "counts", self.pack)
        self.assertIn("pack: 1 threads, 1 mappings", said)
        self.assertIn("pipelines: 0 threads more", said)

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
