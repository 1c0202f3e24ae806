# SPDX-License-Identifier: MIT
"""A client of the language server protocol: runs `kiln lsp` and speaks with it."""
import json
import pathlib
import subprocess
import threading


class LspClient:
    """Messages are read when they are waited for; the others are kept in `notifications`."""

    def __init__(self, kiln, root, capabilities=None):
        self.process = subprocess.Popen([str(kiln), "lsp"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        # What never comes is not waited for: the server is ended, and reading fails.
        self.guard = threading.Timer(30, self.process.kill)
        self.guard.daemon = True
        self.guard.start()
        self.last_id = 0
        self.notifications = []
        self.version = 0
        result = self.request("initialize", {
            "processId": None, "rootUri": self.uri(root),
            "capabilities": capabilities or {}})["result"]
        self.capabilities = result["capabilities"]
        self.notify("initialized", {})

    @staticmethod
    def uri(path):
        return pathlib.Path(path).resolve().as_uri()

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self):
        length = None
        while line := self.process.stdout.readline().strip():
            name, value = line.split(b":")
            if name == b"Content-Length":
                length = int(value)
        assert length is not None, f"the server is gone; it said {self.notifications[-3:]}"
        return json.loads(self.process.stdout.read(length))

    def request(self, method, params):
        self.last_id += 1
        self.send({"id": self.last_id, "method": method, "params": params})
        while True:
            message = self.receive()
            if message.get("id") == self.last_id and "method" not in message:
                return message
            self.notifications.append(message)

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def open(self, path, text=None):
        self.version += 1
        text = pathlib.Path(path).read_text() if text is None else text
        self.notify("textDocument/didOpen", {"textDocument": {
            "uri": self.uri(path), "languageId": "rpl", "version": self.version, "text": text}})

    def change(self, path, text):
        self.version += 1
        self.notify("textDocument/didChange", {
            "textDocument": {"uri": self.uri(path), "version": self.version},
            "contentChanges": [{"text": text}]})

    def diagnostics(self, path, wanted):
        """The first diagnostics of the file that `wanted` holds for."""
        while True:
            message = self.receive()
            self.notifications.append(message)
            params = message.get("params", {})
            if (message.get("method") == "textDocument/publishDiagnostics"
                    and params["uri"] == self.uri(path) and wanted(params["diagnostics"])):
                return params["diagnostics"]

    def close(self):
        """The exit status, behind a proper end."""
        self.request("shutdown", None)
        self.notify("exit", {})
        self.process.stdin.close()
        self.process.stdout.close()
        self.guard.cancel()
        return self.process.wait(timeout=30)
