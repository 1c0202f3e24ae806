#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Sources in HLSL as any client sends them: files by digest, lists of files, what is missing, what is
refused. The client knows nothing of kiln but proto/.

usage: hlsl_client_test.py BUILD_FOLDER ROOT
"""
import hashlib
import importlib
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import grpc

import python_client_test
from waiting import PATIENCE, wait_until

BUILD = pathlib.Path(sys.argv[1]).resolve()
ROOT_TEXT = """#include "tint.hlsli"
float4 ps_main() : SV_Target { return TINT; }
"""
RED = "#define TINT float4(1, 0, 0, 1)\n"
GREEN = "#define TINT float4(0, 1, 0, 1)\n"


def id_of(text):
    return hashlib.sha256(text.encode()).digest()[:16]


def list_of(files):
    """The text that names files, as spec/daemon 3.3 has it."""
    lines = [f"{id_of(text).hex()} {len(text.encode())} {path}\n" for path, text in sorted(files.items())]
    return "kiln.files.1\n" + "".join(lines)


class Hlsl(unittest.TestCase):
    ARGUMENTS = ()  # of the daemon

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="kiln_hlsl_")
        cls.dir = pathlib.Path(cls.folder.name)
        python_client_test.make_stubs(cls.folder.name)
        for name in ("common", "compile"):
            setattr(cls, name, importlib.import_module(f"kiln.v1.{name}_pb2"))
        stubs = importlib.import_module("kiln.v1.compile_pb2_grpc")
        socket = cls.dir / "run/kilnd.sock"
        env = {name: value for name, value in os.environ.items() if not name.startswith("KILN_")}
        env.update(KILN_CACHE_MIN_FREE="0", KILN_JOBS_POLITE="false")
        socket.parent.mkdir(mode=0o700)
        cls.daemon = subprocess.Popen([BUILD / "kilnd", "--listen.unix", socket, "--cache.dir", cls.dir / "cache",
                                       *cls.ARGUMENTS], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert wait_until(socket.exists)
        cls.channel = grpc.insecure_channel(f"unix:{socket}")
        cls.compiler = stubs.CompileServiceStub(cls.channel)
        assert wait_until(cls.is_ready)

    @classmethod
    def is_ready(cls):
        try:
            cls.compiler.ListOptions(cls.compile.ListOptionsRequest(), timeout=PATIENCE)
        except grpc.RpcError as error:
            return error.code() == grpc.StatusCode.INVALID_ARGUMENT  # there is no program in it
        return False

    @classmethod
    def tearDownClass(cls):
        cls.channel.close()
        cls.daemon.terminate()
        cls.daemon.wait(timeout=PATIENCE)
        cls.folder.cleanup()

    def digest(self, text):
        return self.common.Digest(id=id_of(text), size=len(text.encode()))

    def upload(self, *texts):
        def chunks():
            for text in texts:
                yield self.compile.PutSourcesRequest(digest=self.digest(text), data=text.encode(), last=True)
        self.compiler.PutSources(chunks(), timeout=PATIENCE)

    def request(self, files=None, listed=False, text=ROOT_TEXT, path="p.hlsl", **hlsl):
        common = self.common
        request = self.compile.CompileRequest(project="test")
        program = request.variant.inline_program
        program.name, program.pipeline = "p", "graphics_classic"
        program.sources.add(path=path, inline=text.encode())
        program.entry_points.add(stage=common.EntryPoint.FRAGMENT, function="ps_main")
        program.targets.add(name="vk", form=common.Target.SPIRV, env="vulkan1.1")
        program.hlsl.CopyFrom(common.Hlsl(**hlsl))
        if listed:
            program.hlsl.file_list.CopyFrom(self.digest(list_of(files)))
        else:
            for name, content in (files or {}).items():
                program.hlsl.files.add(path=name, digest=self.digest(content))
        return request

    def compiled(self, request):
        return self.compiler.Compile(request, timeout=PATIENCE).outcome

    def refused(self, request):
        """Status, reason and missing digests."""
        with self.assertRaises(grpc.RpcError) as failed:
            self.compiler.Compile(request, timeout=PATIENCE)
        detail = self.common.ErrorDetail()
        detail.ParseFromString(dict(failed.exception.trailing_metadata())["kiln-error-bin"])
        return failed.exception.code().name, detail.reason, [digest.id for digest in detail.missing]

    def test_what_is_missing_is_named_until_nothing_is(self):
        deep = "// deep\n" + RED
        tint = '#include "deep.hlsli"\n// the only one of this test\n'
        files = {"tint.hlsli": tint, "deep.hlsli": deep, "never.hlsli": "// nobody includes it\n"}
        request = self.request(files, listed=True)
        rounds = []
        for _ in range(4):
            try:
                outcome = self.compiled(request)
                break
            except grpc.RpcError:
                missing = self.refused(request)[2]
                rounds.append(missing)
                for text in [list_of(files), *files.values()]:
                    if id_of(text) in missing:
                        self.upload(text)
        self.assertEqual(rounds, [[id_of(list_of(files))], [id_of(tint)], [id_of(deep)]])
        self.assertEqual(outcome.kind, self.compile.Outcome.OK)
        self.assertEqual([(file.path, file.HasField("digest")) for file in outcome.included],
                         [("deep.hlsli", True), ("tint.hlsli", True)])

    def test_the_same_set_of_many_files_is_known_again(self):
        files = {f"lib/{i:04}.hlsli": f"// {i}\n" for i in range(1000)}
        files["tint.hlsli"] = RED
        self.upload(list_of(files), *files.values())
        text = ROOT_TEXT.replace("TINT", "TINT * 0.125")  # of this test alone
        first = self.compiled(self.request(files, listed=True, text=text))
        again = self.compiled(self.request(files, listed=True, text=text))
        self.assertEqual([outcome.artifacts[0].origin for outcome in (first, again)],
                         [self.common.Artifact.COMPILED, self.common.Artifact.MEMORY])
        files["lib/0007.hlsli"] = "// another one that nobody asks for\n"
        self.upload(list_of(files), files["lib/0007.hlsli"])
        self.assertEqual(self.compiled(self.request(files, listed=True, text=text)).artifacts[0].origin,
                         self.common.Artifact.MEMORY)

    def test_a_shadowing_file_and_an_edit_change_the_result(self):
        self.upload(RED, GREEN)
        roots = {"include_roots": ["lib"]}
        sets = [{"lib/tint.hlsli": RED}, {"lib/tint.hlsli": GREEN}, {"lib/tint.hlsli": RED, "tint.hlsli": GREEN}]
        outcomes = [self.compiled(self.request(files, **roots)) for files in sets]
        signatures = [outcome.artifacts[0].signature for outcome in outcomes]
        self.assertNotEqual(signatures[0], signatures[1])
        self.assertEqual(signatures[1], signatures[2])  # what is read is the same
        self.assertEqual([(file.path, file.HasField("digest")) for file in outcomes[0].included],
                         [("lib/tint.hlsli", True), ("tint.hlsli", False)])

    def test_settings_defines_and_roots_are_part_of_the_request(self):
        text = "float4 ps_main() : SV_Target { return float4(A, B, __HLSL_VERSION, 1); }\n"
        define = self.common.Hlsl.Define
        rows = [dict(defines=[define(name="A", value="1"), define(name="B", value="2")]),
                dict(defines=[define(name="A", value="2"), define(name="B", value="2")]),
                dict(defines=[define(name="A", value="1"), define(name="B", value="2")],
                     settings={"version": "2018"})]
        outcomes = [self.compiled(self.request(text=text, **row)) for row in rows]
        self.assertEqual({outcome.kind for outcome in outcomes}, {self.compile.Outcome.OK})
        self.assertEqual(len({outcome.artifacts[0].signature for outcome in outcomes}), 3)
        turned = dict(defines=list(reversed(rows[0]["defines"])))
        self.assertEqual(self.compiled(self.request(text=text, **turned)).artifacts[0].signature,
                         outcomes[0].artifacts[0].signature)

    def test_hostile_requests_are_refused_by_name(self):
        define = self.common.Hlsl.Define
        rows = [
            (dict(files={"../tint.hlsli": RED}), "BAD_PATH"),
            (dict(files={"/tint.hlsli": RED}), "BAD_PATH"),
            (dict(files={"a/./b": RED}), "BAD_PATH"),
            (dict(files={"a\0b": RED}), "BAD_PATH"),
            (dict(files={"a\nb": RED}), "BAD_PATH"),
            (dict(files={f"{i}.h": RED for i in range(257)}), "LIMIT_EXCEEDED"),
            (dict(include_roots=["../up"]), "BAD_PATH"),
            (dict(include_roots=["/root"]), "BAD_PATH"),
            (dict(include_roots=["a"] * 65), "LIMIT_EXCEEDED"),
            (dict(settings={"version": "1999"}), "MALFORMED_REQUEST"),
            (dict(settings={"vrsion": "2018"}), "MALFORMED_REQUEST"),
            (dict(defines=[define(name="2X", value="")]), "MALFORMED_REQUEST"),
            (dict(defines=[define(name="X=1", value="")]), "MALFORMED_REQUEST"),
            (dict(defines=[define(name="X", value="1\n#include <x>")]), "MALFORMED_REQUEST"),
            (dict(defines=[define(name="X", value="1"), define(name="X(a)", value="a")]), "MALFORMED_REQUEST"),
            (dict(defines=[define(name="X", value="1" * 5000)]), "LIMIT_EXCEEDED"),
            (dict(defines=[define(name=f"X{i}", value="1") for i in range(1025)]), "LIMIT_EXCEEDED"),
            (dict(file_list=self.common.Digest(id=bytes(16), size=1 << 30)), "LIMIT_EXCEEDED"),
            (dict(file_list=self.common.Digest(id=bytes(16), size=100)), "SOURCES_MISSING"),
        ]
        for row, reason in rows:
            with self.subTest(row=str(row)[:80]):
                self.assertEqual(self.refused(self.request(**row))[1], reason)
        both = self.request(files={"tint.hlsli": RED})
        both.variant.inline_program.hlsl.file_list.CopyFrom(self.digest("x"))
        self.assertEqual(self.refused(both)[1], "MALFORMED_REQUEST")
        inline = self.request(files={"tint.hlsli": RED})
        inline.variant.inline_program.hlsl.files[0].inline = RED.encode()
        self.assertEqual(self.refused(inline)[1], "MALFORMED_REQUEST")

    def macro(self, name, *values):
        """A macro with these values: booleans, numbers or words."""
        macro = self.common.Hlsl.Macro(name=name)
        for value in values:
            kind = "flag" if isinstance(value, bool) else "enum" if isinstance(value, str) else "uint"
            macro.values.add(**{kind: value})
        return macro

    def test_macros_are_options_that_choose_defines(self):
        text = ("#ifdef FOG\n#define MORE 1\n#else\n#define MORE 0\n#endif\n"
                "float4 ps_main() : SV_Target { return float4(LIGHTS + MORE, 0, 0, 1); }\n")
        macros = [self.macro("LIGHTS", 1, 2), self.macro("FOG", False, True), self.macro("DEAD", "soft", "hard")]

        def outcome(turned=False, **options):
            request = self.request(text=text, macros=list(reversed(macros)) if turned else macros)
            for name, (kind, value) in options.items():
                request.variant.options.add(name=name, **{kind: value})
            return self.compiled(request)

        usual = outcome()
        self.assertEqual(usual.kind, self.compile.Outcome.OK)
        self.assertEqual(list(usual.artifacts[0].live_options), ["FOG", "LIGHTS"])
        self.assertEqual(list(usual.included), [])
        same = [outcome(turned=True), outcome(LIGHTS=("uint", 1)), outcome(DEAD=("enum", "hard"))]
        self.assertEqual({one.artifacts[0].signature for one in same}, {usual.artifacts[0].signature})
        fog = outcome(FOG=("flag", True))
        self.assertNotEqual(fog.artifacts[0].signature, usual.artifacts[0].signature)
        two = outcome(LIGHTS=("uint", 2))
        self.assertEqual(two.artifacts[0].code[0].digest, fog.artifacts[0].code[0].digest)
        for options, code in ((dict(LIGHTS=("uint", 3)), "RPL2006"), (dict(LIGHTS=("flag", True)), "RPL2004"),
                              (dict(DEAD=("enum", "wet")), "RPL2006"), (dict(SNOW=("flag", True)), "RPL2003")):
            wrong = outcome(**options)
            self.assertEqual((wrong.kind, wrong.diagnostics[0].code), (self.compile.Outcome.SOURCE_ERROR, code))

    def test_macros_are_listed_and_counted_as_options(self):
        text = "#pragma shader_feature FOG\nfloat4 ps_main() : SV_Target { return float4(LIGHTS, 0, 0, 1); }\n"
        program = self.request(text=text, macros=[self.macro("LIGHTS", 1, 2, 4)]).variant.inline_program
        listed = self.compiler.ListOptions(
            self.compile.ListOptionsRequest(program=program, with_liveness=True), timeout=PATIENCE)
        self.assertEqual([(info.name, info.type, list(info.values), info.macro) for info in listed.options],
                         [("FOG", "flag", ["false", "true"], True), ("LIGHTS", "uint", ["1", "2", "4"], True)])

    def test_hostile_macros_are_refused_by_name(self):
        define = self.common.Hlsl.Define
        number = self.common.Hlsl.Macro(name="A")
        number.values.add(float=1.5)
        nothing = self.common.Hlsl.Macro(name="A")
        nothing.values.add()
        rows = [([self.macro("2X", 1)], {}, "MALFORMED_REQUEST"),
                ([self.macro("A(x)", 1)], {}, "MALFORMED_REQUEST"),
                ([self.macro("A\n", 1)], {}, "MALFORMED_REQUEST"),
                ([self.macro("A")], {}, "MALFORMED_REQUEST"),
                ([self.macro("A", 1, 1)], {}, "MALFORMED_REQUEST"),
                ([self.macro("A", 1, "soft")], {}, "MALFORMED_REQUEST"),
                ([self.macro("A", "1\n#include <x>")], {}, "MALFORMED_REQUEST"),
                ([number], {}, "MALFORMED_REQUEST"), ([nothing], {}, "MALFORMED_REQUEST"),
                ([self.macro("A", 1), self.macro("A", 2)], {}, "MALFORMED_REQUEST"),
                ([self.macro("A", 1)], dict(defines=[define(name="A", value="1")]), "MALFORMED_REQUEST"),
                ([self.macro(f"A{i}", 1) for i in range(65)], {}, "LIMIT_EXCEEDED"),
                ([self.macro("A", *range(257))], {}, "LIMIT_EXCEEDED")]
        for macros, other, reason in rows:
            with self.subTest(macros=str(macros)[:80]):
                self.assertEqual(self.refused(self.request(macros=macros, **other))[1], reason)
        self.upload(RED)
        most = [self.macro(f"A{i}", *range(256)) for i in range(64)]
        self.assertEqual(self.compiled(self.request({"tint.hlsli": RED}, macros=most)).kind,
                         self.compile.Outcome.OK)

    def test_what_is_at_a_limit_is_taken(self):
        define = self.common.Hlsl.Define
        self.upload(RED)
        rows = [dict(files={f"{i}.h": RED for i in range(255)} | {"tint.hlsli": RED}),
                dict(files={"tint.hlsli": RED}, include_roots=[f"folder{i}" for i in range(64)]),
                dict(files={"tint.hlsli": RED}, defines=[define(name=f"X{i}", value="1") for i in range(1024)]),
                dict(files={"tint.hlsli": RED}, defines=[define(name="X", value="1" * 4095)])]
        for row in rows:
            with self.subTest(row=str(row)[:80]):
                self.assertEqual(self.compiled(self.request(**row)).kind, self.compile.Outcome.OK)

    def test_lists_have_one_form(self):
        good = list_of({"tint.hlsli": RED})
        self.upload(RED, good)
        for text in ("kiln.files.2\n", good + "\n", good[:-1], good + good.split("\n")[1] + "\n",
                     good.replace("tint", "../tint")):
            with self.subTest(text=text):
                self.upload(text)
                request = self.request()
                request.variant.inline_program.hlsl.file_list.CopyFrom(self.digest(text))
                self.assertEqual(self.refused(request)[0], "INVALID_ARGUMENT")

    def test_hostile_sources_are_answered(self):
        cycle = '#include "cycle.hlsli"\n'
        wide = "".join(f'#include "{i}.hlsli"\n' for i in range(3000))
        self.upload(cycle)
        rows = [('#include "../../etc/passwd"\n', "HLSL1011"),
                ('#include "/etc/passwd"\n', "HLSL1011"),
                ('#include "nowhere.hlsli"\n', "HLSL1010"),
                ('#include "p.hlsl"\n', "HLSL1010"),
                ('#include "a\0b"\n', "HLSL"),
                (cycle, "HLSL1012"),
                (wide, "HLSL1010")]
        for text, code in rows:
            with self.subTest(text=text[:40]):
                outcome = self.compiled(self.request({"cycle.hlsli": cycle}, text=text))
                self.assertEqual(outcome.kind, self.compile.Outcome.SOURCE_ERROR)
                self.assertIn(code, outcome.diagnostics[0].code)

    def test_diagnostics_are_placed_in_the_file_that_is_wrong(self):
        wrong = "// first line\n" + RED + "float wrong = unknown_name;\n"
        self.upload(wrong)
        outcome = self.compiled(self.request({"tint.hlsli": wrong}))
        primary = outcome.diagnostics[0].primary
        self.assertEqual((primary.path, primary.line), ("tint.hlsli", 3))
        self.assertIn("p.hlsl", [label.path for label in outcome.diagnostics[0].labels])

    def test_options_are_placed_in_the_file_that_declares_them(self):
        options = "\n[[kiln::option(instance)]] static const bool kWarm = true;\n" + RED
        self.upload(options)
        request = self.request({"tint.hlsli": options}, text=ROOT_TEXT.replace("TINT", "kWarm ? TINT : 0"))
        listed = self.compiler.ListOptions(
            self.compile.ListOptionsRequest(program=request.variant.inline_program, with_liveness=True),
            timeout=PATIENCE)
        self.assertEqual([(info.name, info.declared_at.path, info.declared_at.line) for info in listed.options],
                         [("kWarm", "tint.hlsli", 2)])


class HlslOfStrangers(Hlsl):
    """The same where front ends run in processes of their own."""
    ARGUMENTS = ("--jobs.isolation", "all")


if __name__ == "__main__":
    unittest.main(argv=["hlsl_client_test"], verbosity=2)
