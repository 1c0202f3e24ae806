#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recorded sessions: for each feature of the language server requests and what they were answered.

usage: sessions_test.py BUILD_FOLDER ROOT

Answers are kept in tests/lsp/sessions, one file for each session; KILN_UPDATE_GOLDENS=1 writes them
anew, and the difference is to be read. URIs below the project are kept as "project:".
"""
import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

BUILD, ROOT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
sys.path.insert(0, str(ROOT / "tests/lsp"))

from lsp_client import LspClient  # noqa: E402

HERE = ROOT / "tests/lsp"
CAPABILITIES = {
    "textDocument": {"completion": {"completionItem": {"snippetSupport": True}},
                     "publishDiagnostics": {"relatedInformation": True}},
}


def at(file, text, offset=0, nth=0):
    """Parameters of a request at a text of a file: its nth place, plus `offset` characters."""
    return ("at", file, text, offset, nth)


# name: [(method, parameters)]. Strings "project:…" are URIs of the project.
def session_rows():
    hover, complete = "textDocument/hover", "textDocument/completion"
    whole = lambda file: {"textDocument": {"uri": f"project:{file}"}}
    every_line = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    return {
        "hover": [(hover, at("water.rpl", "water.tint", 7)),        # a field: type, offset, size
                  (hover, at("water.rpl", "uniform_buffer water", 16)),  # set, binding, fields
                  (hover, at("water.rpl", "clip_from_world", 2)),   # a field of another module
                  (hover, at("water.rpl", "hazy", 1)),              # a function with its comment
                  (hover, at("water.rpl", "color * water.gloss.x", 1)),  # a local, in 6 of 10 variants
                  (hover, at("water.rpl", "wet", 1)),               # an option
                  (hover, at("pass.rpl", "pi_half", 1)),            # a constant
                  (hover, at("pass.rpl", "f3 wind", 4)),            # padding
                  (hover, at("mud.rpl", "push.time", 6)),
                  (hover, at("pass.rpl", "mix_f3", 1)),             # an inbuilt function
                  (hover, at("kiln.toml", "exclude", 1)),           # a key
                  (hover, at("pass.rpl", "// What", 3))],           # nothing
        "completion_members": [(complete, at("water.rpl", "water.tint", 6)),
                               (complete, at("pass.rpl", "view.haze.color", 10)),
                               (complete, at("water.rpl", "surface.uv.x", 11))],
        "completion_options": [(complete, at("pass.rpl", 'fog != "off"', 8)),
                               (complete, at("water.rpl", "conditional (wet) f4", 13))],
        "completion_manifest": [(complete, at("kiln.toml", "axes = { wet", 2))],
        "signature_help": [("textDocument/signatureHelp", at("water.rpl", "hazy (color, 1.0)", 6)),
                           ("textDocument/signatureHelp", at("water.rpl", "hazy (color, 1.0)", 13)),
                           ("textDocument/signatureHelp", at("pass.rpl", "clamp_f1 (", 10))],
        "definition": [("textDocument/definition", at("water.rpl", "hazy", 1)),
                       ("textDocument/definition", at("water.rpl", "color * water.gloss", 1)),
                       ("textDocument/definition", at("water.rpl", "tint.w", 1)),
                       ("textDocument/definition", at("kiln.toml", "water.rpl", 2))],
        "references": [("textDocument/references",
                        {**at_dict("pass.rpl", "hazy"), "context": {"includeDeclaration": True}}),
                       ("textDocument/references",
                        {**at_dict("water.rpl", "gloss"), "context": {"includeDeclaration": False}})],
        "highlight": [("textDocument/documentHighlight", at("water.rpl", "f3 color", 4))],
        "rename": [("textDocument/prepareRename", at("pass.rpl", "hazy", 1)),
                   ("textDocument/rename", {**at_dict("pass.rpl", "hazy"), "newName": "misty"}),
                   ("textDocument/rename", {**at_dict("water.rpl", "gloss"), "newName": "shine"}),
                   ("textDocument/rename", {**at_dict("water.rpl", "f3 color", 4), "newName": "shade"})],
        "rename_in_manifest": [
            ("textDocument/rename", {**at_dict("water.rpl", "wet"), "newName": "damp"}),
            ("textDocument/rename", {**at_dict("pass.rpl", "fog"), "newName": "haze_kind"}),
            ("textDocument/rename", {**at_dict("water.rpl", "water_vertex"), "newName": "place"})],
        "rename_refused": [
            ("textDocument/rename", {**at_dict("pass.rpl", "hazy"), "newName": "water_vertex"}),
            ("textDocument/rename", {**at_dict("water.rpl", "f3 color", 4), "newName": "surface"}),
            ("textDocument/rename", {**at_dict("water.rpl", "gloss"), "newName": "tint"}),
            ("textDocument/rename", {**at_dict("pass.rpl", "hazy"), "newName": "f4"}),
            ("textDocument/rename", {**at_dict("pass.rpl", "hazy"), "newName": "a b"}),
            ("textDocument/rename", {**at_dict("water.rpl", "wet"), "newName": "fog"}),
            ("textDocument/rename", {**at_dict("water.rpl", "water_vertex"), "newName": "hazy"}),
            ("textDocument/rename", {**at_dict("pass.rpl", "mix_f3"), "newName": "blend"})],
        "symbols": [("textDocument/documentSymbol", whole("water.rpl")),
                    ("textDocument/documentSymbol", whole("kiln.toml")),
                    ("workspace/symbol", {"query": "mudf"})],
        "folding_and_selection": [("textDocument/foldingRange", whole("pass.rpl")),
                                  ("textDocument/selectionRange",
                                   {**whole("pass.rpl"), "positions": [{"line": 38, "character": 30}]})],
        "semantic_tokens": [("textDocument/semanticTokens/full", whole("mud.rpl")),
                            ("textDocument/semanticTokens/full", whole("water.rpl"))],
        "inlay_hints": [("textDocument/inlayHint", {**whole("water.rpl"), "range": every_line}),
                        ("textDocument/inlayHint", {**whole("pass.rpl"), "range": every_line})],
        "variant": [("textDocument/codeLens", whole("water.rpl")),
                    ("workspace/executeCommand", {"command": "kiln.chooseVariant", "arguments": [
                        {"uri": "project:water.rpl", "option": "wet", "value": "true"}]}),
                    (hover, at("water.rpl", "water.gloss", 7)),
                    ("textDocument/inlayHint", {**whole("water.rpl"), "range": every_line}),
                    ("workspace/executeCommand", {"command": "kiln.chooseVariant", "arguments": [
                        {"uri": "project:water.rpl", "option": "wet", "value": "moist"}]}),
                    ("workspace/executeCommand", {"command": "kiln.chooseVariant", "arguments": [
                        {"uri": "project:pass.rpl", "program": "mud/forward"}]}),
                    ("textDocument/codeLens", whole("pass.rpl"))],
        "formatting": [("textDocument/formatting", {**whole("mud.rpl"), "options": {}}),
                       ("textDocument/formatting", {**whole("water.rpl"), "options": {}}),
                       ("textDocument/rangeFormatting", {**whole("water.rpl"), "range": every_line,
                                                         "options": {}})],
    }


def at_dict(file, text, offset=1, nth=0):
    begin = -1
    source = (HERE / "project" / file).read_text()
    for _ in range(nth + 1):
        begin = source.index(text, begin + 1)
    before = source[:begin + offset]
    return {"textDocument": {"uri": f"project:{file}"},
            "position": {"line": before.count("\n"), "character": len(before.rpartition("\n")[2])}}


class Sessions(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="kiln_lsp_")
        self.project = pathlib.Path(self.folder.name) / "project"
        shutil.copytree(HERE / "project", self.project)
        self.client = LspClient(BUILD / "kiln", self.project, CAPABILITIES)

    def tearDown(self):
        self.assertEqual(self.client.close(), 0)
        self.folder.cleanup()

    def resolved(self, params):
        if isinstance(params, tuple):
            _, file, text, offset, nth = params
            params = at_dict(file, text, offset, nth)
        base = LspClient.uri(self.project) + "/"
        return json.loads(json.dumps(params).replace("project:", base))

    def kept(self, answer):
        base = LspClient.uri(self.project) + "/"
        return json.loads(json.dumps(answer).replace(base, "project:"))

    def test_every_session_is_answered_as_recorded(self):
        for name, requests in session_rows().items():
            with self.subTest(session=name):
                self.tearDown()
                self.setUp()
                for file in ("pass.rpl", "water.rpl", "mud.rpl", "kiln.toml"):
                    self.client.open(self.project / file)
                rows = []
                for method, params in requests:
                    params = self.resolved(params)
                    answer = self.client.request(method, params)
                    rows.append({"method": method, "params": self.kept(params),
                                 **{key: self.kept(answer[key]) for key in ("result", "error")
                                    if key in answer}})
                path = HERE / "sessions" / f"{name}.json"
                if os.environ.get("KILN_UPDATE_GOLDENS") == "1":
                    path.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
                self.assertEqual(rows, json.loads(path.read_text()))

    def test_completion_in_what_is_being_typed(self):
        """(what stands there, what is typed instead with | for the cursor, some that are offered,
        some that are not)"""
        rows = [
            ("color * water.gloss.x;", "color * water.|", {"tint", "gloss", "shade"}, {"color"}),
            ("color * water.gloss.x;", "color * water.tint.|", {"x", "xyzw"}, {"tint"}),
            ("color * water.gloss.x;", "co|", {"color", "hazy", "cos_f3", "water"}, {"clip"}),
            ("color * water.gloss.x;", "color * view.haze.|;", {"color", "density"}, {"haze"}),
            ("color * water.gloss.x;", "hazy (|", {"color", "water", "clamp_f1"}, {"setting"}),
            ("global slots: uint 2;", "global slots: |", {"uint", "enum", "flag"}, {"color"}),
            ("global slots: uint 2;", "setting |", {"cull_mode", "depth_test"}, {"color"}),
            ("global slots: uint 2;", 'setting cull_mode = |', {'"back"', '"none"'}, {"hazy"}),
            ("global slots: uint 2;", 'setting cull_mode = "|', {"back", "none"}, {'"back"'}),
            ("global slots: uint 2;", "set_pass |", {"uniform_buffer", "sampler"}, {"f4"}),
            ("global slots: uint 2;", "|", {"instance", "struct", "f4"}, {"return"}),
            ("conditional (wet) f4 gloss;", "conditional (|", {"wet", "fog", "pi_half"}, {"hazy"}),
            ("conditional (wet) f4 gloss;", "conditional (fog == |", {'"off"'}, {"wet"}),
            ("conditional (wet) f4 gloss;", 'conditional (fog != "|") f4 gloss;', {"thin"}, {"wet"}),
            ("pack (unorm8) f4 uv;", "pack (|", {"unorm8", "float16"}, {"f4"}),
            ("f3 color = water", "// water.|", set(), {"tint"}),
            ("surface.uv = mesh.uv.xy;", "sur|", {"surface"}, {"color"}),
        ]
        water = self.project / "water.rpl"
        self.client.open(water)
        good = water.read_text()
        for before, typed, offered, others in rows:
            with self.subTest(typed=typed):
                self.assertIn(before, good)
                text = good.replace(before, typed, 1)
                ahead, _, behind = text.partition("|")
                self.client.change(water, ahead + behind)
                answer = self.client.request("textDocument/completion", {
                    "textDocument": {"uri": self.client.uri(water)},
                    "position": {"line": ahead.count("\n"),
                                 "character": len(ahead.rpartition("\n")[2])}})["result"]
                labels = {item["label"] for item in answer["items"]}
                self.assertEqual(offered - labels, set())
                self.assertEqual(others & labels, set())

    def test_every_recording_has_its_session(self):
        self.assertEqual(sorted(path.stem for path in (HERE / "sessions").glob("*.json")),
                         sorted(session_rows()))

    def test_a_file_of_another_module_is_told_of_an_error_in_an_open_one(self):
        water = self.project / "water.rpl"
        self.client.open(self.project / "pass.rpl",
                         (self.project / "pass.rpl").read_text().replace("f3 hazy", "f4 hazy"))
        found = self.client.diagnostics(water, lambda rows: rows)
        self.assertTrue(any("hazy" in row["message"] or "f4" in row["message"] for row in found), found)

    def test_conditions_of_messages_are_told(self):
        water = self.project / "water.rpl"
        text = water.read_text().replace("color * water.gloss.x", "color * water.tint.xy")
        self.client.open(water, text)
        found = self.client.diagnostics(
            water, lambda rows: any("fails when" in row["message"] for row in rows))
        self.assertTrue(any("fails when wet, 4 of 10 variants" in row["message"] for row in found), found)

    def test_fixes_are_offered(self):
        water = self.project / "water.rpl"
        text = water.read_text().replace("water.tint.xyz *", "water.tnt.xyz *")
        self.client.open(water, text)
        found = self.client.diagnostics(water, lambda rows: rows)
        actions = self.client.request("textDocument/codeAction", {
            "textDocument": {"uri": self.client.uri(water)}, "range": found[0]["range"],
            "context": {"diagnostics": found}})["result"]
        self.assertIn("Replace 'tnt' by 'tint'", [action["title"] for action in actions])

    def test_wrong_manifests_are_told(self):
        manifest = self.project / "kiln.toml"
        self.client.open(manifest, manifest.read_text().replace("exclude", "exclud"))
        found = self.client.diagnostics(manifest, lambda rows: rows)
        self.assertIn("exclude", found[0]["message"])
        self.client.change(manifest, manifest.read_text().replace("wet && fog", "wett && fog"))
        self.client.open(self.project / "water.rpl")
        found = self.client.diagnostics(manifest, lambda rows: rows and "wett" in str(rows))
        self.assertEqual(found[0]["range"]["start"], {"line": 16, "character": 12})


if __name__ == "__main__":
    sys.argv = sys.argv[:1]
    unittest.main()
