#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A client that knows nothing of kiln but proto/: its stubs are made here, from the files alone.
Compiles, uploads, counts, lists, builds a batch, watches and fetches it, over the real socket.

usage: python_client_test.py BUILD_FOLDER ROOT
"""
import hashlib
import importlib
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import tempfile
import unittest

import grpc

from waiting import PATIENCE

BUILD, ROOT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
SOURCE = """
global fog: flag false;
global mode: enum "low" "high";
color_output_container target { f4 color; };
void v (void) { vertex_stage_output_position (f4 {0.0}); }
void f (void)
{
    f4 color = f4 {1.0, 1.0, 1.0, 1.0};
    conditional (fog) { color = color * f4 {0.5, 0.5, 0.5, 1.0}; }
    conditional (mode == "high") { color = color * f4 {0.5, 1.0, 1.0, 1.0}; }
    target.color = color;
}
"""
SPIRV_MAGIC = b"\x03\x02\x23\x07"


def make_stubs(folder):
    """Python modules of every .proto, importable as kiln.v1.X_pb2 and kiln.v1.X_pb2_grpc."""
    files = sorted(str(path) for path in (ROOT / "proto").rglob("*.proto"))
    subprocess.run(["protoc", f"-I{ROOT / 'proto'}", f"--python_out={folder}",
                    f"--grpc_out={folder}", "--plugin=protoc-gen-grpc=" + shutil.which("grpc_python_plugin"), *files], check=True)
    sys.path.insert(0, folder)


class Client(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="kiln_py_")
        cls.dir = pathlib.Path(cls.folder.name)
        make_stubs(cls.folder.name)
        for name in ("admin", "batch", "common", "compile", "watch"):
            setattr(cls, name, importlib.import_module(f"kiln.v1.{name}_pb2"))
        stubs = {name: importlib.import_module(f"kiln.v1.{name}_pb2_grpc")
                 for name in ("admin", "batch", "compile", "watch")}
        socket = cls.dir / "run/kilnd.sock"
        cls.env = dict(os.environ, KILN_DAEMON=f"unix:{socket}",
                       KILN_CACHE_DIR=str(cls.dir / "cache"))
        subprocess.run([BUILD / "kiln", "start"], env=cls.env, check=True, timeout=60,
                       capture_output=True)
        cls.compile_stubs = stubs["compile"]
        cls.channel = grpc.insecure_channel(f"unix:{socket}")
        cls.compiler = stubs["compile"].CompileServiceStub(cls.channel)
        cls.batches = stubs["batch"].BatchServiceStub(cls.channel)
        cls.admins = stubs["admin"].AdminServiceStub(cls.channel)
        cls.watches = stubs["watch"].WatchServiceStub(cls.channel)

    @classmethod
    def tearDownClass(cls):
        cls.channel.close()
        subprocess.run([BUILD / "kiln", "stop"], env=cls.env, timeout=60, capture_output=True)
        cls.folder.cleanup()

    def program(self, text=SOURCE):
        common = self.common
        program = common.Program(name="fog", pipeline="graphics_classic")
        program.sources.add(path="fog.rpl", inline=text.encode())
        program.entry_points.add(stage=common.EntryPoint.VERTEX, function="v")
        program.entry_points.add(stage=common.EntryPoint.FRAGMENT, function="f")
        program.targets.add(name="vk", form=common.Target.SPIRV, env="vulkan1.1")
        return program

    def space(self):
        space = self.common.ProgramSpace(program=self.program())
        for name in ("fog", "mode"):
            space.axes.add(name=name, all=True)
        return space

    def test_end_of_a_daemon_whose_bytes_were_read_slowly(self):
        """What was read made a write wait for its socket: gRPC must not keep the daemon beyond its drain time."""
        own = self.dir / "own"
        own.mkdir(mode=0o700)
        address = f"unix:{own / 'kilnd.sock'}"
        ready, tell = os.pipe()
        daemon = subprocess.Popen(
            [BUILD / "kilnd", "--listen.unix", own / "kilnd.sock", "--cache.dir", own / "cache", "--ready-fd", str(tell),
             "--lifecycle.drain_timeout=1s"], env=self.env, pass_fds=(tell,), stderr=subprocess.DEVNULL)
        os.close(tell)
        with os.fdopen(ready) as told:
            self.assertIn("true", told.readline())
        kept = importlib.import_module("kiln.v1.cache_pb2")
        blobs = [os.urandom(1_900_000) for _ in range(10)]
        digests = [self.common.Digest(id=hashlib.sha256(blob).digest()[:16], size=len(blob)) for blob in blobs]
        with grpc.insecure_channel(address, [("grpc.max_receive_message_length", -1)]) as channel:
            compiler = self.compile_stubs.CompileServiceStub(channel)
            compiler.PutSources(self.compile.PutSourcesRequest(digest=digest, data=blob[at:at + (1 << 19)],
                                                               last=at + (1 << 19) >= len(blob))
                                for digest, blob in zip(digests, blobs) for at in range(0, len(blob), 1 << 19))
            cache = importlib.import_module("kiln.v1.cache_pb2_grpc").CacheServiceStub(channel)
            got = sum(len(part.data) for part in cache.GetBlobs(kept.GetBlobsRequest(digests=digests), timeout=PATIENCE))
        self.assertEqual(got, sum(map(len, blobs)))
        daemon.terminate()
        self.assertEqual(daemon.wait(timeout=PATIENCE), 0)  # 71: something had no end of its own

    def test_info_names_the_version(self):
        info = self.admins.GetServerInfo(self.admin.GetServerInfoRequest(), timeout=PATIENCE)
        self.assertTrue(info.version)

    def test_one_variant_has_modules_and_metadata(self):
        request = self.compile.CompileRequest(inline_data=True)
        request.variant.inline_program.CopyFrom(self.program())
        request.variant.options.add(name="fog", flag=True)
        outcome = self.compiler.Compile(request, timeout=PATIENCE).outcome
        self.assertEqual(len(outcome.artifacts), 1)
        artifact = outcome.artifacts[0]
        self.assertEqual(len(artifact.code), 2)
        self.assertTrue(artifact.data.startswith(SPIRV_MAGIC))
        metadata = importlib.import_module("kiln.v1.metadata_pb2").PipelineMetadata()
        metadata.ParseFromString(artifact.metadata_data)
        self.assertEqual([entry.name for entry in metadata.entry_points], ["v", "f"])

    def test_wrong_source_is_an_answer_with_a_place(self):
        request = self.compile.CompileRequest()
        request.variant.inline_program.CopyFrom(self.program(SOURCE.replace("0.0", "0u")))
        outcome = self.compiler.Compile(request, timeout=PATIENCE).outcome
        self.assertGreater(len(outcome.diagnostics), 0)
        self.assertEqual(outcome.diagnostics[0].primary.line, 5)

    def test_bad_request_has_its_status(self):
        with self.assertRaises(grpc.RpcError) as failed:
            self.compiler.Compile(self.compile.CompileRequest(), timeout=PATIENCE)
        self.assertEqual(failed.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
        self.assertIn("kiln-error-bin", dict(failed.exception.trailing_metadata()))

    def test_space_is_counted_and_listed(self):
        request = self.compile.CountVariantsRequest()
        request.spaces.add().CopyFrom(self.space())
        self.assertEqual(self.compiler.CountVariants(request, timeout=PATIENCE).programs[0].variants, "4")
        rows, token = [], ""
        while True:
            listed = self.compile.ListVariantsRequest(page_size=3, page_token=token)
            listed.space.CopyFrom(self.space())
            reply = self.compiler.ListVariants(listed, timeout=PATIENCE)
            rows += [row.rank for row in reply.rows]
            token = reply.next_page_token
            if not token:
                break
        self.assertEqual(rows, ["0", "1", "2", "3"])

    def test_batch_is_built_watched_and_fetched(self):
        start = self.batch.StartBatchRequest(project="python")
        start.spaces.add().CopyFrom(self.space())
        batch_id = self.batches.StartBatch(start, timeout=PATIENCE).batch_id
        events = list(self.batches.WatchBatch(self.batch.WatchBatchRequest(batch_id=batch_id),
                                              timeout=60))
        self.assertEqual(events[-1].WhichOneof("event"), "final")
        self.assertEqual(events[-1].final.counts.variants_served, "4")
        for together in (False, True):
            with self.subTest(together=together):
                done = self.check_fetch(self.compile.FetchRequest(batch_id=batch_id,
                                                                  together=together))
        # what the client has is not sent again
        again = self.compile.FetchRequest(batch_id=batch_id, have_root=done.root)
        last = list(self.compiler.Fetch(again, timeout=60))[-1]
        self.assertEqual(last.done.counts.blobs_sent, 0)

    def check_fetch(self, request):
        blobs, outcomes, done = {}, 0, None
        for reply in self.compiler.Fetch(request, timeout=60):
            kind = reply.WhichOneof("event")
            for chunk in list(reply.blobs) + ([reply.blob] if kind == "blob" else []):
                blobs.setdefault(chunk.digest.id, bytearray()).extend(chunk.data)
            outcomes += len(reply.outcomes) + (kind == "outcome")
            done = reply.done if kind == "done" else done
        self.assertEqual(outcomes, 4)
        self.assertEqual(done.counts.blobs_sent, len(blobs))
        modules = [blob for blob in blobs.values() if blob.startswith(SPIRV_MAGIC)]
        self.assertEqual(len(modules), 5)  # one vertex module for all, four fragment modules
        return done

    def test_edit_is_pushed_and_its_artifact_comes_back(self):
        requests = queue.SimpleQueue()
        start = self.watch.WatchRequest()
        start.open.project, start.open.session_id = "python", "editor"
        start.open.role, start.open.inline_data = start.open.BOTH, True
        start.open.spaces.add().CopyFrom(self.space())
        requests.put(start)
        events = self.watches.Watch(iter(requests.get, None), timeout=60)

        def settled():
            found = []
            for event in events:
                found.append(event)
                if event.WhichOneof("event") == "settled":
                    return found
            self.fail("the stream ended")

        first = settled()
        self.assertEqual([e.seq for e in first], list(range(1, len(first) + 1)))
        self.assertEqual(sum(e.HasField("artifact") for e in first), 4)
        push = self.watch.WatchRequest()
        push.push.changed.add(path="fog.rpl", inline=SOURCE.replace("1.0, 1.0", "0.0, 1.0").encode())
        requests.put(push)
        artifacts = [e.artifact for e in settled() if e.HasField("artifact")]
        self.assertEqual(len(artifacts), 4)
        self.assertTrue(all(a.change.code and not a.change.layout for a in artifacts))
        self.assertTrue(artifacts[0].artifact.data.startswith(SPIRV_MAGIC))
        push.push.changed[0].inline = SOURCE.replace("0.0", "0u").encode()
        requests.put(push)
        broken = settled()
        self.assertFalse(any(e.HasField("artifact") for e in broken))
        said = next(e.diagnostics for e in broken if e.HasField("diagnostics"))
        self.assertEqual(said.errors[0].primary.path, "fog.rpl")
        requests.put(None)  # nothing more to say: the stream ends well
        self.assertEqual(list(events), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
