#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Specifications are cited in one form, and what is cited is there.

usage: check_citations.py ROOT

1. `spec/NAME N[.N…]` names a document of docs/spec and a section of it, wherever it stands: in
   sources, protos, tests, documents, CMake and Python. Several sections of one document are a list
   ("spec/rpl 8.4, 10.1", "8 and 9", "4 to 8"), which may go on in the next line of a comment.
2. There is no other form: no "§", no file name with a number behind it, no bare "(10.1)" in a
   comment. Issues have no numbers here: a clone does not have them.
3. Every document has a table "## State" of `| section | state | what shows it |`. Its sections
   exist, its states are four words, and what stands in backticks in its last column is a test:
   `Suite.Name` of GoogleTest, a name of ctest, or `cli: test_name` of a Python file; `*` stands for
   any text.
4. The tables of docs/FINDINGS.md, `| finding | what is true now | shown by |`, name tests in the same
   way, at least one in each row, or say "none: " and why.
5. What looks like a GoogleTest in docs/SECURITY.md is one; "…" stands for any text there.
6. The tables of diagnostics have the codes, severities and messages of compiler/diag/codes.def.
"""
import fnmatch
import pathlib
import re
import sys

FOLDERS = ("cache", "client", "cmake", "compiler", "deploy", "docs", "examples", "proto", "runtime", "server", "tests")
SPEC = "docs/spec"
# They write down what is wrong.
LEFT_OUT = ("tests/check_citations.py", "tests/check_citations_test.py")
# The owner's plan is made of issues.
PLANS = ()
NAMES = "rpl|layout|cache|daemon|cli|pso|pso_runtime|graph|render_graph|architecture|hlsl|wgsl|farm|tools|style"
STATES = ("done", "part", "deviates", "not built")

NUMBER = r"\d+(?:\.\d+)*"
# A space, or the end of a line and what begins the next one of a comment.
SPACE = r"(?: |[ ]?\n[ \t]*(?://|#|--|\*)?[ ]?)"
JOINED = rf"(?:,{SPACE}|{SPACE}(?:and|to){SPACE}|–)"
CITATION = re.compile(rf"(?<![\w/-])spec/([A-Za-z_]+)(?![\w/]|\.md)(?:{SPACE}({NUMBER}(?:{JOINED}{NUMBER})*))?")

COMMENTED = (".cc", ".h", ".def", ".proto")
OTHER_FORMS = (
    (re.compile(rf"(?<!\w)(?:{NAMES})\.md`?,?\s+(?:section )?§?\d"), "a file name with a number"),
    (re.compile(rf"(?<![\w/-])`?(?:{NAMES})`? [1-9]\d?\.\d+"), "no 'spec/' before the document"),
    (re.compile(rf"(?:\(|Spec: |See )`?(?:{NAMES}) \d[\d.]*(?![\d.;])"), "no 'spec/' before the document"),
    (re.compile(r"\bshared/(?:spec|architecture|style|README)"), "a path that no clone has"),
)
FILE_NAME = re.compile(rf"(?<![\w/(])(?:{NAMES})\.md\b")
BARE = re.compile(r"//.*\([1-9]\d?(?:\.[1-9]\d*)+(?: step \d+)?\)")
OUTSIDE = re.compile(r"RFC|FIPS|SPIR-V")  # documents that have sections of their own
ISSUE = re.compile(r"\bissues? #?\d", re.I)


def texts(root):
    """(name below root, text) of every file that is text."""
    paths = [path for path in root.iterdir() if path.is_file()]
    for folder in FOLDERS:
        paths += [path for path in (root / folder).rglob("*") if path.is_file()]
    for path in sorted(paths):
        name = path.relative_to(root).as_posix()
        if name in LEFT_OUT or "__pycache__" in name:
            continue
        try:
            yield name, path.read_text()
        except UnicodeDecodeError:
            pass


# What counts as a section of a document, so that numbers stay where comments point:
#   a heading                      "## 10. Limits", "### 4.1 Rule sets", "## Appendix A. Traps"
#   a numbered paragraph           "6.5.3 A group …", "**8.4.1** …", indented or not
#   an item of a numbered list     "3. …" below the heading or paragraph 11.5 is 11.5.3
#   a row of a table               "| 4.2 | …", but for those of the State table
# Text between ``` is none of these.
def sections(text):
    found, last, code = set(), "", False
    for line in text.split("\n## State\n")[0].splitlines():
        if line.startswith("```"):
            code = not code
        if code:
            continue
        heading = re.match(rf"#+ ({NUMBER}|Appendix [A-Z])\.? ", line)
        paragraph = re.match(rf"\s*(?:\*\*|\| )?({NUMBER}\.\d+)(?:\*\*)?[ .:]", line)
        item = re.match(r"(\d+)\. ", line)
        if heading or paragraph:
            last = (heading or paragraph)[1]
            found.add(last)
        elif item and last:
            found.add(f"{last}.{item[1]}")
    return found


def wrong_citations(name, text, known):
    for match in CITATION.finditer(text):
        document = match[1]
        if document not in known:
            yield match.start(), f"no document docs/spec/{document}.md"
            continue
        for number in re.findall(NUMBER, match[2] or ""):
            if number not in known[document]:
                yield match.start(), f"spec/{document} has no section {number}"


def other_forms(name, text):
    """(line number, what is wrong) of everything that cites in another form."""
    inside = name.startswith(SPEC + "/")
    for number, line in enumerate(text.splitlines(), 1):
        if "§" in line and not OUTSIDE.search(line):
            yield number, f"'§': {line.strip()}"
        for form, why in OTHER_FORMS:
            if form.search(line):
                yield number, f"{why}: {line.strip()}"
        if not inside and FILE_NAME.search(line):
            yield number, f"a file name instead of spec/NAME: {line.strip()}"
        if name.endswith(COMMENTED) and BARE.search(line):
            yield number, f"a section without a document: {line.strip()}"
        if name not in PLANS and ISSUE.search(line):
            yield number, f"the number of an issue: {line.strip()}"


class Tests:
    """The names of all tests, found in the sources: nothing has to be built."""

    def __init__(self, root):
        self.google, self.python, self.ctest = set(), {}, set()
        for name, text in texts(root):
            if name.endswith(".cc"):
                self.google |= {f"{suite}.{case}" for suite, case in
                                re.findall(r"^TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", text, re.M)}
            elif name.endswith("_test.py"):
                file = pathlib.PurePath(name).name.removesuffix("_test.py")
                self.python[file] = set(re.findall(r"^\s+def (test_\w+)\(|^class (\w+)", text, re.M))
                self.python[file] = {one or other for one, other in self.python[file]}
            elif name.endswith(("CMakeLists.txt", ".cmake")):
                self.ctest |= self.in_cmake(text)

    # add_test(NAME x …), kiln_test(x …) and kiln_fuzz(x …); ${subject}_cli has every value of the
    # foreach around it.
    @staticmethod
    def in_cmake(text):
        found = set(re.findall(r"(?:add_test\(\s*NAME|kiln_test\(|kiln_fuzz\()\s*([\w${}]+)", text))
        for variable, values in re.findall(r"foreach\((\w+) ([^)]*)\)", text):
            for name in [name for name in found if f"${{{variable}}}" in name]:
                found |= {name.replace(f"${{{variable}}}", value) for value in values.split()}
        return found

    def has(self, name):
        if ": " in name:
            file, test = name.split(": ", 1)
            return bool(fnmatch.filter(self.python.get(file, ()), test))
        if "." in name:
            return bool(fnmatch.filter(self.google, name))
        return name in self.ctest


def wrong_state(text, known, tests):
    """(line number, what is wrong) of the State table of one document."""
    lines = text.splitlines()
    if "## State" not in lines:
        yield 1, "no section '## State'"
        return
    begin = lines.index("## State")
    rows = [(number, line) for number, line in enumerate(lines, 1) if number > begin and line.startswith("|")]
    if [line for _, line in rows[:1]] != ["| section | state | what shows it |"]:
        yield begin + 1, "State has no table '| section | state | what shows it |'"
    for number, line in rows[2:]:
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) != 3:
            yield number, f"{len(cells)} cells instead of 3"
            continue
        cited = re.match(rf"(?:{NUMBER}|Appendix [A-Z])(?:(?:, | and | to |–){NUMBER})*", cells[0])
        for section in re.findall(rf"{NUMBER}|Appendix [A-Z]", cited[0]) if cited else [cells[0]]:
            if section not in known:
                yield number, f"no section {section}"
        if cells[1] not in STATES:
            yield number, f"state '{cells[1]}' is none of {', '.join(STATES)}"
        for name in re.findall(r"`([^`]*)`", cells[2]):
            if not tests.has(name):
                yield number, f"no test {name}"


FINDINGS = "docs/FINDINGS.md"


def wrong_findings(text, tests):
    """(line number, what is wrong) of the tables of findings."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("| ") or line == "| finding | what is true now | shown by |":
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) != 3:
            yield number, f"{len(cells)} cells instead of 3"
            continue
        names = re.findall(r"`([^`]*)`", cells[2])
        if not names and not re.match(r"none: \w", cells[2]):
            yield number, "no test, and no 'none: ' with a reason"
        for name in names:
            if not tests.has(name):
                yield number, f"no test {name}"


