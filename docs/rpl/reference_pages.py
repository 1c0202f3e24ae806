#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two pages from the tables that drive the compiler: docs/rpl/reference.md (every inbuilt function,
setting, pack format, storage format and stage; its examples are compiled by check_examples.py) and
docs/rpl/coming_from.md (spellings.def, whose examples language_test compiles). With --check it
writes nothing and fails if a page is not what it would write, or a function has no example.

usage: reference_pages.py [--check] ROOT
"""
import ast
import pathlib
import re
import sys

STRING = r'"(?:[^"\\]|\\.)*"'
TYPES = {  # column `types` of builtins.def: text, the T of the example
    "F": ("f1–f4", "f3"), "FD": ("f1–f4", "f3"), "F2": ("f2–f4", "f3"), "F3": ("f3", "f3"),
    "FUS": ("f1–f4, u1–u4, s1–s4", "f3"), "FS": ("f1–f4, s1–s4", "f3"),
    "F32": ("f1–f4", "f3"), "S": ("s1–s4", "s3"), "V2": ("vectors of 2 to 4 items", "f3"),
    "B2": ("b2–b4", "b3"), "M": ("f3x3, f4x4", "f4x4"),
}
PLACES = {
    "Type": "Types", "Call": "Functions", "Name": "Values of a stage", "Member": "Components",
    "Method": "Methods", "Declaration": "Declarations", "Statement": "Statements", "Mark": "Marks",
}


def strings(text):
    return [ast.literal_eval(word) for word in re.findall(STRING, text)]


def block(arguments, source):
    return f"<!-- {arguments}-->\n```rpl\n{source}```\n"


def cell(code):
    return f"`{code}`".replace("|", "\\|") if code else "—"


# --- functions -----------------------------------------------------------------------------------
def read_functions(root):
    """name -> (types, parameters, result), in the order of the table."""
    row = re.compile(r'^KILN_BUILTIN\(\w+,\s*"(\w+)",\s*(\w+),\s*"(\w*)",\s*(\w)', re.M)
    text = (root / "compiler/ir/builtins.def").read_text()
    text = text[:text.index("KILN_BUILTIN(NMin,")]  # those behind it are of typed modules
    return {name: rest for name, *rest in row.findall(text)}


def read_special(root):
    rows = {}
    for line in (root / "docs/rpl/special_functions.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, signature, stage, version, example = line.split("|", 4)
            rows[name] = (signature, stage, version, example)
    return rows


def family_example(name, types, parameters, result):
    t = TYPES[types][1]
    values = {"f3": "a", "s3": "steps", "b3": "mask", "f4x4": "turn"}
    arguments = {"T": values[t], "1": "0.5", "B": "mask"}
    call = f"{name}_{t} ({', '.join(arguments[letter] for letter in parameters)})"
    if result == "1":
        return f"if ({call}) {{ size = 1.0; }}" if t == "b3" else f"size = {call};"
    return f"{values[t]} = {call};"


def family_section(functions):
    lines = ["## Functions of many types", "",
             "`T` stands for a type of the second column and is part of the name: `floor_f3`. All"
             " arguments are of that", "type unless written otherwise; `B` is the boolean vector of"
             " its size.", "",
             "| function | T | example |", "|---|---|---|"]
    old, new = [], []
    for name, (types, parameters, result) in functions.items():
        if types == "None":
            continue
        shown = ", ".join({"T": "T", "1": "f1", "B": "B"}[letter] for letter in parameters)
        gives = {"T": "T", "1": "b1" if types == "B2" else "f1"}[result]
        example = family_example(name, types, parameters, result)
        version2 = types in ("F32", "S", "V2", "B2")
        (new if version2 else old).append(example)
        mark = " (`rpl 2;`)" if version2 else ""
        lines.append(f"| `{name}_T ({shown})` → {gives}{mark} | {TYPES[types][0]} | "
                     f"{cell(example)} |")
    body = "".join(f"    {line}\n" for line in old)
    lines += ["", "All of version 1 in one function, and those of version 2 in another:", ""]
    lines.append(block("vertex=place ", (
        "vertex_attribute_container mesh { f3 position; };\n"
        "set_object uniform_buffer object { f4x4 world; };\n\n"
        "void place (void)\n{\n    f3 a = mesh.position;\n    f4x4 turn = object.world;\n"
        f"    f1 size = 1.0;\n{body}"
        "    vertex_stage_output_position (turn * f4 {a, size});\n}\n")))
    body = "".join(f"    {line}\n" for line in new)
    lines.append(block("fragment=shade ", (
        "rpl 2;\nstate_container surface { f3 normal; };\n"
        "color_output_container target { f4 color; };\n\n"
        "void shade (void)\n{\n    f3 a = surface.normal;\n    s3 steps = s3 {a};\n"
        f"    b3 mask = a > f3 {{0.0}};\n    f1 size = 1.0;\n{body}"
        "    target.color = f4 {a * f3 {steps}, size};\n}\n")))
    return lines


def special_section(special):
    lines = ["## Functions of stages, images and memory", "",
             "| function | stage | version | example |", "|---|---|---|---|"]
    for signature, stage, version, example in special.values():
        lines.append(f"| `{signature}` | {stage} | {version} | {cell(example)} |")

    def examples(stages, versions):
        return "".join(f"    {example}\n" for signature, stage, version, example in special.values()
                       if stage in stages and version in versions)
    around = ("set_material sampler filter;\nset_material image_color_2d albedo;\n"
              "set_material image_depth_2d shadow;\n")
    memory = ("set_object storage_image_2d format (rgba32_float) read_write canvas;\n"
              "set_object read_write_storage_buffer heap { u1 total; f4... items; };\n")
    lines += ["", "Those of version 1:", ""]
    lines.append(block("vertex=put ", (
        around + "vertex_attribute_container mesh { f3 position; f2 uv; };\n\n"
        "void put (void)\n{\n    f3 place = mesh.position;\n    f2 spot = mesh.uv;\n"
        "    f4 color = f4 {0.0};\n    f1 number = 0.0;\n" + examples(("any",), ("1",)) +
        "    place = place + color.xyz * number;\n" + examples(("vertex",), ("1",)) + "}\n")))
    lines += ["Those of a fragment stage and of any stage:", ""]
    lines.append(block("fragment=shade ", (
        "rpl 2;\n" + around + memory + "state_container surface { f2 uv; };\n"
        "color_output_container target { f4 color; };\n\n"
        "void shade (void)\n{\n    f2 spot = surface.uv;\n    f4 color = f4 {0.0};\n"
        "    f1 number = 0.0;\n    u1 count = 0u;\n    u2 extent = u2 {0u};\n" +
        examples(("any",), ("2",)) + examples(("fragment",), ("1", "2")) +
        "    target.color = color * (number + f1 {count + extent.x});\n}\n")))
    lines += ["Those of a vertex and of a compute stage:", ""]
    lines.append(block("vertex=place ", (
        "rpl 2;\nvoid place (void)\n{\n    u1 count = 0u;\n" + examples(("vertex",), ("2",)) +
        "    vertex_stage_output_position (f4 {f1 {count}});\n}\n")))
    lines.append(block("compute=work --pipeline compute ", (
        "rpl 2;\nset_object read_write_storage_buffer heap { u1 total; };\n\n"
        "void work (void)\n{\n    u3 spot = u3 {0u};\n    u1 count = 0u;\n" +
        examples(("compute",), ("2",)) +
        "    heap.total = count + spot.x;\n}\n")))
    return lines


# --- settings ------------------------------------------------------------------------------------
def literal(value, kind):
    if kind in ("Byte", "Size"):
        return f"{value}u"
    return value.rstrip("F") if kind == "Float" else value


def settings_section(root):
    text = (root / "compiler/ir/settings.def").read_text()
    words = {}
    for name, rest in re.findall(r"^KILN_SETTING_VALUES\((\w+), (.*)\)$", text, re.M):
        words[name] = strings(rest)
    kinds = {"Flag": "true or false", "Byte": "uint up to 255", "Size": "uint", "Float": "float"}
    lines = ["## Settings", "", "| setting | type | default | example |", "|---|---|---|---|"]
    examples = {"Pipeline": [], "Output": [], "Compute": []}
    row = re.compile(r'^KILN_SETTING\(\w+, "(\w+)", (\w+), (\w+), (.*)\)$', re.M)
    for name, scope, kind, value in row.findall(text):
        value = "1" if kind == "Size" else literal(value, kind).rstrip("u")
        written = value + ("u" if kind in ("Byte", "Size") else "")
        example = f"setting {name}{' block 0' if scope == 'Output' else ''} = {written};"
        examples[scope].append(example)
        shown = kinds.get(kind) or f"[{kind.lower()}](#states)"
        lines.append(f"| `{name}` | {shown} | {cell(value)} | {cell(example)} |")
    lines += ["", "`block` is the number of a colour output. Settings of compute pipelines stand alone.",
              "", "### States", "", "The words that a setting of each kind may have:", ""]
    lines += [f"* {name.lower()}: " + ", ".join(f"`{word}`" for word in values)
              for name, values in words.items()]
    lines += ["", "Every setting with its default:", ""]
    graphics = "".join(f"{line}\n" for line in examples["Pipeline"] + examples["Output"])
    lines.append(block("", "color_output_container target { f4 color; };\n" + graphics))
    compute = "".join(f"{line}\n" for line in examples["Compute"])
    lines.append(block("compute=work --pipeline compute ", "rpl 2;\n" + compute +
                       "void work (void) { workgroup_barrier (); }\n"))
    return lines


# --- formats and stages --------------------------------------------------------------------------
def formats_section(root):
    text = (root / "compiler/front/rpl/formats.def").read_text()
    packs = [strings(row) for row in re.findall(r"^KILN_PACK_FORMAT\((.*)\)$", text, re.M)]
    images = re.findall(r'^KILN_STORAGE_FORMAT\("(\w+)",\s*\w+,\s*"(\w+)"\)$', text, re.M)
    lines = ["## Pack formats", "", "How a field of an attribute container lies in memory.", "",
             "| format | types | values |", "|---|---|---|"]
    lines += [f"| `{name}` | {kind}1–{kind}4 | {values} |" for name, kind, values in packs]
    fields = "".join(f"    pack ({name}) {kind}2 with_{name};\n" for name, kind, _ in packs)
    lines += ["", block("", f"vertex_attribute_container mesh\n{{\n{fields}}};\n"),
              "## Storage formats", "", "What a texel of a storage image is. Version 2.", "",
              "| format | type in code |", "|---|---|"]
    lines += [f"| `{name}` | {item} |" for name, item in images]
    declared = "".join(
        f"set_object storage_image_2d format ({name}) write_only with_{name};\n"
        for name, _ in images)
    lines += ["", block("", "rpl 2;\n" + declared)]
    return lines


STAGES = {
    "vertex": ("once for each vertex", "attribute containers", "state containers, the position",
               "vertex_stage_"),
    "fragment": ("once for each pixel that is covered", "state containers",
                 "colour output containers, the depth", "fragment_stage_"),
    "compute": ("once for each invocation of a workgroup", "—", "—", "compute_stage_"),
}


def stages_section(root):
    text = (root / "compiler/ir/enum_names.h").read_text()
    stages = strings(re.search(r"KILN_NAMES\(Stage, (.*?)\);", text, re.S)[1])
    if set(stages) != set(STAGES):
        sys.exit(f"stages of enum_names.h: {stages}")
    lines = ["## Stages", "", "An entry point is a function without arguments and result; the"
             " manifest or the command line says for which stage.", "",
             "| stage | runs | reads | writes | functions |", "|---|---|---|---|---|"]
    for name in stages:
        runs, reads, writes, prefix = STAGES[name]
        lines.append(f"| `{name}` | {runs} | {reads} | {writes} | `{prefix}…` |")
    lines += ["", "Buffers, push constants, samplers and images can be read in every stage.", ""]
    lines.append(block("vertex=place fragment=shade ", (
        "vertex_attribute_container mesh { f3 position; f2 uv; };\n"
        "state_container surface { f2 uv; };\n"
        "color_output_container target { f4 color; };\n\n"
        "void place (void)\n{\n    surface.uv = mesh.uv;\n"
        "    vertex_stage_output_position (f4 {mesh.position, 1.0});\n}\n\n"
        "void shade (void) { target.color = f4 {surface.uv, 0.0, 1.0}; }\n")))
    lines.append(block("compute=double_all --pipeline compute ", (
        "rpl 2;\nsetting workgroup_size_x = 64u;\n"
        "set_object read_write_storage_buffer list { f4... items; };\n\n"
        "void double_all (void)\n{\n    u1 i = compute_stage_global_id ().x;\n"
        "    if (i < array_length (list.items)) { list.items[i] = list.items[i] * 2.0; }\n}\n")))
    return lines


def reference(root):
    functions, special = read_functions(root), read_special(root)
    plain = [name for name, (types, _, _) in functions.items() if types == "None"]
    if sorted(plain) != sorted(special):
        sys.exit("special_functions.txt: " + ", ".join(sorted(set(plain) ^ set(special))))
    special = {name: special[name] for name in plain}
    lines = ["# Reference of RPL", "", "Written by `reference_pages.py` from the tables that drive the"
             " compiler; do not edit. A test compiles every", "block. What the language means is in"
             " [the guide](README.md), what version 2 adds in [version 2](version2.md).", ""]
    for section in (family_section(functions), special_section(special), settings_section(root),
                    formats_section(root), stages_section(root)):
        lines += section
    return "\n".join(lines).rstrip("\n") + "\n"


# --- spellings -----------------------------------------------------------------------------------
def coming_from(root):
    row = re.compile(r"^KILN_SPELLING\((\w+), (" + STRING + r", " + STRING + r", " + STRING + r", "
                     + STRING + r"), (\w+), (" + STRING + r", " + STRING + r")\)$", re.M)
    text = (root / "compiler/diag/spellings.def").read_text()
    lines = ["# Coming from GLSL, HLSL or WGSL", "",
             "Written by `reference_pages.py` from the table that drives the messages; do not edit."
             " Whoever writes what stands", "on the left is told what stands on the right. (2): it"
             " needs `rpl 2;` at the start of the file.", ""]
    place = None
    for where, first, scene, second in row.findall(text):
        spelling, languages, replacement, advice = strings(first)
        wrong, right = strings(second)
        if where != place:
            lines += ([""] if place else []) + [f"## {PLACES[where]}", "",
                      "| instead of | of | write | example | becomes |", "|---|---|---|---|---|"]
            place = where
        version = " (2)" if scene.endswith("2") else ""
        told = "; ".join(([f"`{replacement}`"] if replacement else []) +
                         ([advice.replace("|", "\\|")] if advice else []))
        lines.append(f"| {cell(spelling)} | {languages.replace(' ', ', ')} | {told}{version} | "
                     f"{cell(wrong)} | {cell(right)} |")
    return "\n".join(lines) + "\n"


def main():
    root = pathlib.Path(sys.argv[-1])
    wrong = []
    for name, text in (("reference.md", reference(root)), ("coming_from.md", coming_from(root))):
        path = root / "docs/rpl" / name
        if "--check" not in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            wrong.append(f"docs/rpl/{name}: run docs/rpl/reference_pages.py {root}")
    print("\n".join(wrong) or "2 pages")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
