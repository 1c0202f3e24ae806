#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts the sources of a target together into few units, so that headers are read and templates made once.

usage: unity.py OUT SOURCE…    writes OUT/0.cc, OUT/1.cc, … and prints their names, and those of sources that
                               stay alone, one a line

Sources that stand in one unit could see each other's internal names: what one declares in an unnamed
namespace or `static`. A name that is a word of another source of the unit, or that a header of kiln declares
which another brings along, is therefore renamed: a macro of that name stands around its source, and all
headers stand before the first. What such a macro would reach besides keeps the name as it is: words of headers
and tables that the source reads, members, names after `::`, and what a macro at the margin makes a text of, as
TEST (…) does. A name after `::` is looked up in what stands before, so it means an internal name only if that is
a namespace that the source of the internal name opens. Two sources share a unit only if every name that is met
can be renamed. One alias that both spell alike, of no internal name, is one. A macro KILN_… ends with its source;
other macros, pragmas, using directives and headers behind a condition keep their source alone, and a source with
conditions keeps its names. What a source then sees besides is headers that it could include anyway.

First fit: a source goes into the first unit where it fits, in the order of the list, but those that read the
same heavy headers of others (HEAVY: seconds of templates for each unit) stand together. Cost: the words of every
source and header once, and set operations for each pair of sources.
"""
import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

MAX_SOURCES, MAX_BYTES = 72, 700_000
HEAVY = ("CLI/", "grpcpp/", "nlohmann/", "toml++/")
RIVALS = {"#include <linux/tcp.h>", "#include <netinet/tcp.h>"}  # declare the same
OUTSIDE = re.compile(r"^#include <(\w[^>]*/)", re.M)
INCLUDE = re.compile(r'^#include "([\w/.]+)"', re.M)
HEADER = re.compile(r'^#include (?:"[\w/.]+\.h"|<[^>]+>)', re.M)
WORD = re.compile(r"[A-Za-z_]\w*")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'')
MEMBER = re.compile(r"(?:\.|->)\s*[A-Za-z_]\w*")
REACHED = re.compile(r"(?:\.|->|::)\s*([A-Za-z_]\w*)")
CHAIN = re.compile(r"\b([A-Za-z_]\w*)(?:\s*::\s*[A-Za-z_]\w*)+")
QUALIFIED = re.compile(r"\b([A-Za-z_]\w*)\s*::\s*(?=([A-Za-z_]\w*))")
NAMESPACE = re.compile(r"^namespace\s+([\w:]+)\s*\{", re.M)
AT_MARGIN = re.compile(r"^[A-Z_][A-Z_0-9]*\([^)]*\)", re.M)
TEMPLATE = re.compile(r"<[^<>]*>")
RAW = re.compile(r'R"(\w*)\(.*?\)\1"', re.S)
MACRO = re.compile(r"^\s*#\s*define\s+(KILN_\w+)", re.M)
ALIAS = re.compile(r"^(?:using|namespace)\s+[\w:]+(?:\s*=[^;{]*)?;", re.M)
ALONE = re.compile(r"^\s*#\s*define\s+(?!KILN_)|^using namespace\b|^\s*#\s*pragma\b", re.M)
CONDITION = re.compile(r"^\s*#\s*if", re.M)
INCLUDED = re.compile(r"^\s*#\s*include", re.M)
# Words of the language and of the standard library that stand in front of a name and are none.
NOT_NAMES = frozenset("""
    alignas auto bool char class const constexpr consteval constinit double enum explicit extern final float for if
    inline int int32_t int64_t long mutable namespace noexcept operator private public return short signed size_t
    sizeof static static_assert std string string_view struct switch template thread_local typename uint16_t uint32_t
    uint64_t uint8_t union unsigned using vector void volatile while span optional map set pair array override
    requires unique_ptr shared_ptr function nullptr true false else do case default break continue""".split())
# Names of others' namespaces that macros of theirs stand for: TEST (…) makes a testing::Test and says a Message.
IN_MACROS = frozenset("AssertionResult Environment Matcher Message Test TestInfo Types".split())


def plain(text):
    """Without comments and texts."""
    return TEXT.sub('""', COMMENT.sub("", RAW.sub('""', text)))


def used_words(code):
    """Words that an unqualified lookup may be made of: not those of members, which follow `.` and `->`, nor those
    that follow `::`, which are qualified_words."""
    return set(WORD.findall(CHAIN.sub(r"\1", MEMBER.sub(" ", code))))


def qualified_words(code):
    """(cli, Print) of `cli::Print`: looked up in that namespace or class, and nowhere else."""
    return set(QUALIFIED.findall(code))


def namespaces_of(code):
    """Words of the names of those that it opens."""
    return set().union(*(name.split("::") for name in NAMESPACE.findall(code)))


def internal_names(code, also_others=False):
    """What is declared in unnamed namespaces and as `static`; of a header what namespaces have, too. Sources are
    formatted, so a declaration begins at the margin, and its name stands behind the type, on this line or on
    the next."""
    names, depth, unnamed, pending, enumeration = set(), 0, [], False, False
    for line in code.splitlines():
        if re.match(r"^namespace\s*\{", line):
            unnamed.append(depth)
        elif (unnamed or also_others or line.startswith("static ")) and line[:1].isalpha():
            kind = re.match(r"^(?:template\s*<.*>\s*)?(struct|class|enum class|enum|using|union)\s+"
                            r"(?:\w*::)*(\w+)", line)
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


@functools.cache
def headers_of(path):
    """Headers of kiln that a file includes, with theirs."""
    found = set()
    for name in INCLUDE.findall(path.read_text()):
        header = ROOT / name
        if header.is_file() and header not in found:
            found |= {header} | headers_of(header)
    return frozenset(found)


def tables_of(text):
    """Tables of rows that a source reads itself, with theirs; those that its headers read stand before it."""
    named = [ROOT / name for name in INCLUDE.findall(text) if not name.endswith(".h")]
    return frozenset().union(*({table} | headers_of(table) for table in named if table.is_file()))


@functools.cache
def declared_by(header):
    return frozenset(internal_names(plain(header.read_text()), also_others=True))


@functools.cache
def words_of(header):
    return frozenset(WORD.findall(plain(header.read_text())))


@functools.cache
def opened_by(header):
    return frozenset(namespaces_of(plain(header.read_text())))


def aliases(code):
    """name -> how it is spelled: `using Json = nlohmann::json;`, `using spv::Op;`, `namespace fs = …;`."""
    spelled = {}
    for text in ALIAS.findall(code):
        spelled[re.split(r"\s*=", text.rstrip(";"))[0].split()[-1].split("::")[-1]] = text
    return spelled


@functools.cache
def heavy_of(path):
    """Which of HEAVY a file reads, without what its headers do."""
    return frozenset(OUTSIDE.findall(path.read_text())).intersection(HEAVY)


def fixed_words(code, headers):
    """Words that a macro around the source must not be named like."""
    fixed = IN_MACROS.union(REACHED.findall(code), *map(words_of, headers))
    return fixed.union(*(WORD.findall(call) for call in AT_MARGIN.findall(code)))


def stays_alone(code):
    condition = CONDITION.search(code)
    return bool(ALONE.search(code) or condition and INCLUDED.search(code, condition.start()))


class Source:
    def __init__(self, path, text, code):
        self.path, self.size = path, len(text)
        self.headers = headers_of(pathlib.Path(path))
        self.tables = tables_of(text)
        self.names, self.namespaces = internal_names(code), namespaces_of(code)
        self.words, self.qualified = used_words(code) | self.names, qualified_words(code)
        self.macros, self.aliases = sorted(set(MACRO.findall(code))), aliases(code)
        self.includes = HEADER.findall(RAW.sub("", text))
        self.declared = set().union(*map(declared_by, self.headers))
        self.renamable = set() if CONDITION.search(code) else self.names - fixed_words(code, self.headers)
        self.heavy = sorted(set().union(*map(heavy_of, (pathlib.Path(path), *self.headers))))

    def met_in(self, other):
        """Internal names of this one that mean something in the other, or are its headers'."""
        found_in = self.namespaces | {name for name, text in other.aliases.items() if text.startswith("namespace")}
        words = other.words.union(word for where, word in other.qualified if where in found_in)
        met = {name for name in self.names & words if not self.is_alias_of_both(name, other)}
        return met | self.names & (other.declared - self.declared)

    def is_alias_of_both(self, name, other):
        """Spelled alike, of names that mean the same in both."""
        spelled = self.aliases.get(name)
        return spelled is not None and spelled == other.aliases.get(name) and not (
            (self.names | other.names) - {name}).intersection(WORD.findall(spelled))

    def fits(self, other):
        if not self.met_in(other) <= self.renamable or RIVALS <= {*self.includes, *other.includes}:
            return False
        # Headers stand before every alias; a table of rows is read where it stands, behind that of another.
        return not self.aliases or not any(self.aliases.keys() & words_of(table) for table in other.tables)


