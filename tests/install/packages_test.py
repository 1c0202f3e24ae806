#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The packages of Debian that cpack makes: what is in which, that lintian finds nothing, and with --full that
they install, upgrade, run and purge in a fresh root, where a project is built with them alone.

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

FULL = "--full" in sys.argv
BUILD, ROOT = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
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


def pack(folder, version=None):
    """The packages, in the folder; of another version for an upgrade."""
    text = (BUILD / "CPackConfig.cmake").read_text()
    if version:  # of the packages, and in what they need of each other
        text = re.sub(r'(PACKAGE_RELEASE ")1"', rf'\g<1>{version}"', text)
        text = re.sub(r"(\(= \d+\.\d+\.\d+)-1\)", rf"\g<1>-{version})", text)
    folder.mkdir()
    (folder / "CPackConfig.cmake").write_text(text)
    run("cpack", "--config", folder / "CPackConfig.cmake", "-B", folder, "-D",
        "CPACK_DEBIAN_COMPRESSION_TYPE=gzip")  # in a fraction of the time of xz
    return {path.name.split("_")[0]: path for path in folder.glob("*.deb")}


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
        self.install(self.debs.values())
        self.check_programs()
        self.check_project()
        self.check_upgrade()
        self.check_purge()

    def inside(self, command, code=0):
        return run("chroot", self.root, "/bin/sh", "-c", command, code=code, env={
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive",
            "XDG_RUNTIME_DIR": "/run/own", "LC_ALL": "C.UTF-8",
            "VK_ICD_FILENAMES": "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"})

    def install(self, debs):
        for deb in debs:
            shutil.copy(deb, self.root / "debs")
        self.inside("apt-get update -q")
        names = " ".join(f"/debs/{deb.name}" for deb in debs)
        self.inside(f"apt-get install -y -q --no-install-recommends {names} mesa-vulkan-drivers build-essential cmake "
                    "ninja-build pkg-config")

    def check_programs(self):
        self.inside("mkdir -m 700 -p /run/own && mkdir -p /proj && cp -r /usr/share/doc/kiln-doc/examples/triangle /proj/")
        self.assertRegex(self.inside("kiln --version && kilnd --version && kilnc --version"), r"kiln \d+\.\d+\.\d+")
        self.inside("kiln config check /etc/kiln/kilnd.toml")
        self.inside("cd /proj/triangle && kiln build && kiln stop")

    def check_project(self):
        """The page of engine programmers with nothing but packages: a triangle in C++ and in C."""
        self.inside("cp -r /usr/share/doc/kiln-doc/examples/triangle_c /proj/")
        for name in ("triangle", "triangle_c"):
            self.inside(f"cd /proj/{name} && cmake -S . -B b -G Ninja && cmake --build b && "
                        f"b/{name} b/triangle.kpack /proj/{name}.ppm && kiln stop")
            self.assertGreater((self.root / f"proj/{name}.ppm").stat().st_size, 320 * 180 * 3)

    def check_upgrade(self):
        """What the operator wrote into the configuration stays; what he did not is the new package's."""
        config = self.root / "etc/kiln/kilnd.toml"
        config.write_text(config.read_text() + "\n[log]\nlevel = \"debug\"\n")
        second = pack(self.dir / "second", "2")
        self.install(second.values())
        self.assertIn("0-2", self.inside("dpkg-query -W -f '${Version}' kilnd"))
        self.assertIn('level = "debug"', config.read_text())
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
