#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The image of kilnd without docker: the root file system that the last stage of the Dockerfile describes is
made and its entry point run as compose.yaml runs it.

usage: image_test.py BUILD ROOT

What is done: debian:12 is a root of mmdebstrap (variant minbase, of which Debian makes its images); RUN is run in
it as root; COPY --from=build takes the programs of BUILD. Then ENTRYPOINT and the command of compose.yaml run as
process 1 of a namespace of processes, as USER, with ENV and nothing else, on a root that is read-only but
for the volume and the tmpfs of compose.yaml. The first stage, which compiles, is deploy/run's build; images of
others (Prometheus, Grafana), networks and `restart` are docker's and not tried. Where Debian's prometheus is
installed, it scrapes the daemon as deploy/docker/prometheus.yml says.

Wants root, mmdebstrap and Debian's archive. Skipped where these are not there; KILN_REQUIRE_PACKAGES=1 makes that
an error.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest
import urllib.request

BUILD, ROOT = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
DOCKER = ROOT / "deploy/docker"
sys.path.insert(0, str(ROOT / "tests/integration"))
from waiting import PATIENCE, wait_until  # noqa: E402


def run(*command, **how):
    done = subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, timeout=600, **how)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


def last_stage(text):
    """[(instruction, rest)] behind the last FROM."""
    lines = re.sub(r"\\\n\s*", " ", "\n".join(line for line in text.splitlines() if not line.startswith("#")))
    rows = [line.split(" ", 1) for line in lines.splitlines() if line.strip()]
    begin = max(index for index, row in enumerate(rows) if row[0] == "FROM")
    return [(row[0], row[1].strip()) for row in rows[begin:]]