class Unit:
    def __init__(self):
        self.sources, self.size = [], 0

    def takes(self, source):
        return (len(self.sources) < MAX_SOURCES and self.size + source.size <= MAX_BYTES and
                all(source.fits(other) and other.fits(source) for other in self.sources))

    def add(self, source):
        self.sources.append(source)
        self.size += source.size

    def text(self):
        includes = dict.fromkeys(line for source in self.sources for line in source.includes)
        lines = ["// Made by cmake/unity.py.", *includes]
        for number, source in enumerate(self.sources):
            renamed = sorted(set().union(*(source.met_in(other) for other in self.sources if other is not source)))
            lines += [f"#define {name} {name}_of_{number}" for name in renamed]
            lines.append(f'#include "{source.path}"')
            lines += [f"#undef {name}" for name in (*renamed, *source.macros)]
        return "\n".join(lines) + "\n"


def group(sources):
    """(units, paths of the sources that stay alone)"""
    read, alone = [], []
    for path in sources:
        text = pathlib.Path(path).read_text()
        code = plain(text)
        if not path.endswith(".cc") or stays_alone(code):
            alone.append(path)
        else:
            read.append(Source(path, text, code))
    units = []
    for source in sorted(read, key=lambda source: source.heavy, reverse=True):
        unit = next((unit for unit in units if unit.takes(source)), None)
        if unit is None:
            unit = Unit()
            units.append(unit)
        unit.add(source)
    alone += [unit.sources[0].path for unit in units if len(unit.sources) == 1]
    return [unit for unit in units if len(unit.sources) > 1], alone


def main():
    out, sources = pathlib.Path(sys.argv[1]), sys.argv[2:]
    out.mkdir(parents=True, exist_ok=True)
    units, alone = group(sources)
    for number, unit in enumerate(units):
        path, text = out / f"{number}.cc", unit.text()
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
        print(path)
    print(*alone, sep="\n")


if __name__ == "__main__":
    main()
