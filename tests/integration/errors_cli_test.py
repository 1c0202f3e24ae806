#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How the command line says what went wrong: errors as text and JSON, traces, logs, diagnostics in
their forms, warnings as errors, daemons that do not start.

usage: errors_cli_test.py BUILD_FOLDER ROOT
"""
import json
import re
import sys
import unittest

import grpc

from cli_case import CliCase, daemon_that_refuses, protobuf

TRACE = "0123456789abcdef0123456789abcdef"
# "void f" reads what nobody declared; the fragment below it divides by zero, which is a warning.
BROKEN = "void f (void) { x; }"
WARNING = """color_output_container target { f4 color; };
void v (void) { vertex_stage_output_position (f4 {0.0}); }
void f (void) { target.color = f4 {1.0} / 0.0; }
"""
STAGES = ["--entry", "vertex=v", "--entry", "fragment=f"]


class Errors(CliCase):
    def refused(self, code, message, detail, *arguments):
        with daemon_that_refuses(self.dir / "run/kilnd.sock", code, message, detail):
            return self.kiln(*arguments)

    # -- errors of a daemon

    def test_json_error_has_limit_retry_trace_and_help(self):
        detail = protobuf(_1="QUEUE_FULL", _3="queue.batch", _4=100, _5=2**53 + 1, _6=250, _8=TRACE,
                          _9="repeat the call after the time that is named")
        result = self.refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "the batch lane is full", detail,
                              "--json", "batch", "list")
        error, last = self.lines(result, 5)
        self.assertEqual(list(error.items()), [
            ("v", 1), ("type", "error"), ("reason", "QUEUE_FULL"),
            ("message", "the batch lane is full"), ("limit", "queue.batch"), ("max", 100),
            ("actual", str(2**53 + 1)), ("retry_after_ms", 250), ("trace_id", TRACE),
            ("help", "repeat the call after the time that is named"), ("exit", 5)])
        self.assertEqual(list(last), ["v", "type", "verb", "ok", "counts", "seconds", "trace_id",
                                      "exit"])
        self.assertRegex(last["trace_id"], r"^[0-9a-f]{32}$")

    def test_text_says_what_and_what_to_do_once(self):
        detail = protobuf(_1="UNKNOWN_BATCH", _8=TRACE, _9="start it")
        result = self.refused(grpc.StatusCode.NOT_FOUND, "gone", detail, "batch", "list")
        self.assertEqual((result.returncode, result.stdout, result.stderr),
                         (3, "", "error: gone; start it\n"))
        result = self.refused(grpc.StatusCode.NOT_FOUND, "gone", detail, "--trace", "batch", "list")
        lines = result.stderr.splitlines()
        self.assertEqual(lines[:2], ["error: gone; start it", f"  trace {TRACE}"])
        self.assertRegex(lines[2], r"^trace [0-9a-f]{32}$")

    def test_internal_error_names_trace_and_log(self):
        detail = protobuf(_1="BUG", _8=TRACE, _9="report it with the trace id")
        result = self.refused(grpc.StatusCode.INTERNAL, "check failed", detail, "batch", "list")
        self.expect(result, 70, "error: check failed", f"trace {TRACE}", f"log {self.dir}/run/kilnd.log",
                    "kiln doctor --bundle")

    def test_every_status_has_its_exit_code(self):
        codes = grpc.StatusCode
        rows = [(codes.CANCELLED, 6), (codes.INVALID_ARGUMENT, 2), (codes.DEADLINE_EXCEEDED, 6),
                (codes.NOT_FOUND, 3), (codes.ALREADY_EXISTS, 3), (codes.PERMISSION_DENIED, 9),
                (codes.RESOURCE_EXHAUSTED, 5), (codes.FAILED_PRECONDITION, 2), (codes.ABORTED, 7),
                (codes.OUT_OF_RANGE, 3), (codes.UNIMPLEMENTED, 2), (codes.INTERNAL, 70),
                (codes.UNAVAILABLE, 4), (codes.DATA_LOSS, 7), (codes.UNAUTHENTICATED, 9)]
        for status, exit_code in rows:
            with self.subTest(status=status):
                result = self.refused(status, "no", protobuf(_1="NO"), "--json", "batch", "list")
                error = self.lines(result, exit_code)[0]
                self.assertEqual((error["type"], error["exit"]), ("error", exit_code))

    def test_error_of_the_command_itself_has_the_members_too(self):
        error, last = self.lines(self.kiln("--json", "compile", "missing.rpl"), 3)
        self.assertEqual([error[name] for name in ("limit", "max", "actual", "retry_after_ms", "help")],
                         [None] * 5)
        self.assertEqual(error["trace_id"], last["trace_id"])
        self.assertTrue(error["reason"])

    def test_wrong_words_are_json_too(self):
        rows = [["--json", "buld"], ["--json", "compile"], ["build", "--json", "--nonsense"],
                ["--json", "pack"]]
        for words in rows:
            with self.subTest(words=words):
                error, _ = self.lines(self.kiln(*words), 2)
                self.assertEqual((error["type"], error["reason"]), ("error", "USAGE"))
        self.lines(self.kiln("buld", env={"KILN_JSON": "1"}), 2)
        # Behind "--" it is no flag.
        self.assertEqual(self.kiln("buld", "--", "--json").stdout, "")

    # -- traces and logs

    def test_one_trace_leads_through_the_daemon(self):
        self.write_project()
        result = self.expect(self.kiln("--trace", "compile", "some"), 0)
        trace = re.search(r"^trace ([0-9a-f]{32})$", result.stderr, re.M).group(1)
        for method in "GetServerInfo", "PutSources", "ListOptions", "Fetch":
            self.assertIn(f"{trace}  {method}  OK",
                          self.expect(self.kiln("status", "--trace", trace), 0).stdout)
        record = self.lines(self.kiln("--json", "explain", "--last"))[0]
        self.assertEqual(record["trace_id"], trace)
        other = self.lines(self.kiln("--json", "compile", "some"))[-1]["trace_id"]
        self.assertNotEqual(other, trace)

    def test_verbose_table(self):
        self.write_project()
        stage = r"(?m)^kiln: Fetch +[0-9.]+ ms  of it  queue [0-9.]+  run [0-9.]+"
        call = r"(?m)^kiln: debug: /kiln\.v1\.CompileService/Fetch OK \d+ us trace [0-9a-f]{32}$"
        rows = [
            ([], {}, False, False), (["-v"], {}, True, False), (["-vv"], {}, True, True),
            (["-v", "-v"], {}, True, True), ([], {"KILN_LOG": "verbose"}, True, False),
            ([], {"KILN_LOG": "debug"}, True, True), ([], {"KILN_LOG": "info"}, False, False),
            (["-q"], {"KILN_LOG": "debug"}, False, False),
            (["-v", "--no-daemon"], {}, True, False),
        ]
        for flags, env, stages, calls in rows:
            with self.subTest(flags=flags, env=env):
                result = self.expect(self.kiln(*flags, "compile", "some", env=env), 0)
                self.assertEqual(bool(re.search(stage, result.stderr)), stages, result.stderr)
                self.assertEqual(bool(re.search(call, result.stderr)), calls, result.stderr)
        self.assertEqual(self.kiln("compile", "some", env={"KILN_LOG": "error"}).stderr, "")
        self.expect(self.kiln("version", env={"KILN_LOG": "loud"}), 2, "KILN_LOG", "verbose")
        self.assertEqual(list((self.dir / "tmp").iterdir()), [])

    def test_verbose_tells_the_stages_of_the_compiler(self):
        self.write_project()
        result = self.expect(self.kiln("-v", "compile", "some"), 0)
        self.assertRegex(result.stderr, r"(?m)^kiln: .*  lookup [0-9.]+  build [0-9.]+")

    # -- diagnostics

    def test_diagnostics_table(self):
        self.write("broken.rpl", BROKEN)
        compile_it = ["compile", "broken.rpl", "--entry", "vertex=f"]
        full = self.expect(self.kiln(*compile_it), 1).stderr
        self.assertIn("\n --> broken.rpl:1:17\n", full)
        self.assertIn("1 | void f (void) { x; }", full)
        short = self.expect(self.kiln("--diagnostics", "short", *compile_it), 1).stderr
        self.assertRegex(short, r"\Abroken\.rpl:1:17: error: .* \[RPL6001\]\n\Z")
        github = self.expect(self.kiln(*compile_it, "--diagnostics=github"), 1).stderr
        self.assertRegex(github, r"\A::error file=broken\.rpl,line=1,endLine=1,col=17,endColumn=18,"
                                 r"title=RPL6001::.*\n\Z")
        self.expect(self.kiln("--diagnostics", "long", *compile_it), 2, "--diagnostics")
        objects = self.lines(self.kiln("--json", "--diagnostics", "short", *compile_it), 1)
        self.assertEqual([o["type"] for o in objects], ["diagnostic", "item", "result"])

    def test_werror_turns_warnings_into_1(self):
        self.write("warned.rpl", WARNING)
        self.write("warned/warned.rpl", WARNING)
        self.write("warned/kiln.toml", """[project]
