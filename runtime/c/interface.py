#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes of the tables of the C interface (TABLES): headers, pages, and the calls that tests check.

usage: interface.py ROOT               writes the pages below docs/users
       interface.py --check ROOT       fails if a page is not what would be written
       interface.py --out FOLDER ROOT  writes the headers, kiln/kiln.h first, and what is made beside them
"""
import pathlib
import sys
import textwrap
import tomllib

# Each is a header, a page and a library of its own; the first one is what the others build on.
TABLES = ("runtime/c/interface.toml", "client/c/interface.toml", "compiler/c/interface.toml")
KINDS = ("enum", "handle", "value", "callback", "struct", "function")
RULES = ("handle", "optional", "struct", "array", "out", "value")
THREADS = {"any": "any thread", "object": "one thread at a time per object"}
ERROR = ["kiln_error**", "error", "error"]


def read_table(root, path):
    """`stem` of the interface names its header and what is made beside it; `before` is its own heading."""
    table = tomllib.loads((root / path).read_text())
    table["path"] = path
    for kind in ("group", *KINDS):
        table.setdefault(kind, [])
    groups = {row["name"] for row in table["group"]}
    names = set()
    for kind in KINDS:
        for row in table[kind]:
            if row["group"] not in groups or row["name"] in names or not row["doc"]:
                raise SystemExit(f"{path}: {row['name']}: no such group, named twice, or without doc")
            names.add(row["name"])
    for row in table["handle"]:
        if row.get("destroy", True):
            table["function"].append({
                "group": row["group"], "name": f"{row['name']}_destroy", "returns": "void",
                "doc": "Destroys it; of NULL: nothing.", "threads": "object",
                "parameters": [[row["name"] + "*", row["name"].removeprefix("kiln_"), "optional"]]})
    for row in table["function"]:
        if row["threads"] not in THREADS or any(len(p) != 3 or p[2] not in RULES for p in row["parameters"]):
            raise SystemExit(f"{path}: {row['name']}: a thread rule or a parameter is not one of the list")
        row["can_fail"] = row["returns"] == "kiln_result" and not row.get("infallible")
        if row["can_fail"]:
            row["parameters"].append(ERROR)
    return table


def declare(kind, name):
    base, bracket, size = name.partition("[")
    return f"{kind} {base}{bracket}{size}"


def comment(text, indent=""):
    text = text.replace("`", "").strip()
    return "\n".join(textwrap.wrap(text, 96 - len(indent), initial_indent=f"{indent}// ",
                                   subsequent_indent=f"{indent}// ", break_on_hyphens=False))


def members(rows):
    for kind, name, doc in rows:
        line = f"  {declare(kind, name)};"
        if doc and len(line) + len(doc) + 4 <= 98:
            yield f"{line}  // {doc.replace('`', '')}"
            continue
        if doc:
            yield comment(doc, "  ")
        yield line


def signature(row):
    return f"{row['returns']} {row['name']}({', '.join(declare(p[0], p[1]) for p in row['parameters']) or 'void'})"


def write_row(kind, row):
    yield comment(row["doc"])
    if kind == "enum":
        yield f"typedef uint32_t {row['name']};"
        yield "enum {"
        for name, number, doc in row["values"]:
            yield f"  {row['prefix']}{name} = {number}," + (f"  // {doc.replace('`', '')}" if doc else "")
        yield "};"
    elif kind == "handle":
        yield f"typedef struct {row['name']} {row['name']};"
    elif kind == "callback":
        arguments = ", ".join(declare(*p) for p in row["parameters"])
        yield f"typedef {row['returns']} (*{row['name']})({arguments});"
    elif kind in ("value", "struct"):
        yield f"typedef struct {row['name']} {{"
        if kind == "struct":
            yield "  size_t struct_size;"
        yield from members(row["members"])
        yield f"}} {row['name']};"
    else:
        if "fails" in row:
            yield comment(f"Fails: {row['fails']}")
        if row["threads"] != "any":
            yield comment(f"Threads: {THREADS[row['threads']]}.")
        yield f"KILN_API {signature(row)};"
    yield ""


HEAD = """\
// SPDX-License-Identifier: MIT
// kiln in C: packs, pipelines and frames. Made by runtime/c/interface.py of interface.toml.
//
//   - A function that can fail returns kiln_result and takes, last, where to put an error object.
//   - Structs begin with their size: KILN_INIT(info) clears one and fills that in. A struct of another
//     size is refused, unless what is beyond the library's is zero.
//   - Objects are made in a context, have one function that destroys them, and may be destroyed in any
//     order; destroying NULL does nothing.
//   - Texts are UTF-8 with a length: kiln_text_of("name").
//   - Without a word about threads a function may be called from any thread.
#ifndef KILN_KILN_H
#define KILN_KILN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <vulkan/vulkan_core.h>