def until(what, check):
    found = wait_until(check)
    if not found:
        raise AssertionError(f"{what}: not within {PATIENCE} s")
    return found


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0 or not shutil.which("mmdebstrap"):
            cls.not_here("an image wants mmdebstrap and root")
        cls.temporary = tempfile.TemporaryDirectory(prefix="kiln_image_")
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.dir = pathlib.Path(cls.temporary.name)
        cls.dir.chmod(0o755)
        cls.root = cls.dir / "root"
        cls.stage = last_stage((DOCKER / "Dockerfile").read_text())
        cls.make_root()

    @classmethod
    def not_here(cls, reason):
        print(f"image: not tried here: {reason}", flush=True)
        if os.environ.get("KILN_REQUIRE_PACKAGES"):
            raise AssertionError(reason)
        raise unittest.SkipTest(reason)

    @classmethod
    def make_root(cls):
        assert cls.stage[0] == ("FROM", "debian:12"), cls.stage[0]
        made = subprocess.run(["mmdebstrap", "--variant=minbase", "bookworm", cls.root], capture_output=True, text=True,
                              check=False)
        if made.returncode != 0:
            cls.not_here(f"mmdebstrap: {made.stderr[-800:]}")
        for name in ("etc/apt/apt.conf.d", "etc/apt/sources.list.d"):  # how this machine reaches Debian
            for path in pathlib.Path("/", name).glob("*"):
                shutil.copy(path, cls.root / name)
        shutil.copy("/etc/resolv.conf", cls.root / "etc/resolv.conf")
        cls.config = {}
        for instruction, rest in cls.stage[1:]:
            if instruction == "RUN":
                run("chroot", cls.root, "/bin/sh", "-c", rest, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
            elif instruction == "COPY":
                *sources, target = rest.removeprefix("--from=build ").split()
                for source in sources:
                    shutil.copy(BUILD / source.removeprefix("/src/build/release/"), cls.root / target.strip("/"))
            else:
                cls.config[instruction] = rest

    def mount(self, *arguments):
        run("mount", *arguments)
        self.addCleanup(run, "umount", "--lazy", arguments[-1])

    def start(self):
        """The entry point as process 1; in self.kilnd its id outside."""
        compose = (DOCKER / "compose.yaml").read_text()
        command = json.loads(re.search(r"command: (\[.*\])", compose)[1])
        self.assertIn("read_only: true", compose)
        place, options = re.search(r'tmpfs: \["(.*?):(.*?)"\]', compose).groups()
        uid = int(self.config["USER"])
        cache, volume = self.root / self.config["VOLUME"].strip("/"), self.dir / "volume"
        volume.mkdir()
        os.chown(volume, cache.stat().st_uid, cache.stat().st_gid)
        volume.chmod(stat.S_IMODE(cache.stat().st_mode))
        self.mount("--bind", self.root, self.root)
        self.mount("-t", "tmpfs", "-o", options, "tmpfs", self.root / place.strip("/"))
        self.mount("--bind", volume, cache)
        self.mount("-t", "proc", "proc", self.root / "proc")
        run("mount", "-o", "remount,bind,ro", self.root)
        self.environment = dict(re.findall(r"(\w+)=(\S+)", self.config["ENV"]), PATH="/usr/sbin:/usr/bin:/sbin:/bin")
        self.inside = ["chroot", f"--userspec={uid}:{uid}", self.root]
        log = open(self.dir / "log", "w", encoding="utf-8")
        self.addCleanup(log.close)
        self.outer = subprocess.Popen(
            ["unshare", "--pid", "--fork", "--kill-child", *self.inside, *json.loads(self.config["ENTRYPOINT"]), *command],
            env=self.environment, stdout=log, stderr=subprocess.STDOUT)
        self.addCleanup(self.outer.wait)
        self.addCleanup(self.outer.kill)
        children = pathlib.Path(f"/proc/{self.outer.pid}/task/{self.outer.pid}/children")
        self.kilnd = int(until("a child", lambda: self.outer.poll() is None and children.read_text().split())[0])

    def in_image(self, *command):
        return subprocess.run([*self.inside, *command], env=self.environment, capture_output=True, text=True,
                              check=False, timeout=PATIENCE)

    def log(self):
        return (self.dir / "log").read_text()

    def test_the_daemon_of_the_image_lives_as_compose_runs_it(self):
        self.start()
        healthy = json.loads(self.config["HEALTHCHECK"].removeprefix("CMD "))
        until("health", lambda: self.in_image(*healthy).returncode == 0 or self.outer.poll() is not None)
        self.assertIsNone(self.outer.poll(), self.log())
        status = pathlib.Path(f"/proc/{self.kilnd}/status").read_text()
        self.assertRegex(status, r"NSpid:\s+\d+\s+1\n")
        self.assertRegex(status, r"Uid:\s+10001\s+10001")
        # It compiles, keeps what it made in the volume, and writes nowhere else.
        project = self.dir / "volume/project"
        shutil.copytree(ROOT / "examples/triangle", project)
        built = self.in_image("kiln", "build", "--manifest", "/var/cache/kiln/project/kiln.toml")
        self.assertEqual(built.returncode, 0, built.stdout + built.stderr)
        self.assertTrue(list((self.dir / "volume").rglob("cache.db")), "nothing is kept")
        self.assertNotEqual(self.in_image("sh", "-c", "echo x > /usr/x").returncode, 0, "the root can be written")
        for line in self.log().splitlines():
            json.loads(line)  # KILN_LOG_FORMAT
        address = re.search(r'targets: \["(.*)"\]', (DOCKER / "prometheus.yml").read_text())[1]
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=PATIENCE) as answer:
            self.assertIn("kiln_", answer.read().decode())
        self.scrape()
        # Process 1 has no default handlers: SIGTERM is a drain because kilnd takes it.
        os.kill(self.kilnd, signal.SIGHUP)
        os.kill(self.kilnd, signal.SIGTERM)
        self.assertEqual(self.outer.wait(timeout=PATIENCE), 0, self.log())

    def scrape(self):
        """Prometheus of Debian with the configuration of compose.yaml."""
        if not shutil.which("prometheus"):
            print("image: not tried here: prometheus is not installed", flush=True)
            return
        run("promtool", "check", "config", DOCKER / "prometheus.yml")
        port = "127.0.0.1:19090"
        process = subprocess.Popen(
            ["prometheus", f"--config.file={DOCKER / 'prometheus.yml'}", f"--storage.tsdb.path={self.dir / 'tsdb'}",
             f"--web.listen-address={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

        def scraped():
            try:
                with urllib.request.urlopen(f"http://{port}/api/v1/query?query=up%7Bjob%3D%22kiln%22%7D", timeout=5) as answer:
                    rows = json.load(answer)["data"]["result"]
            except OSError:
                return False
            return rows and rows[0]["value"][1] == "1"
        until("Prometheus sees kilnd", scraped)
        print("image: Prometheus scrapes kilnd", flush=True)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