manifest = 1
[[program]]
name = "warned"
sources = ["warned.rpl"]
entry_points = { vertex = "v", fragment = "f" }
""")
        self.write_project()
        compile_it = ["compile", "warned.rpl", *STAGES]
        rows = [
            (compile_it, 0, ["warning[RPL6029]"]),
            ([*compile_it, "-Werror"], 1, ["warning[RPL6029]", "-Werror makes them errors"]),
            (["-W", "error", *compile_it], 1, ["-Werror"]),
            (["-Werror", "compile", "some"], 0, []),
            (["-Werror", "build"], 0, []),
            (["-C", "warned", "build"], 0, []),
            (["-C", "warned", "-Werror", "build"], 1, ["warning[RPL6029]", "-Werror makes"]),
            (["-Wall", *compile_it], 2, ["-W"]),
            (["-W", *compile_it], 2, []),
        ]
        for arguments, code, texts in rows:
            with self.subTest(arguments=arguments):
                self.expect(self.kiln(*arguments), code, *texts)
        last = self.lines(self.kiln("--json", "-Werror", *compile_it), 1)[-1]
        self.assertFalse(last["ok"])
        self.assertEqual(self.kiln("-q", *compile_it).stderr, "")  # errors only

    def test_reports_say_what_the_command_ends_with(self):
        self.write("kiln.toml", """[project]
