#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The packages of Debian that cpack makes: what is in which, that lintian finds nothing, and with --full that
they install, upgrade, run and purge in a fresh root, where every example is built with them alone, draws, and
its picture is looked at.

usage: packages_test.py BUILD ROOT [--full]

lintian and the fresh root (mmdebstrap, as root, with Debian's archive within reach) are skipped where they
cannot work, and it is said why; KILN_REQUIRE_PACKAGES=1 makes that an error.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from following import follow
from pictures import BLUE, BRICK, GRASS, ORANGE, WET, look_at_tiles, look_at_triangle

FULL = "--full" in sys.argv
BUILD, ROOT = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
# Of commands in the fresh root.
ENVIRONMENT = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive",
    "XDG_RUNTIME_DIR": "/run/own", "LC_ALL": "C.UTF-8",
    "VK_ICD_FILENAMES": "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"}
NAMES = ("kiln", "kilnd", "libkiln0", "libkiln-dev", "kiln-doc")
# Of each package something that must be in it, and something that belongs into another.
CONTENTS = {
    "kiln": (["usr/bin/kiln", "usr/bin/kilnc", "usr/bin/kiln_pipeline_child", "usr/share/man/man1/kiln-build.1.gz",
              "usr/share/man/man5/kiln.toml.5.gz", "usr/share/bash-completion/completions/kiln",
              "usr/share/zsh/vendor-completions/_kiln", "usr/share/fish/vendor_completions.d/kiln.fish",
              "usr/share/kiln/editors/neovim/kiln.lua"],
             ["usr/bin/kilnd", "usr/bin/kiln_demo"]),
    "kilnd": (["usr/bin/kilnd", "etc/kiln/kilnd.toml", "lib/systemd/system/kilnd.service",
               "lib/systemd/system/kilnd.socket", "usr/lib/systemd/user/kilnd.socket",
               "usr/share/man/man8/kilnd.8.gz", "usr/share/man/man5/kilnd.toml.5.gz"], ["usr/bin/kiln"]),
    "libkiln0": (["libkiln.so.0", "libkiln-runtime.so.0", "libkiln-graph.so.0", "libkiln-client.so.0",
                  "libkiln-compiler.so.0", "libkiln-client-c.so.0", "libkiln-compiler-c.so.0"], ["libkiln.so"]),
    "libkiln-dev": (["usr/include/kiln/kiln.h", "libkiln.so", "libkiln-runtime.a", "kiln-config.cmake", "kiln-c.pc",
                     "usr/share/kiln/proto/kiln/v1/watch.proto"], ["libkiln.so.0"]),
    "kiln-doc": (["usr/share/doc/kiln-doc/examples/live/main.cc", "usr/share/doc/kiln-doc/changelog.gz",
                  "usr/share/doc/kiln-doc/docs/users/engine_programmer.md"], ["usr/bin/kiln"]),
}


def run(*command, code=0, **how):
    done = subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **how)
    if code is not None and done.returncode != code:
        raise AssertionError(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout[-6000:]}")
    return done.stdout


def not_here(test, reason):
    """Skips, and says so, unless it was asked that nothing is skipped."""
    print(f"packages: not tried here: {reason}", flush=True)
    if os.environ.get("KILN_REQUIRE_PACKAGES"):
        test.fail(reason)
    test.skipTest(reason)


def pack(folder):
    """The packages, in the folder."""
    folder.mkdir()
    run("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", folder, "-D",
        "CPACK_DEBIAN_COMPRESSION_TYPE=gzip")  # in a fraction of the time of xz
    return {path.name.split("_")[0]: path for path in folder.glob("*.deb")}


