#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What editors are given agrees with the compiler: words of the TextMate grammar are those of
tokens.def, and JSON and TOML of deploy/editors read.

usage: grammars_test.py ROOT
"""
import json
import pathlib
import re
import sys
import tomllib
import unittest

ROOT = pathlib.Path(sys.argv[1]).resolve()
EDITORS = ROOT / "deploy/editors"


class Grammars(unittest.TestCase):
    def setUp(self):
        self.grammar = json.loads((EDITORS / "vscode/syntaxes/rpl.tmLanguage.json").read_text())
        self.words = (ROOT / "compiler/front/rpl/tokens.def").read_text()

    def scope_of(self, word, behind=""):
        for row in self.grammar["patterns"]:
            rule = self.grammar["repository"][row["include"][1:]]
            match = re.match(rule["match"], word + behind)
            if match and match.group(0) == word:
                return rule["name"]
        return None

    def test_every_keyword_and_type_has_its_scope(self):
        keywords = re.findall(r'(?m)^KILN_KEYWORD\(\w+,\s*"(\w+)"\)', self.words)
        types = re.findall(r'(?m)^KILN_TYPE\(\w+,\s*"(\w+)"', self.words)
        self.assertGreater(len(keywords), 40)
        self.assertGreater(len(types), 20)
        for word in keywords:
            self.assertRegex(self.scope_of(word) or "none", r"^(storage|keyword|constant)\.", word)
        for word in types:
            self.assertEqual(self.scope_of(word), "support.type.rpl", word)

    def test_no_other_word_is_one(self):
        known = set(re.findall(r'(?m)^KILN_(?:KEYWORD|TYPE)\(\w+,\s*"(\w+)"', self.words))
        for name in ("declaration", "control", "modifier", "type"):
            words = re.search(r"\(\?:(.*)\)", self.grammar["repository"][name]["match"]).group(1)
            for word in words.split("|"):
                self.assertIn(word, known | {"void"})
        self.assertIsNone(self.scope_of("roughness"))

    def test_literals_and_comments_have_their_scopes(self):
        rows = {"0x1f": "constant.numeric", "12u": "constant.numeric", "1.5": "constant.numeric",
                '"a \\" b"': "string.quoted", "// f4": "comment.line", "true": "constant.language"}
        for word, scope in rows.items():
            self.assertRegex(self.scope_of(word) or "none", "^" + re.escape(scope), word)
        self.assertEqual(self.scope_of("clamp_f3", " (a)"), "support.function.rpl")

    def test_what_editors_read_is_well_formed(self):
        package = json.loads((EDITORS / "vscode/package.json").read_text())
        for language in package["contributes"]["languages"]:
            self.assertTrue((EDITORS / "vscode" / language["configuration"]).exists())
        self.assertTrue((EDITORS / "vscode" / package["main"]).exists())
        languages = tomllib.loads((EDITORS / "helix/languages.toml").read_text())
        self.assertEqual(languages["language-server"]["kiln"]["args"], ["lsp"])


if __name__ == "__main__":
    sys.argv = sys.argv[:1]
    unittest.main()