SECURITY = "docs/SECURITY.md"
GOOGLE_TEST = re.compile(r"`([A-Z]\w*\.(?:[A-Z]\w*)?[*…]?)`")


def wrong_arguments(text, tests):
    """(line number, what is wrong) of the tests that arguments name."""
    for number, line in enumerate(text.splitlines(), 1):
        for name in GOOGLE_TEST.findall(line):
            if not tests.has(name.replace("…", "*")):
                yield number, f"no test {name}"


CODE = re.compile(r'^KILN_CODE\(\w+, "((?:HLSL|RPL|LAY|WGSL)\d+)", "[^"]*", k(\w)\w*, "(.*)"\)', re.M)
CODE_ROW = re.compile(r"^\| ((?:HLSL|RPL|LAY|WGSL)\d+) \| (\w) \| (.*) \|$")
CODE_HOMES = {"RPL": f"{SPEC}/rpl.md", "LAY": f"{SPEC}/layout.md",
              "WGSL": f"{SPEC}/wgsl.md", "HLSL": f"{SPEC}/hlsl.md"}


def wrong_codes(root):
    """(name, line number, what is wrong) of the tables of diagnostics."""
    table = root / "compiler/diag/codes.def"
    codes = {code: (severity, text) for code, severity, text in CODE.findall(table.read_text())} if table.exists() else {}
    for name in CODE_HOMES.values():
        for number, line in enumerate((root / name).read_text().splitlines() if (root / name).exists() else (), 1):
            row = CODE_ROW.match(line)
            if row and codes.pop(row[1], None) != (row[2], row[3]):
                yield name, number, f"{row[1]} is not as in compiler/diag/codes.def"
    for code in codes:
        yield CODE_HOMES[code.rstrip("0123456789")], 1, f"no row for {code}"


def faults(root):
    known = {path.stem: sections(path.read_text()) for path in sorted((root / SPEC).glob("*.md")) if path.stem != "README"}
    tests = Tests(root)
    found = []
    for name, text in texts(root):
        found += [(name, text.count("\n", 0, at) + 1, why) for at, why in wrong_citations(name, text, known)]
        found += [(name, number, why) for number, why in other_forms(name, text)]
        if name.startswith(SPEC + "/") and pathlib.PurePath(name).stem in known:
            found += [(name, number, why) for number, why in wrong_state(text, known[pathlib.PurePath(name).stem], tests)]
        if name in (FINDINGS, SECURITY):
            check = wrong_findings if name == FINDINGS else wrong_arguments
            found += [(name, number, why) for number, why in check(text, tests)]
    found += wrong_codes(root)
    return [f"{name}:{number}: {why}" for name, number, why in found], known


def main():
    wrong, known = faults(pathlib.Path(sys.argv[1]))
    for line in wrong:
        print(line)
    print(f"{len(known)} specifications, {sum(map(len, known.values()))} sections, {len(wrong)} faults")
    return 1 if wrong or len(known) < 5 else 0


if __name__ == "__main__":
    sys.exit(main())
