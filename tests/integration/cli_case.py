# SPDX-License-Identifier: MIT
"""What tests of the command line share: a folder of their own, a daemon of their own, a small
project, and a daemon that answers what a test wants.
"""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD, ROOT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
SOURCE = """
global skinning: flag false;
global fog: flag false;
global lights: uint 4;
void v (void)
{{
    vertex_stage_output_position (f4 {{0.0}});
    conditional (fog) {{ vertex_stage_output_position (f4 {{1.0}}); }}
    conditional (skinning) {{ vertex_stage_output_position (f4 {{2.0}}); }}
    {body}
}}
void lit (void) {{ conditional (lights > 2u) {{ return; }} }}
"""


class CliCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="kiln_cli_")
        self.dir = pathlib.Path(self.folder.name)
        (self.dir / "tmp").mkdir()
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("KILN_") and k != "CI"}
        self.env.update(
            KILN_DAEMON=f"unix:{self.dir}/run/kilnd.sock",
            KILN_CACHE_DIR=str(self.dir / "cache"),
            KILN_CACHE_MIN_FREE="0",
            KILN_JOBS_POLITE="false",  # the machine of a test may be busy
            XDG_CACHE_HOME=str(self.dir / "xdg"),
            XDG_CONFIG_HOME=str(self.dir / "config"),
            HOME=str(self.dir),
            TMPDIR=str(self.dir / "tmp"),
            NO_COLOR="1",
        )

    def tearDown(self):
        self.kiln("stop")
        self.folder.cleanup()

    def run_program(self, program, *arguments, env=None):
        """In the environment `env`, or that of the test."""
        return subprocess.run([str(BUILD / program), *map(str, arguments)], capture_output=True,
                              text=True, timeout=120, cwd=self.dir, env=env or self.env)

    def kiln(self, *arguments, env=None):
        """`env` comes on top of the test's environment."""
        return self.run_program("kiln", *arguments, env={**self.env, **(env or {})})

    def write(self, name, text):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def write_project(self, body="", extra=""):
        """One program `some` with two axes: four variants."""
        self.write("some.rpl", SOURCE.format(body=body))
        self.write("kiln.toml", f"""[project]
manifest = 1
name = "small"
[[program]]
name = "some"
sources = ["some.rpl"]
entry_points = {{ vertex = "v" }}
axes = {{ skinning = "*", fog = "*" }}
{extra}
""")

    def expect(self, result, code, *texts):
        said = result.stdout + result.stderr
        self.assertEqual(result.returncode, code, said)
        for text in texts:
            self.assertIn(text, said)
        return result

    def lines(self, result, code=0):
        """The objects of --json; the last one is the result with the exit code."""
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        objects = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual((objects[-1]["type"], objects[-1]["exit"]), ("result", code))
        return objects


def protobuf(**fields):
    """The bytes of a message from numbers and values: _1="text", _4=7."""
    out = b""
    for name, value in fields.items():
        number = int(name[1:])
        if isinstance(value, str):
            out += varint(number << 3 | 2) + varint(len(value.encode())) + value.encode()
        else:
            out += varint(number << 3) + varint(value)
    return out


def varint(value):
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


@contextlib.contextmanager
def daemon_that_refuses(socket, code, message, detail):
    """GetServerInfo is answered; every other call ends with this status and detail."""
    import grpc

    class Handler(grpc.GenericRpcHandler):
        def service(self, call):
            def answer(_request, context):
                if call.method.endswith("/GetServerInfo"):
                    return protobuf(_4=1, _5=1)  # the versions that it speaks
                context.set_trailing_metadata((("kiln-error-bin", detail),
                                               ("grpc-retry-pushback-ms", "-1")))
                context.abort(code, message)
            return grpc.unary_unary_rpc_method_handler(answer)

    server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers((Handler(),))
    pathlib.Path(socket).parent.mkdir(mode=0o700, exist_ok=True)
    server.add_insecure_port(f"unix:{socket}")
    server.start()
    try:
        yield
    finally:
        server.stop(None).wait()
        pathlib.Path(socket).unlink(missing_ok=True)
