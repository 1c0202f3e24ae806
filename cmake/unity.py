#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts the sources of a target together into few units, so that headers are read and templates made once.

usage: unity.py OUT SOURCE…    writes OUT/0.cc, OUT/1.cc, … and prints their names, and those of sources that
                               stay alone, one a line

Sources that stand in one unit could see each other's internal names: what one declares in an unnamed
namespace or `static`. So two sources share a unit only if no internal name of one is a word of the other,
wherever it stands there; then no lookup can find anything that it did not find before, and every source
means what it means alone. Sources with a macro or a using directive of their own stay alone, since these
reach to the end of the unit. First fit, in the order of the list: a source goes into the first unit where it
fits. Cost: the words of every source once, and a set operation for each pair of unit and source.
"""
import pathlib
import re
import sys

MAX_SOURCES, MAX_BYTES = 12, 160_000
WORD = re.compile(r"[A-Za-z_]\w*")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'')
MEMBER = re.compile(r"(?:\.|->)\s*[A-Za-z_]\w*")
TEMPLATE = re.compile(r"<[^<>]*>")
RAW = re.compile(r'R"(\w*)\(.*?\)\1"', re.S)
ALONE = re.compile(r"^\s*#\s*define\b|^using namespace\b|^\s*#\s*(?:if|ifdef|ifndef|pragma)\b|^extern \"C\"", re.M)
# Words of the language and of the standard library that stand in front of a name and are none.
NOT_NAMES = frozenset("""
    alignas auto bool char class const constexpr consteval constinit double enum explicit extern final float for if
    inline int int32_t int64_t long mutable namespace noexcept operator private public return short signed size_t
    sizeof static static_assert std string string_view struct switch template thread_local typename uint16_t uint32_t
    uint64_t uint8_t union unsigned using vector void volatile while span optional map set pair array override
    requires unique_ptr shared_ptr function nullptr true false else do case default break continue""".split())


def plain(text):
    """Without comments and texts."""
    return TEXT.sub('""', COMMENT.sub("", RAW.sub('""', text)))


def used_words(code):
    """Words that a lookup may be made of: not those of members, which follow `.` and `->`."""
    return set(WORD.findall(MEMBER.sub(" ", code)))


def internal_names(code):
    """What is declared in unnamed namespaces and as `static`. Sources are formatted, so a declaration begins at
    the margin, and its name stands behind the type, on this line or on the next."""
    names, depth, unnamed, pending, enumeration = set(), 0, [], False, False
    for line in code.splitlines():
        if re.match(r"^namespace\s*\{", line):
            unnamed.append(depth)
        elif (unnamed or line.startswith("static ")) and line[:1].isalpha():
            kind = re.match(r"^(?:template\s*<.*>\s*)?(struct|class|enum class|enum|using|union)\s+(\w+)", line)
            enumeration = bool(kind) and kind[1] == "enum"
            pending = False
            if kind:
                names.add(kind[2])
            elif not re.match(r"template|namespace|[A-Z_0-9]+\(", line):  # nor a macro, TEST (…)
                head = re.split(r"[({=;\[]", TEMPLATE.sub("", TEMPLATE.sub("", line)), maxsplit=1)
                words = WORD.findall(head[0])
                pending = len(head) == 1  # the name comes on the next line
                if words and "::" not in head[0].split()[-1]:
                    names.add(words[-1])
        elif pending:
            names.update(WORD.findall(line.split("(")[0])[-1:])
            pending = False
        if enumeration:
            names.update(WORD.findall(line.partition("{")[2] or line))
            enumeration = "}" not in line
        depth += line.count("{") - line.count("}")
        while unnamed and depth <= unnamed[-1] and not re.match(r"^namespace\s*\{", line):
            unnamed.pop()
    return names - NOT_NAMES


class Unit:
    def __init__(self):
        self.sources, self.words, self.names, self.bytes = [], set(), set(), 0

    def takes(self, words, names, size):
        return (len(self.sources) < MAX_SOURCES and self.bytes + size <= MAX_BYTES and
                not names & self.words and not words & self.names)

    def add(self, source, words, names, size):
        self.sources.append(source)
        self.words |= words
        self.names |= names
        self.bytes += size


def group(sources):
    """[[source…]…], each a unit."""
    units, alone = [], []
    for source in sources:
        text = pathlib.Path(source).read_text()
        code = plain(text)
        if not source.endswith(".cc") or ALONE.search(code):
            alone.append([source])
            continue
        words, names = used_words(code), internal_names(code)
        for unit in units:
            if unit.takes(words, names, len(text)):
                break
        else:
            unit = Unit()
            units.append(unit)
        unit.add(source, words, names, len(text))
    return [unit.sources for unit in units] + alone


def main():
    out, sources = pathlib.Path(sys.argv[1]), sys.argv[2:]
    out.mkdir(parents=True, exist_ok=True)
    for number, unit in enumerate(group(sources)):
        if len(unit) == 1:
            print(unit[0])
            continue
        path = out / f"{number}.cc"
        text = "// Made by cmake/unity.py.\n" + "".join(f'#include "{source}"\n' for source in unit)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
        print(path)


if __name__ == "__main__":
    main()