// The version that this header is of; kiln_version_number is that of the library.
#define KILN_HEADER_VERSION {number}U

#define KILN_INIT(variable) \\
  (memset(&(variable), 0, sizeof(variable)), (variable).struct_size = sizeof(variable))

#ifdef __GNUC__
#define KILN_API __attribute__((visibility("default")))
#else
#define KILN_API
#endif

#ifdef __cplusplus
extern "C" {{
#endif
"""
TEXT_OF = """\
// A text that ends in a zero byte; of NULL: the empty one.
static inline kiln_text kiln_text_of(const char* text) {
  kiln_text out;
  out.data = text;
  out.size = text == NULL ? 0 : strlen(text);
  return out;
}
"""


LATER_HEAD = """\
// SPDX-License-Identifier: MIT
// {heading} Made by runtime/c/interface.py of {path}.
// What <kiln/kiln.h> says about errors, structs, texts and threads is true here.
#ifndef KILN_{upper}_H
#define KILN_{upper}_H

#include <kiln/kiln.h>

#ifdef __cplusplus
extern "C" {{
#endif
"""


def write_header(table, number):
    about = table["interface"]
    yield (HEAD.format(number=number) if about["stem"] == "kiln" else
           LATER_HEAD.format(heading=about["heading"], path=table["path"], upper=about["stem"].upper()))
    for kind in KINDS:
        for group in table["group"]:
            rows = [row for row in table[kind] if row["group"] == group["name"]]
            if rows and kind == "function":
                yield f"// --- {group['title']} ---\n"
            for row in rows:
                yield from write_row(kind, row)
                if row["name"] == "kiln_text":
                    yield TEXT_OF
    yield f"#ifdef __cplusplus\n}}\n#endif\n\n#endif  // KILN_{about['stem'].upper()}_H"


def write_page(table):
    yield table["interface"]["text"]
    for group in table["group"]:
        yield f"## {group['title']}\n"
        if "text" in group:
            yield group["text"].strip() + "\n"
        functions = [row for row in table["function"] if row["group"] == group["name"]]
        yield "| function | does | fails |\n|---|---|---|"
        for row in functions:
            names = ", ".join(p[1] for p in row["parameters"])
            mark = " *object*" if row["threads"] == "object" else ""
            yield f"| `{row['name']} ({names})`{mark} | {row['doc']} | {row.get('fails', '')} |"
        yield ""
        for kind in ("struct", "value"):
            for row in (r for r in table[kind] if r["group"] == group["name"]):
                yield f"`{row['name']}`: {row['doc']}\n"
                yield "| member | is |\n|---|---|"
                for type_, name, doc in row["members"]:
                    yield f"| `{declare(type_, name)}` | {doc} |"
                yield ""
        for row in (r for r in table["enum"] if r["group"] == group["name"]):
            values = ", ".join(f"`{row['prefix']}{v[0]}`" + (f" ({v[2]})" if v[2] else "") for v in row["values"])
            yield f"`{row['name']}`: {row['doc']} {values}.\n"
        for row in (r for r in table["callback"] if r["group"] == group["name"]):
            yield f"`{row['name']} ({', '.join(p[1] for p in row['parameters'])})`: {row['doc']}\n"


def checked(table, row):
    """A function that makes the wrong calls first, which have to be refused, and then the right one."""
    parameters = [(declare(p[0], p[1]), p[1], p[2], p[0]) for p in row["parameters"]]
    names = [p[1] for p in parameters]
    yield f"inline {row['returns']} Checked_{row['name']}({', '.join(p[0] for p in parameters)}) {{"

    def call(replaced, with_):
        return f"{row['name']}({', '.join(with_ if name == replaced else name for name in names)})"
    if row["can_fail"]:
        for index, (_, name, rule, type_) in enumerate(parameters):
            if rule == "array":
                yield f"  if ({names[index + 1]} > 0) {{"
                yield (f"    Refused(\"{row['name']}: {name} = NULL\", [&](kiln_error** error) "
                       f"{{ return {call(name, 'nullptr')}; }});")
                yield "  }"
            elif rule in ("handle", "struct", "out"):
                yield (f"  Refused(\"{row['name']}: {name} = NULL\", [&](kiln_error** error) "
                       f"{{ return {call(name, 'nullptr')}; }});")
            if rule == "struct":
                yield (f"  OtherSizes(\"{row['name']}: {name}\", {name}, [&](auto* {name}, kiln_error** error) "
                       f"{{ return {call('', '')}; }});")
        yield f"  return Called(\"{row['name']}\", {call('', '')});"
    else:
        first = parameters[0] if parameters and parameters[0][2] == "optional" else None
        if first and row["returns"] != "void":
            yield f"  Nothing(\"{row['name']}\", {call(first[1], 'nullptr')});"
        elif first:
            yield f"  {call(first[1], 'nullptr')};"
        yield f"  Called(\"{row['name']}\");"
        yield f"  return {call('', '')};"
    yield "}\n"


def write_checked(table):
    yield """\
// SPDX-License-Identifier: MIT
// Every function of kiln.h with the wrong calls that the table rules out in front: a NULL where there must
// be none, a struct of another size. Made by interface.py; to be included by test_calls.h only.
#pragma once

#include "runtime/c/test_calls.h"

namespace kiln::c::testing {

inline constexpr FunctionRow kFunctions[] = {"""
    for row in table["function"]:
        yield f"    {{\"{row['name']}\", {'true' if 'fails' in row else 'false'}}},"
    yield "};\n"
    for row in table["function"]:
        yield from checked(table, row)
    yield "}  // namespace kiln::c::testing\n"
    for row in table["function"]:
        yield f"#define {row['name']}(...) kiln::c::testing::Checked_{row['name']}(__VA_ARGS__)"


def write_abi(table):
    yield f"#include <kiln/{table['interface']['stem']}.h>\n#include <stdio.h>\n\nint main(void) {{"
    for row in table["enum"]:
        for name, _, _ in row["values"]:
            yield f"  printf(\"number {row['prefix']}{name} %u\\n\", (unsigned){row['prefix']}{name});"
    for kind in ("value", "struct"):
        for row in table[kind]:
            name = row["name"]
            yield f"  printf(\"size {name} %zu\\n\", sizeof({name}));"
            for _, member, _ in row["members"]:
                member = member.partition("[")[0]
                yield f"  printf(\"offset {name}.{member} %zu\\n\", offsetof({name}, {member}));"
    for row in table["callback"]:
        arguments = ", ".join(declare(*p) for p in row["parameters"])
        yield f"  printf(\"%s\\n\", \"callback {row['returns']} {row['name']}({arguments})\");"
    for row in table["function"]:
        yield f"  printf(\"%s\\n\", \"function {signature(row)}\");"
    yield "  return 0;\n}"


def version_number(root):
    """That of the project, as CMakeLists.txt has it."""
    text = (root / "CMakeLists.txt").read_text()
    version = text[text.index("project(kiln VERSION ") + 21:].split()[0]
    major, minor, patch = map(int, version.split("."))
    return major * 1_000_000 + minor * 1_000 + patch


def write(path, lines):
    """Leaves a file that is right as old as it is, so that nothing is built again."""
    text = "\n".join(lines).rstrip("\n") + "\n"
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def write_made(folder, table, number):
    stem = table["interface"]["stem"]
    prefix = "" if stem == "kiln" else stem + "_"
    write(folder / f"{stem}.h", write_header(table, number))
    write(folder / f"{prefix}checked_calls.h", write_checked(table))
    write(folder / f"{prefix}print_abi.c", write_abi(table))
    write(folder / f"{prefix}functions.txt", (row["name"] for row in table["function"]))


def main():
    root = pathlib.Path(sys.argv[-1]).resolve()
    wrong = 0
    for path in TABLES:
        table = read_table(root, path)
        if "--out" in sys.argv:
            write_made(pathlib.Path(sys.argv[2]) / "kiln", table, version_number(root))
            continue
        page = root / table["interface"]["page"]
        text = "\n".join(write_page(table)).rstrip("\n") + "\n"
        if "--check" not in sys.argv:
            page.write_text(text)
        elif page.read_text() != text:
            print(f"{page.relative_to(root)} is not what interface.py says; run runtime/c/interface.py .")
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