manifest = 1
[[program]]
name = "warned"
sources = ["warned.rpl"]
entry_points = { vertex = "v", fragment = "f" }
""")
        self.write("warned.rpl", WARNING)
        self.write("file", "and no folder")
        rows = [
            ([], 0, None),
            (["-Werror"], 1, "-Werror makes them errors"),
            (["--out", "file/out"], None, "file/out"),
            (["--pack", "file/all.kpack"], None, "file/all.kpack"),
            (["--out", "out", "--deps", "file/deps"], None, "file/deps"),
            (["-Werror", "--out", "out"], 1, "-Werror makes them errors"),
            (["-Werror", "--out", "file/out"], None, "file/out"),
        ]
        for arguments, code, problem in rows:
            with self.subTest(arguments=arguments):
                reports = [f"--report={form}:report.{form}" for form in ("json", "junit", "github", "md")]
                result = self.kiln("--progress", "none", "build", *reports, *arguments)
                self.assertEqual(result.returncode != 0, problem is not None, result.stderr)
                self.assertIn(result.returncode, [code] if code is not None else range(2, 10), result.stderr)
                text = {form: (self.dir / f"report.{form}").read_text() for form in ("json", "junit", "github", "md")}
                report = json.loads(text["json"])
                self.assertEqual(report["exit"], result.returncode)
                self.assertIn(problem or "", report["problem"])
                marks = {"junit": "<error message", "github": "::error title=kiln build", "md": "**"}
                for form, mark in marks.items():
                    self.assertEqual(mark in text[form], problem is not None, text[form])
                self.assertEqual("ok. again" in result.stdout, problem is None)
                for form in text:
                    (self.dir / f"report.{form}").unlink()
        # One that cannot be written does not hide what else is wrong.
        self.expect(self.kiln("build", "--report", "json:file/r", "--out", "file/out"), result.returncode,
                    "file/out", "file/r")
        self.assertNotEqual(self.kiln("build", "--report", "json:file/r").returncode, 0)

    def test_many_diagnostics_are_cut_short(self):
        self.write("many.rpl", "void f (void)\n{\n" + "".join(f"    x{i};\n" for i in range(30)) + "}\n")
        result = self.expect(self.kiln("compile", "many.rpl", "--entry", "vertex=f"), 1)
        self.assertLessEqual(result.stderr.count("error["), 20)
        self.assertIn("note: 10 more are not shown", result.stderr)  # the daemon sends no more

    MANY = [f"material{i:02}" for i in range(40)]

    def write_many(self, body):
        """40 programs of one source; what is wrong with it is wrong with all of them."""
        self.write("shared.rpl", "global fog: flag false;\nvoid v (void)\n{\n"
                   "    vertex_stage_output_position (f4 {0.0}); conditional (fog) "
                   "{ vertex_stage_output_position (f4 {1.0}); }\n"
                   f"    {body}\n}}\n")
        self.write("kiln.toml", '[project]\nmanifest = 1\nname = "many"\n' + "".join(
            f'[[program]]\nname = "{name}"\nsources = ["shared.rpl"]\n'
            'entry_points = { vertex = "v" }\naxes = { fog = "*" }\n' for name in self.MANY))

    def test_one_mistake_of_many_programs_is_one_message(self):
        self.write_many("x;")
        reports = [f"{form}:{form}.out" for form in ("json", "junit", "github", "md")]
        result = self.expect(self.kiln("--progress", "none", "build",
                                       *[part for one in reports for part in ("--report", one)]), 1)
        self.assertEqual(result.stderr.count("error["), 1, result.stderr)
        self.assertLess(len(result.stderr.splitlines()), 20, result.stderr)
        self.assertRegex(result.stderr, r"shared.rpl:5:5 \[RPL\d+\]: also in material\d\d, "
                         r"material\d\d, material\d\d and 36 more")
        report = json.loads((self.dir / "json.out").read_text())
        self.assertEqual(len(report["mistakes"]), 1)
        self.assertEqual(report["mistakes"][0]["programs"], self.MANY)
        self.assertEqual(len(report["failures"]), 40)
        junit = (self.dir / "junit.out").read_text()
        self.assertEqual((junit.count("<failure"), junit.count("<skipped")), (1, 40))
        self.assertEqual(len((self.dir / "github.out").read_text().splitlines()), 1)
        self.assertIn("material00, material01, material02 and 37 more",
                      (self.dir / "github.out").read_text())
        self.assertEqual((self.dir / "md.out").read_text().count("error: "), 1)
        rows = [json.loads(line) for line in self.kiln("--json", "build").stdout.splitlines()]
        found = [row for row in rows if row["type"] == "diagnostic"]
        self.assertEqual([row["programs"] for row in found], [self.MANY])
        fetched = self.kiln("--progress", "none", "fetch", "--all", "--out", "out")
        self.assertEqual((fetched.returncode, fetched.stderr.count("error[")), (1, 1))
        dry = self.kiln("build", "--dry-run")
        self.assertLessEqual(dry.stderr.count("error["), 1, dry.stderr)

    def test_mistakes_of_syntax_are_not_hidden_behind_the_manifest(self):
        self.write_project()
        self.write("some.rpl", (self.dir / "some.rpl").read_text().replace(";", "", 1))
        for verb in (["compile"], ["explain"], ["inspect"], ["build"], ["options"],
                     ["preview", "--out", "a.png"], ["fetch", "--out", "out"]):
            with self.subTest(verb=verb):
                result = self.kiln("--progress", "none", verb[0], "some", *verb[1:])
                self.expect(result, 1, "error[RPL1", "some.rpl:")
                self.assertNotIn("kiln.toml", result.stderr)

    def test_places_are_named_from_the_working_directory(self):
        self.write("sub/some.rpl", "void v (void)\n{\n    x;\n}\n")
        self.write("sub/kiln.toml", '[project]\nmanifest = 1\n[[program]]\nname = "some"\n'
                   'sources = ["some.rpl"]\nentry_points = { vertex = "v" }\n')
        for words in (["--manifest", "sub/kiln.toml"], ["-C", "sub"]):
            with self.subTest(words=words):
                result = self.expect(self.kiln(*words, "--diagnostics", "short", "build"), 1)
                self.assertIn("sub/some.rpl:3:5: error: ", result.stderr)
                self.expect(self.kiln(*words, "build"), 1, "--> sub/some.rpl:3:5", "    x;")
                rows = [json.loads(line)
                        for line in self.kiln(*words, "--json", "build").stdout.splitlines()]
                self.assertEqual([row["path"] for row in rows if row["type"] == "diagnostic"],
                                 ["some.rpl"])

    def test_filters_with_unknown_names_or_values_are_errors(self):
        self.write("some.rpl", 'global shading: enum "toon" "flat";\n'
                   "global foam: flag false;\n"
                   "void v (void) { vertex_stage_output_position (f4 {0.0}); }\n")
        self.write("kiln.toml", '[project]\nmanifest = 1\n[[program]]\nname = "some"\n'
                   'sources = ["some.rpl"]\nentry_points = { vertex = "v" }\n'
                   'axes = { shading = "*", foam = "*" }\n')
        rows = [
            (["options", "some", "--where", 'shadng == "toon"'], 2, ["RPL3003", "shadng"]),
            (["options", "some", "--where", "shading == toon"], 2, ["RPL3003", "toon"]),
            (["options", "some", "--where", 'shading == "toom"'], 2, ["RPL2006", "toom"]),
            (["options", "some", "--where", 'foam && shading == "toom"'], 2, ["RPL2006", "toom"]),
            (["options", "some", "--where", 'shading == "toon"'], 0, ["2 variants"]),
            (["build", "--where", 'shading == "toom"'], 2, ["toom"]),
            (["build", "--where", "foam && shadng"], 2, ["shadng"]),
            (["build", "--where", 'shading == "toon"'], 0, ["ok"]),
            (["explain", "some", "-o", "nofoam"], 3, ["no option 'nofoam'", "did you mean 'foam'"]),
            (["explain", "some", "-o", "no-foam"], 0, []),
            (["explain", "some", "-o", "shading=toom"], 2, ["'toom'", "did you mean 'toon'"]),
            (["explain", "some", "-o", "foam=abc"], 2, ["of type flag", "'abc'"]),
            (["inspect", "some", "--diff", "some"], 2, ["with itself", "--diff-option"]),
            (["inspect", "some", "--diff", "some", "--diff-option", "foam"], 0, []),
        ]
        for arguments, code, texts in rows:
            with self.subTest(arguments=arguments):
                self.expect(self.kiln("--progress", "none", *arguments), code, *texts)

    def test_wrong_expressions_are_shown_where_they_stand(self):
        self.write("some.rpl", "global foam: flag false;\nglobal wet: flag false;\n"
                   "void v (void)\n{\n    conditional (foam && wet)\n    {\n"
                   "        vertex_stage_output_position (f4 {1.0});\n    }\n"
                   "    conditional (!foam || !wet) { vertex_stage_output_position (f4 {0.0}); }\n}\n")
        head = ('[project]\nmanifest = 1\n[[program]]\nname = "some"\nsources = ["some.rpl"]\n'
                'entry_points = { vertex = "v" }\naxes = { foam = "*", wet = "*" }\n')
        rows = [
            ("", "foam ==", "--where:1:8", "behind '==', an operand is due", r"1 \| foam ==\n  \|        \^"),
            ("", "(foam", "--where:1:6", "behind 'foam', ')' is due", r"\| \(foam\n  \| \^    \^|'\(' starts here"),
            ("", "foam wet", "--where:1:6", "expected an operator, found name 'wet'",
             r"\| foam wet\n  \|      \^\^\^"),
            ("exclude = ['foam &&']\n", "", "kiln.toml:8:20", "behind '&&', an operand is due",
             r"\| exclude = \['foam &&'\]\n +\| {20}\^"),
            ('require = [\n  "foam == \\"x\\" && fgo",\n]\n', "", "kiln.toml:9:21",
             "no option or constant is named 'fgo'", r"&& fgo\",\n +\| {21}\^\^\^"),
        ]
        for body, where, place, text, shown in rows:
            self.write("kiln.toml", head + body)
            flags = ["--where", where] if where else []
            for verb in (["options", "some"], ["build"], ["build", "--dry-run"],
                         ["build", "--detach"]):
                with self.subTest(body=body, where=where, verb=verb):
                    code = 1 if "--dry-run" in verb else 2
                    result = self.expect(self.kiln("--progress", "none", *verb, *flags), code,
                                         f"{place}\n", text)
                    self.assertRegex(result.stderr, shown)
                    self.assertEqual(result.stderr.count("error["), 1, result.stderr)
        self.write("kiln.toml", head)
        for verb in ["options", "some"], ["build"]:
            with self.subTest(verb=verb):
                self.expect(self.kiln(*verb, "--where", " "), 2, "--where", "expression is empty")
                rows = [json.loads(line) for line in
                        self.kiln("--json", *verb, "--where", "foam ==").stdout.splitlines()]
                self.assertEqual([(row["code"], row["path"], row["line"], row["column"])
                                  for row in rows if row["type"] == "diagnostic"],
                                 [("RPL1178", "--where", 1, 8)])

    def test_undeclared_name_is_one_message_of_its_function(self):
        self.write("some.rpl", "global cut: flag false;\nvoid v (void)\n{\n    f1 _a = shade;\n"
                   "    conditional (cut) { f1 _b = shade; }\n    f1 _c = shade * shade;\n"
                   "    vertex_stage_output_position (f4 {0.0});\n}\n")
        self.write("kiln.toml", '[project]\nmanifest = 1\n[[program]]\nname = "some"\n'
                   'sources = ["some.rpl"]\nentry_points = { vertex = "v" }\naxes = { cut = "*" }\n')
        for arguments in ["build"], ["compile", "some"], ["compile", "some", "-o", "cut"]:
            with self.subTest(arguments=arguments):
                result = self.expect(self.kiln("--progress", "none", *arguments), 1,
                                     "some.rpl:4:13", "3 more mentions in 'v'")
                self.assertEqual(result.stderr.count("error["), 1, result.stderr)

    def test_axes_that_no_variant_reads_are_shown_where_they_stand(self):
        self.write("some.rpl", "global foam: flag false;\nglobal wet: flag false;\n"
                   "void v (void)\n{\n    conditional (foam) { vertex_stage_output_position "
                   "(f4 {1.0}); }\n    vertex_stage_output_position (f4 {0.0});\n}\n"
                   "void w (void)\n{\n    conditional (wet) { vertex_stage_output_position "
                   "(f4 {1.0}); }\n    vertex_stage_output_position (f4 {0.0});\n}\n")
        self.write("kiln.toml", '[project]\nmanifest = 1\n[axes.weather]\nfoam = "*"\n'
                   '[[program]]\nname = "some"\nsources = ["some.rpl"]\n'
                   'entry_points = { vertex = "v" }\nuse = ["weather"]\naxes = { wet = "*" }\n'
                   '[[program]]\nname = "other"\nsources = ["some.rpl"]\n'
                   'entry_points = { vertex = "w" }\nuse = ["weather"]\n')
        for verb in ["build", "some"], ["build", "--dry-run"], ["options", "some"]:
            with self.subTest(verb=verb):
                result = self.expect(self.kiln("--progress", "none", *verb), 0,
                                     "warning[RPL7108]: axis 'wet' is read by no variant",
                                     "kiln.toml:10:10", 'axes = { wet = "*" }')
                self.assertEqual(result.stderr.count("RPL7108"), 1, result.stderr)
        self.assertNotIn("RPL7108", self.expect(self.kiln("build", "other"), 0).stderr)
        self.expect(self.kiln("-Werror", "--progress", "none", "build"), 1, "RPL7108")
        self.assertNotIn("RPL7108", self.expect(self.kiln("build"), 0).stderr)  # all is known
        rows = [json.loads(line)
                for line in self.kiln("--json", "build", "--dry-run").stdout.splitlines()]
        self.assertEqual([(row["severity"], row["line"], row["programs"]) for row in rows
                          if row.get("code") == "RPL7108"], [("warning", 10, ["some"])])

    def test_manifest_errors_say_where(self):
        rows = [
            ('[target.vk]\nform = "spirv"\nenv = "vulkan9"\n', 2, ["kiln.toml:5:", "vulkan9"]),
            ('[[program]]\nname = "a"\nsources = ["none.rpl"]\nentry_points = { vertex = "v" }\n', 3,
             ["kiln.toml:3:", "program 'a'", "none.rpl"]),
        ]
        for body, code, texts in rows:
            with self.subTest(body=body):
                self.write("kiln.toml", "[project]\nmanifest = 1\n" + body)
                self.expect(self.kiln("build"), code, *texts)

    def test_never_more_than_300_lines_in_one_go(self):
        names = [f"p{i}" for i in range(12)]
        programs = ""
        for name in names:
            self.write(f"{name}.rpl", "void f (void)\n{\n" +
                       "".join(f"    {name}_{i};\n" for i in range(18)) + "}\n")
            programs += (f'[[program]]\nname = "{name}"\nsources = ["{name}.rpl"]\n'
                         'entry_points = { vertex = "f" }\n')
        self.write("kiln.toml", "[project]\nmanifest = 1\n" + programs)
        result = self.expect(self.kiln("--progress", "none", "build"), 1)
        self.assertLess(len(result.stderr.splitlines()), 300)
        self.assertIn("more; see --report", result.stderr)
        for name in names:
            self.assertIn(f"in {name}: 1 variant fails", result.stderr)

    # -- daemons

    def test_daemon_that_does_not_start_shows_its_log(self):
        (self.dir / "config/kiln").mkdir(parents=True)
        (self.dir / "config/kiln/kilnd.toml").write_text("[jobs]\nworkerz = 2\n")
        for arguments in (["start"], ["--no-daemon", "compile", "x.rpl"]):
            with self.subTest(arguments=arguments):
                result = self.kiln(*arguments)
                self.assertIn(result.returncode, (3, 4), result.stderr)
        self.write("x.rpl", "void f (void) {}")
        self.expect(self.kiln("start"), 4, "kilnd.log", "workerz", "\n  ")
        self.assertEqual(list((self.dir / "tmp").iterdir()), [])

    def test_deadline_leaves_nothing_of_a_private_daemon(self):
        self.write_project()
        for deadline in "1ms", "50ms", "120ms", "300ms":
            with self.subTest(deadline=deadline):
                result = self.kiln("--no-daemon", "--deadline", deadline, "watch", "--out", "o")
                self.expect(result, 6, "the deadline of the command")
                self.assertEqual(list((self.dir / "tmp").iterdir()), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
