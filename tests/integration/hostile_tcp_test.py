#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clients by TCP that speak HTTP/2 themselves, have a certificate and no token: a block of headers
that has no end, headers that stand for a thousand times their bytes, and calls that are reset as
soon as they begin. Their connections are closed, the memory of the daemon stays what it was, and
those who have a token are served. See spec/daemon 10, 11.3.

usage: hostile_tcp_test.py BUILD_FOLDER
"""
import json
import os
import pathlib
import re
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import unittest

from hostile_http2_test import (BUILD, END_HEADERS, HEADERS, MIB, PREFACE, RST_STREAM, SETTINGS,
                                frame, literal)
from waiting import wait_until

CONTINUATION = 9
CANCEL = struct.pack(">I", 8)
# The kernel of the daemon takes 5.3 MiB of a newcomer, whenever somebody looks; what goes out of the
# client besides waits in its own kernel.
MOST = 16 * MIB
ADDRESS = "DNS:localhost,IP:127.0.0.1"


def call(stream, path, flags=END_HEADERS, more=b""):
    block = b"".join(literal(name, value) for name, value in [
        (b":method", b"POST"), (b":scheme", b"https"), (b":path", path), (b":authority", b"x"),
        (b"content-type", b"application/grpc"), (b"te", b"trailers")])
    return frame(HEADERS, flags, stream, block + more)


class HostileByTcp(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kiln_tcp_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.make_certificates()
        self.config = self.folder / "kilnd.toml"
        self.config.write_text('[listen]\ntcp = "127.0.0.1:0"\n[tls]\ncert = "server.pem"\n'
                               'key = "server.key"\nclient_ca = "ca.pem"\n')
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("KILN_")}
        self.flags = ["--config", str(self.config), "--cache.dir", str(self.folder / "cache")]
        made = self.run_program("kilnd", *self.flags, "token", "create", "--scope", "write")
        self.assertEqual(made.returncode, 0, made.stderr)
        (self.folder / "token").write_text(made.stdout)
        self.start()

    def run_program(self, name, *arguments):
        return subprocess.run([str(BUILD / name), *map(str, arguments)], env=self.env, text=True,
                              capture_output=True, timeout=120)

    def openssl(self, *arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True,
                       cwd=self.folder)

    def make_certificates(self):
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        self.openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=ca",
                     "-days", "2")
        (self.folder / "ext").write_text(f"subjectAltName={ADDRESS}\n")
        for name in "server", "client", "honest":
            self.openssl("req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj",
                         f"/CN={name}")
            self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
                         "-CAcreateserial", "-out", f"{name}.pem", "-days", "2", "-extfile", "ext")

    def start(self):
        unix = self.folder / "run/kilnd.sock"
        read, write = os.pipe()
        self.daemon = subprocess.Popen(
            [str(BUILD / "kilnd"), f"--ready-fd={write}", *self.flags, "--allow-root",
             "--cache.min_free=0", f"--listen.unix={unix}"],
            pass_fds=[write], env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.daemon.wait)
        self.addCleanup(self.daemon.kill)
        os.close(write)
        with os.fdopen(read) as pipe:
            self.assertTrue(json.loads(pipe.readline())["ready"])
        status = self.run_program("kiln", "--daemon", f"unix:{unix}", "--json", "status").stdout
        self.port = int(re.search(r"tcp:[^\"]*:([0-9]+)", status).group(1))

    def connect(self):
        context = ssl.create_default_context(cafile=str(self.folder / "ca.pem"))
        context.load_cert_chain(self.folder / "client.pem", self.folder / "client.key")
        context.set_alpn_protocols(["h2"])
        raw = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        self.addCleanup(raw.close)
        client = context.wrap_socket(raw, server_hostname="localhost")
        self.addCleanup(client.close)
        client.sendall(PREFACE + frame(SETTINGS, 0, 0))
        return client

    def resident_mib(self):
        with open(f"/proc/{self.daemon.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) // 1024

    def expect_others_are_served(self):
        tls = [f"--tls-ca={self.folder}/ca.pem", f"--tls-cert={self.folder}/honest.pem",
               f"--tls-key={self.folder}/honest.key", f"--token-file={self.folder}/token"]
        served = self.run_program("kiln", "--daemon", f"https://localhost:{self.port}", *tls, "status")
        self.assertEqual(served.returncode, 0, served.stderr)

    def send_until_closed(self, chunks, most):
        """How many bytes could be sent; fails if there is no end to it."""
        client, sent = self.connect(), 0
        try:
            for chunk in chunks:
                client.sendall(chunk)
                sent += len(chunk)
                if sent > most:
                    break
        except TimeoutError:
            self.fail(f"after {sent} bytes the connection is open and nobody reads it")
        except OSError:
            return sent
        self.fail(f"after {sent} bytes the connection is still open")

    def test_headers_without_end_cost_their_connection(self):
        def flood(block):
            yield call(1, b"/kiln.v1.AdminService/GetServerInfo", flags=0)
            while True:
                yield frame(CONTINUATION, 0, 1, block)

        before = self.resident_mib()
        for block in literal(b"a", b"y" * 100) * 150, literal(b"a", b"b") * 3000:
            self.send_until_closed(flood(block), MOST)
        self.assertLess(self.resident_mib() - before, 512)
        self.expect_others_are_served()

    # gRPC holds to limits.header_list only once a client has acknowledged its settings, which this
    # one does not: one byte names a header of a thousand again.
    def test_headers_that_stand_for_many_cost_their_connection(self):
        def flood():
            name = b"n" * 1000  # its length: 127 in seven bits and the rest
            header = b"\x40\x7f" + bytes([(1000 - 127) & 127 | 128, (1000 - 127) >> 7]) + name + b"\1v"
            stream = 1
            while True:
                again = (header if stream == 1 else b"") + b"\xbe" * 4000
                yield call(stream, b"/kiln.v1.AdminService/GetServerInfo", more=again)
                stream += 2

        before = self.resident_mib()
        self.send_until_closed(flood(), MOST)
        self.assertLess(self.resident_mib() - before, 512)
        self.expect_others_are_served()

    def test_calls_that_are_reset_at_once_cost_their_connection(self):
        def flood(path):
            stream = 1
            while True:
                pairs = b""
                for _ in range(50):
                    pairs += call(stream, path) + frame(RST_STREAM, 0, stream, CANCEL)
                    stream += 2
                yield pairs

        before = self.resident_mib()
        for path in b"/kiln.v1.AdminService/GetServerInfo", b"/grpc.health.v1.Health/Check":
            self.send_until_closed(flood(path), MOST)
        self.assertLess(self.resident_mib() - before, 512)
        self.expect_others_are_served()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], warnings="ignore")
