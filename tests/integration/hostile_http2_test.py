#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A client that speaks HTTP/2 itself: a message of 1 GiB ends with the status of a limit and harms
neither calls that are open nor those that come; what is arriving has bounded memory. See
spec/daemon 2.3, 10.

usage: hostile_http2_test.py BUILD_FOLDER
"""
import os
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

from waiting import PATIENCE, wait_until

BUILD = pathlib.Path(sys.argv[1]).resolve()

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
ACK = END_STREAM = 1
END_HEADERS = 4
ENHANCE_YOUR_CALM = 11  # what gRPC clients show as RESOURCE_EXHAUSTED
RESOURCE_EXHAUSTED = 8
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
MIB = 1 << 20


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def call_of(method):
    block = b"".join(literal(name, value) for name, value in [
        (b":method", b"POST"), (b":scheme", b"http"), (b":path", method), (b":authority", b"x"),
        (b"content-type", b"application/grpc"), (b"te", b"trailers")])
    return frame(HEADERS, END_HEADERS, 1, block)


class Connection:
    """One call on one connection. Frames are sent by one thread; another keeps the windows."""

    def __init__(self, path, method, connected=None):
        self.socket = connected or socket.socket(socket.AF_UNIX)
        if connected is None:
            self.socket.connect(path)
        self.changed = threading.Condition()
        self.answers = []  # frames that are still to be sent
        self.windows = [65535, 65535]  # of the connection, of the stream
        self.first_window, self.largest = 65535, 16384
        self.reset = None  # its code
        self.headers = b""  # of answers, as they came
        self.closed = False
        self.idle = False  # keepalive is answered as it comes
        self.socket.sendall(PREFACE + frame(SETTINGS, 0, 0) + call_of(method))
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        data = b""
        while True:
            try:
                more = self.socket.recv(65536)
            except OSError:
                more = b""
            data += more
            with self.changed:
                while len(data) >= 9 and len(data) >= 9 + int.from_bytes(data[:3], "big"):
                    end = 9 + int.from_bytes(data[:3], "big")
                    self.take(data[3], data[4], int.from_bytes(data[5:9], "big"), data[9:end])
                    data = data[end:]
                if self.idle and self.answers:  # nobody else sends
                    self.socket.sendall(b"".join(self.answers))
                    self.answers = []
                self.closed = self.closed or not more
                self.changed.notify_all()
            if not more:
                return

    def take(self, kind, flags, stream, payload):
        if kind == WINDOW_UPDATE:
            self.windows[0 if stream == 0 else 1] += int.from_bytes(payload, "big")
        elif kind == SETTINGS and not flags & ACK:
            for name, value in struct.iter_unpack(">HI", payload):
                if name == 4:
                    self.windows[1] += value - self.first_window
                    self.first_window = value
                elif name == 5:
                    self.largest = value
            self.answers.append(frame(SETTINGS, ACK, 0))
        elif kind == PING and not flags & ACK:
            self.answers.append(frame(PING, ACK, 0, payload))
        elif kind == HEADERS:
            self.headers += payload
        elif kind == RST_STREAM:
            if self.reset is None:  # another one follows the trailers
                self.reset = int.from_bytes(payload, "big")
        elif kind == GOAWAY:
            self.closed = True

    def send(self, data_bytes, head):
        """As many zero bytes of data as the other side takes; how many it took."""
        sent, zeros = 0, bytes(1 << 16)
        while sent < data_bytes:
            with self.changed:
                self.changed.wait_for(lambda: min(self.windows) > 0 or self.answers or self.over(), PATIENCE)
                if self.over() or (min(self.windows) <= 0 and not self.answers):
                    return sent
                count = max(0, min(*self.windows, self.largest, len(zeros), data_bytes - sent))
                self.windows = [window - count for window in self.windows]
                answers, self.answers = b"".join(self.answers), []
            data = (head + zeros)[:count]
            head = head[count:]
            try:
                self.socket.sendall(answers + (frame(DATA, 0, 1, data) if count else b""))
            except OSError:
                return sent
            sent += count
        return sent

    def rest(self):
        with self.changed:
            self.socket.sendall(b"".join(self.answers))
            self.answers = []
            self.idle = True

    def end(self):
        with self.changed:
            answers, self.answers = b"".join(self.answers), []
        self.socket.sendall(answers + frame(DATA, END_STREAM, 1))

    def grpc_status(self):
        with self.changed:
            self.changed.wait_for(lambda: b"grpc-status" in self.headers or self.closed, PATIENCE)
        at = self.headers.index(b"grpc-status") + len(b"grpc-status")
        return int(self.headers[at + 1:at + 1 + self.headers[at]])  # a length, then digits

    def over(self):
        return self.closed or self.reset is not None


class Hostile(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="kiln_h2_")
        self.addCleanup(self.folder.cleanup)
        self.socket = self.folder.name + "/run/kilnd.sock"
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("KILN_")}
        self.env["KILN_DAEMON"] = "unix:" + self.socket
        self.daemon = None
        self.start("--limits.receiving=4G")

    def start(self, *flags):
        if self.daemon is not None:
            self.daemon.terminate()
            self.daemon.wait()
        self.daemon = subprocess.Popen(
            [str(BUILD / "kilnd"), f"--listen.unix={self.socket}",
             f"--cache.dir={self.folder.name}/cache", "--cache.min_free=0", *flags],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.env)
        self.addCleanup(self.daemon.wait)
        self.addCleanup(self.daemon.terminate)
        self.expect_answer()

    def expect_answer(self):
        def answers():
            self.assertIsNone(self.daemon.poll(), "the daemon has ended")
            return self.status() == 0
        self.assertTrue(wait_until(answers), "the daemon does not answer")

    def status(self):
        return subprocess.run([str(BUILD / "kiln"), "status", "--quiet"], env=self.env,
                              timeout=60).returncode

    def peak_mib(self):
        with open(f"/proc/{self.daemon.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) // 1024

    def test_message_of_a_gibibyte_harms_nobody(self):
        # Calls whose messages have not arrived yet, on connections of their own.
        honest = [Connection(self.socket, b"/kiln.v1.CompileService/Compile") for _ in range(8)]
        for one in honest:
            self.assertEqual(one.send(100, b"\0" + struct.pack(">I", 1000)), 100)
            one.rest()
        before = self.peak_mib()
        huge = Connection(self.socket, b"/kiln.v1.CompileService/Compile")
        size = 1024 * MIB
        self.assertEqual(huge.send(size, b"\0" + struct.pack(">I", size - 5)), size)
        huge.end()
        self.assertEqual(huge.grpc_status(), RESOURCE_EXHAUSTED)
        self.assertLess(self.peak_mib() - before, 1280)
        self.expect_answer()
        for one in honest:
            self.assertFalse(one.over(), "a call of somebody else ended")

    def test_messages_that_arrive_have_bounded_memory(self):
        self.start("--limits.receiving=64M")
        before = self.peak_mib()
        huge = Connection(self.socket, b"/kiln.v1.CompileService/Compile")
        sent = huge.send(512 * MIB, b"\0" + struct.pack(">I", 512 * MIB - 5))
        self.assertEqual(huge.reset, ENHANCE_YOUR_CALM, f"after {sent} bytes")
        self.assertLess(self.peak_mib() - before, 128)
        self.expect_answer()

    # Who may come in by the owner's word, over a socket of which nobody counts the bytes.
    def start_for_a_neighbour(self):
        """How such a user connects."""
        if os.geteuid() != 0:
            self.skipTest("needs root to become somebody else")
        neighbour = 54_321
        os.chmod(self.folder.name, 0o711)
        self.start(f"--security.allow_uids={neighbour}")

        def connect():
            client = socket.socket(socket.AF_UNIX)
            client.settimeout(PATIENCE)
            os.seteuid(neighbour)  # what the daemon sees is who connected
            try:
                client.connect(self.socket)
            finally:
                os.seteuid(0)
            return client
        return connect

    def test_messages_of_another_user_are_bounded(self):
        connect = self.start_for_a_neighbour()
        before = self.peak_mib()
        large = Connection(None, b"/kiln.v1.CompileService/Compile", connect())
        size = 8 * MIB  # too long, and told so
        self.assertEqual(large.send(size, b"\0" + struct.pack(">I", size - 5)), size)
        large.end()
        self.assertEqual(large.grpc_status(), RESOURCE_EXHAUSTED)
        huge = Connection(None, b"/kiln.v1.CompileService/Compile", connect())
        size = 1024 * MIB
        self.assertLess(huge.send(size, b"\0" + struct.pack(">I", size - 5)), 2 * MIB)
        self.assertTrue(wait_until(huge.over))
        self.assertLess(self.peak_mib() - before, 64)
        self.expect_answer()

    def test_headers_of_another_user_are_bounded(self):
        connect = self.start_for_a_neighbour()
        start = PREFACE + frame(SETTINGS, 0, 0)
        headers = call_of(b"/kiln.v1.AdminService/GetServerInfo")
        open_block = headers[:4] + b"\0" + headers[5:]
        rest = frame(CONTINUATION, 0, 1, literal(b"a", b"y" * 100) * 150)
        before = self.peak_mib()
        for name, first in [("acknowledges", start + frame(SETTINGS, ACK, 0) + open_block),
                            ("acknowledges nothing", start + open_block),
                            ("only calls", start)]:
            with self.subTest(name):
                more = headers if first == start else rest
                client, sent = connect(), 0
                with self.assertRaises(OSError):
                    client.sendall(first)
                    while sent < 64 * MIB:
                        client.sendall(more)
                        sent += len(more)
                self.assertLess(sent, 4 * MIB)
        self.assertLess(self.peak_mib() - before, 64)
        self.expect_answer()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], warnings="ignore")
