#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Neovim of Debian 12, without a screen, with the plug-in of deploy/editors: each feature asked for
as a person would, through Neovim's own client.

usage: neovim_test.py BUILD_FOLDER ROOT
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, ROOT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
HERE = ROOT / "tests/lsp"


class Neovim(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        """One session that writes what every step came to."""
        cls.folder = tempfile.TemporaryDirectory(prefix="kiln_nvim_")
        folder = pathlib.Path(cls.folder.name)
        shutil.copytree(HERE / "project", folder / "project")
        (folder / "lua").mkdir()
        shutil.copy(ROOT / "deploy/editors/neovim/kiln.lua", folder / "lua/kiln.lua")
        env = {**os.environ, "HOME": str(folder), "XDG_STATE_HOME": str(folder / "state"),
               "KILN_TEST_PROGRAM": str(BUILD / "kiln"), "KILN_TEST_OUT": str(folder / "out.json")}
        done = subprocess.run(
            ["nvim", "--headless", "-u", "NONE", "--cmd", f"set rtp+={folder}", "-c",
             f"luafile {HERE / 'neovim_session.lua'}", "-c", "qa!"],
            cwd=folder / "project", env=env, capture_output=True, text=True, timeout=110)
        out = folder / "out.json"
        assert out.exists(), done.stderr
        cls.seen = json.loads(out.read_text())

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_nothing_failed(self):
        self.assertEqual(self.seen["problems"], [])

    def test_a_right_file_has_no_diagnostics(self):
        self.assertEqual(self.seen["diagnostics_at_first"], [])

    def test_a_change_is_followed_by_diagnostics(self):
        self.assertTrue(any("tnt" in text for text in self.seen["diagnostics_of_mistake"]))
        self.assertEqual(self.seen["diagnostics_at_last"], [])

    def test_diagnostics_are_pulled(self):
        message, again = self.seen["pulled"]
        self.assertIn("tnt", message)
        self.assertEqual(again, "unchanged")

    def test_hover_tells_the_layout(self):
        self.assertIn("type f4, offset 0, size 16", self.seen["hover"])

    def test_completion_offers_the_fields(self):
        self.assertEqual(sorted(self.seen["completion"]), ["gloss", "layers", "shade", "tint"])

    def test_signature_help_names_the_parameters(self):
        self.assertEqual(self.seen["signature"], "f3 hazy (in f3 color, in f1 depth)")

    def test_definition_goes_to_the_other_module(self):
        self.assertTrue(self.seen["definition"].endswith("/pass.rpl"))

    def test_references_are_those_of_all_programs(self):
        self.assertEqual(self.seen["references"], 3)

    def test_rename_changes_the_buffer(self):
        self.assertIn("f3 shade_of_it =", self.seen["renamed"])
        self.assertNotIn("color * water.gloss", self.seen["renamed"])

    def test_code_action_mends_the_mistake(self):
        self.assertEqual(self.seen["actions"], ["Replace 'tnt' by 'tint'"])

    def test_formatting_changes_white_space_only(self):
        self.assertIn("push.time.x * 0.1", self.seen["formatted"])

    def test_symbols_folding_and_tokens_are_there(self):
        self.assertGreater(self.seen["symbols"], 5)
        self.assertGreater(self.seen["folds"], 3)
        self.assertGreater(self.seen["tokens"], 100)

    def test_hlsl_and_wgsl_are_answered(self):
        hlsl, wgsl = self.seen["tone.hlsl"], self.seen["blur.wgsl"]
        self.assertEqual((hlsl["clean"], wgsl["clean"]), (0, 0))
        self.assertIn("float kWhite", hlsl["hover"])
        self.assertIn("var<uniform> kernel: Kernel", wgsl["hover"])
        self.assertTrue(hlsl["definition"].endswith("/tone.hlsli"))
        self.assertTrue(wgsl["definition"].endswith("/blur.wgsl"))
        self.assertEqual((hlsl["symbols"], wgsl["symbols"]), (2, 5))
        self.assertGreater(min(hlsl["tokens"], wgsl["tokens"]), 40)
        self.assertEqual(sorted(hlsl["completion"]), ["exposure", "tint"])
        self.assertEqual(sorted(wgsl["completion"]), ["radius", "weights"])
        self.assertIn("nothing", hlsl["mistake"])
        self.assertIn("nothing", wgsl["mistake"])

    def test_the_variant_is_chosen(self):
        self.assertIn("● true", self.seen["lenses"])


if __name__ == "__main__":
    sys.argv = sys.argv[:1]
    unittest.main()