def later(debs, folder, release):
    """The same packages as a later release, whose configuration of the daemon is another."""
    folder.mkdir()
    made = {}
    for name, deb in debs.items():
        tree = folder / name
        run("dpkg-deb", "--raw-extract", deb, tree)
        control = tree / "DEBIAN/control"
        control.write_text(re.sub(r"(\d+\.\d+\.\d+)-1\b", rf"\g<1>-{release}", control.read_text()))
        if name == "kilnd":
            with open(tree / "etc/kiln/kilnd.toml", "a", encoding="utf-8") as config:
                config.write(f"\n# of release {release}\n")
        made[name] = folder / deb.name.replace("-1_", f"-{release}_")
        run("dpkg-deb", "--build", "--root-owner-group", "-Zgzip", tree, made[name])
    return made


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="kiln_deb_")
        cls.dir = pathlib.Path(cls.temporary.name)
        cls.dir.chmod(0o755)
        cls.debs = pack(cls.dir / "first")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_there_are_five_with_what_belongs_to_them(self):
        self.assertEqual(set(self.debs), set(NAMES))
        for name, (inside, outside) in CONTENTS.items():
            listed = [line.split()[5].removeprefix("./") for line in
                      run("dpkg-deb", "--contents", self.debs[name]).splitlines()]
            for file in inside:
                self.assertTrue(any(path == file or path.endswith("/" + file) for path in listed), f"{name}: {file}")
            for file in outside:
                self.assertFalse(any(path == file or path.endswith("/" + file) for path in listed), f"{name}: {file}")

    def test_they_need_each_other_in_one_version_and_the_system_as_it_is(self):
        def field(name, what):
            return run("dpkg-deb", "--field", self.debs[name], what)
        version = field("kiln", "Version").strip()
        self.assertIn(f"kilnd (= {version})", field("kiln", "Depends"))
        self.assertIn(f"libkiln0 (= {version})", field("libkiln-dev", "Depends"))
        for name in ("kiln", "kilnd", "libkiln0"):
            self.assertRegex(field(name, "Depends"), r"libc6 \(>= ")
        self.assertEqual(field("kiln-doc", "Architecture").strip(), "all")
        control = self.dir / "control"
        run("dpkg-deb", "--control", self.debs["kilnd"], control)
        self.assertEqual((control / "conffiles").read_text(), "/etc/kiln/kilnd.toml\n")

    def test_the_archive_runs_wherever_it_is_unpacked(self):
        run("cpack", "--config", BUILD / "CPackConfig.cmake", "-G", "TGZ", "-B", self.dir / "archive")
        (archive,) = (self.dir / "archive").glob("*.tar.gz")
        place = self.dir / "some place"
        place.mkdir()
        run("tar", "-xf", archive, "-C", place)
        (top,) = place.iterdir()
        for program in ("kiln", "kilnc", "kilnd", "kiln_demo"):
            run(top / "bin" / program, "--version" if program != "kiln_demo" else "--help")
        libraries = [path for path in top.rglob("lib*.so.*") if not path.is_symlink()]
        self.assertEqual(len(libraries), 7)
        for path in [*libraries, *(top / "bin").iterdir()]:
            said = run("readelf", "-d", path)
            for folder in re.findall(r"R(?:UN)?PATH.*\[(.*)\]", said):
                self.assertEqual(folder, "$ORIGIN", path.name)
            self.assertNotIn("not found", run("ldd", path), path.name)
        self.assertTrue((top / "etc/kiln/kilnd.toml").exists())

    def test_lintian_finds_nothing(self):
        if not shutil.which("lintian"):
            not_here(self, "lintian is not installed")
        said = run("lintian", "--allow-root", "--no-cfg", "--fail-on", "none", *self.debs.values(), code=None)
        rows = [line for line in said.splitlines() if re.match(r"^[EW]: ", line)]
        self.assertEqual(rows, [], said)

    def test_a_fresh_root_installs_upgrades_runs_and_purges(self):
        if not FULL:
            self.skipTest("with --full")
        if os.geteuid() != 0 or not shutil.which("mmdebstrap"):
            not_here(self, "a fresh root wants mmdebstrap and root")
        root = self.dir / "root"
        made = subprocess.run(["mmdebstrap", "--variant=apt", "--include=ca-certificates", "bookworm", root],
                              capture_output=True, text=True, check=False)
        if made.returncode != 0:
            not_here(self, f"mmdebstrap: {made.stderr[-800:]}")
        for name in ("etc/apt/apt.conf.d", "etc/apt/sources.list.d"):
            for path in pathlib.Path("/", name).glob("*"):
                shutil.copy(path, root / name)
        shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
        (root / "debs").mkdir()
        self.root = root
        run("mount", "-t", "proc", "proc", root / "proc")
        self.addCleanup(run, "umount", "--lazy", root / "proc", code=None)
        self.inside("apt-get update -q")
        self.install(self.debs.values())
        self.inside("apt-get install -y -q --no-install-recommends mesa-vulkan-drivers build-essential cmake ninja-build")
        self.check_programs()
        self.check_triangles()
        self.check_game()
        self.check_live()
        self.check_python()
        self.check_upgrade()
        self.check_purge()

    def inside(self, command, code=0):
        return run("chroot", self.root, "/bin/sh", "-c", command, code=code, env=ENVIRONMENT)

    def install(self, debs):
        for deb in debs:
            shutil.copy(deb, self.root / "debs")
        names = " ".join(f"/debs/{deb.name}" for deb in debs)
        self.inside(f"apt-get install -y -q --no-install-recommends -o Dpkg::Options::=--force-confold {names}")

    def check_programs(self):
        self.inside("mkdir -m 700 -p /run/own && mkdir -p /proj && cp -r /usr/share/doc/kiln-doc/examples/* /proj/")
        self.assertRegex(self.inside("kiln --version && kilnd --version && kilnc --version"), r"kiln \d+\.\d+\.\d+")
        self.inside("kiln config check /etc/kiln/kilnd.toml")
        self.inside("cd /proj/triangle && kiln build && kiln stop")
        for name in NAMES:
            self.inside(f"test -s /usr/share/doc/{name}/third-party-notices.gz && test -s /usr/share/doc/{name}/copyright")
        self.inside("test -s /usr/share/doc/kiln-doc/docs/users/licences.md")

    def build(self, name):
        self.inside(f"cd /proj/{name} && cmake -S . -B b -G Ninja && cmake --build b; code=$?; kiln stop; exit $code")

    def check_triangles(self):
        """The page of engine programmers with nothing but packages: a triangle in C++ and in C."""
        for name in ("triangle", "triangle_c"):
            self.build(name)
            for arguments, colour in (("", ORANGE), (" blue", BLUE)):
                self.inside(f"/proj/{name}/b/{name} /proj/{name}/b/triangle.kpack /proj/{name}.ppm{arguments}")
                look_at_triangle(self, self.root / f"proj/{name}.ppm", colour)

    def check_game(self):
        self.build("game")
        self.inside("cmake --install /proj/game/b --prefix /proj/installed && /proj/installed/bin/game /proj/game.ppm")
        look_at_tiles(self, self.root / "proj/game.ppm", (BRICK, WET, GRASS))

    def check_live(self):
        """What users of the client in C++ install besides is what libkiln-dev suggests."""
        suggested = run("dpkg-deb", "--field", self.debs["libkiln-dev"], "Suggests").replace(",", " ")
        self.inside(f"apt-get install -y -q --no-install-recommends {suggested}")
        for name in ("live_c", "live"):
            self.build(name)
            process = subprocess.Popen(
                ["chroot", self.root, f"/proj/{name}/b/{name}", f"/proj/{name}/kiln.toml", f"/proj/{name}", "2"],
                env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            follow(self, process, self.root / "proj" / name, self.root / "proj" / name)
            self.inside("kiln stop")

    def check_python(self):
        self.inside("apt-get install -y -q --no-install-recommends python3 python3-grpcio python3-protobuf "
                    "protobuf-compiler protobuf-compiler-grpc")
        self.inside("cd /proj/python_client && ./make_stubs.sh /usr/share/kiln/proto stubs && kiln start && "
                    "PYTHONPATH=stubs ./client.py /run/own/kiln/kilnd.sock python.kpack && kiln stop && "
                    "/proj/triangle_c/b/triangle_c python.kpack /proj/python.ppm blue")
        look_at_triangle(self, self.root / "proj/python.ppm", BLUE)

    def check_upgrade(self):
        """The configuration is the new package's where the operator has not changed it, and his where he has."""
        config = self.root / "etc/kiln/kilnd.toml"
        self.install(later(self.debs, self.dir / "second", "2").values())
        self.assertIn("# of release 2", config.read_text())
        config.write_text(config.read_text() + "\n[log]\nlevel = \"debug\"\n")
        self.install(later(self.debs, self.dir / "third", "3").values())
        self.assertIn("-3", self.inside("dpkg-query -W -f '${Version}' kilnd"))
        self.assertIn('level = "debug"', config.read_text())
        self.assertIn("# of release 2", config.read_text())
        self.assertIn("# of release 3", config.with_name("kilnd.toml.dpkg-dist").read_text())
        self.inside("kiln config check /etc/kiln/kilnd.toml")
        self.assertEqual(self.inside("dpkg --audit"), "")

    def check_purge(self):
        (self.root / "var/cache/kiln").mkdir(parents=True)
        (self.root / "etc/kiln/tokens.toml").write_text("")
        self.inside(f"apt-get remove -y -q {' '.join(NAMES)}")
        self.assertTrue((self.root / "etc/kiln/kilnd.toml").exists(), "removing keeps the configuration")
        self.inside(f"dpkg --purge {' '.join(NAMES)}")  # apt forgets what left nothing
        left = self.inside("find / -xdev -path /proc -prune -o -path /debs -prune -o -path /proj -prune -o "
                           "-iname '*kiln*' -print | grep -v '^/root/\\|^/run/own' || true")
        self.assertEqual(left.split(), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
