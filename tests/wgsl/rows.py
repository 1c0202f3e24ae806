# SPDX-License-Identifier: MIT
"""Each row of the tables of the emitter as RPL programs: with values, and with constants, which a
validator refuses to compute where they fail (spec/wgsl 3.5)."""
import re

FLOATS = ["f1", "f2", "f3", "f4"]
HALVES = ["h1", "h2", "h3", "h4"]
UNSIGNED = ["u1", "u2", "u3", "u4"]
SIGNED = ["s1", "s2", "s3", "s4"]
TYPES = {"F": FLOATS + HALVES, "FD": FLOATS + HALVES, "F2": FLOATS[1:] + HALVES[1:], "F3": ["f3", "h3"],
         "FUS": FLOATS + HALVES + UNSIGNED + SIGNED, "FS": FLOATS + HALVES + SIGNED, "F32": FLOATS,
         "S": SIGNED, "V2": FLOATS[1:] + UNSIGNED[1:] + SIGNED[1:], "B2": ["b2", "b3", "b4"],
         "M": ["f3x3", "f4x4"]}
BUILTIN = re.compile(r'^KILN_BUILTIN\(\w+,\s*"(\w+)",\s*(\w+),\s*"([T1B]*)",\s*(\w),\s*(Glsl|Op|Special)',
                     re.M)
OPERATOR = re.compile(r'^KILN_WGSL_BINARY\((\w+),\s*"(\S+)",\s*(\w+),\s*(\w+),\s*(\w+),\s*(\w+)\)', re.M)
UNARY = re.compile(r'^KILN_WGSL_UNARY\((\w+),\s*"(\S*)",\s*(\w+),\s*(\w+),\s*(\w+),\s*(\w+)\)', re.M)
# Spelled as functions, or not at all, in RPL.
SPELLED = {"ShiftRightArithmetic": "shift_right_arithmetic"}
# Of typed modules: RPL has no word for them.
NOT_OF_RPL = {"Rem", "NotEqualOrdered"}
COMPARISONS = {"Less", "Greater", "LessEqual", "GreaterEqual", "Equal", "NotEqual"}

HEAD = """rpl 2;
set_pass read_write_storage_buffer data { u4 ints; s4 sints; f4 floats; u4 result; };
"""


def loaded(kind, index):
    """A value of a type that nobody knows before the shader runs."""
    scalar, size = kind[0], kind[1:]
    if "x" in size:
        column = {"3x3": "f3 { data.floats.xyz }", "4x4": "f4 { data.floats }"}[size]
        return f"{kind} {{ {', '.join([column] * int(size[0]))} }}"
    letters = "xyzw"[index:] + "xyzw"[:index]
    if scalar == "b":
        return f"({loaded('f' + size, index)} < {loaded('f' + size, (index + 1) % 4)})"
    field = {"u": "ints", "s": "sints", "f": "floats", "h": "floats"}[scalar]
    source = f"data.{field}.{letters[:int(size)]}"
    return f"h{size} {{ {source} }}" if scalar == "h" else source


def constant(kind, value):
    scalar, size = kind[0], kind[1:]
    if "x" in size:
        column = f"f{size[0]} {{ {value}.0 }}"
        return f"{kind} {{ {', '.join([column] * int(size[0]))} }}"
    if kind == "h1":
        return f"h1 {{ {value}.0 }}"
    literal = {"u": f"{value}u", "s": f"{value}", "f": f"{value}.0", "h": f"{value}.0",
               "b": "true" if value else "false"}[scalar]
    if kind in ("u1", "s1", "f1", "b1"):
        return literal
    return f"{kind} {{ h1 {{ {literal} }} }}" if scalar == "h" else f"{kind} {{ {literal} }}"


def stored(expression, kind):
    """Statements that keep a value of a type from being nothing to anybody."""
    scalar, size = kind[0], kind[1:]
    component = "" if size == "1" else ".x"
    if "x" in size:
        component = ".x.x"
    value = f"value{component}"
    number = f"u1 {{ {value} }}"
    return f"    {kind} value = {expression};\n    data.result.x = data.result.x + {number};\n"


def function(name, body):
    return f"void {name} (void)\n{{\n{body}}}\n"


def builtin_bodies(table, values):
    for name, types, parameters, result, _ in BUILTIN.findall(table):
        if types == "None":
            continue
        for kind in TYPES[types]:
            letters = {"T": kind, "1": kind[0] + "1", "B": "b" + kind[1:]}
            arguments = ", ".join(values(letters[p], i) for i, p in enumerate(parameters))
            given = letters["1"] if result == "1" else kind
            if types == "B2":
                given = "b1"
            yield f"{name}_{kind}", name, stored(f"{name}_{kind} ({arguments})", given)


def operator_bodies(table, values):
    for name, text, *columns in OPERATOR.findall(table):
        if name in NOT_OF_RPL:
            continue
        for form, kinds in zip(columns, (FLOATS + HALVES, UNSIGNED, SIGNED, ["b1", "b2", "b3", "b4"])):
            for kind in kinds if form != "None" and not (
                    name == "ShiftRightArithmetic" and kinds is UNSIGNED) else []:
                left, right = values(kind, 0), values(kind, 1)
                given = "b" + kind[1:] if name in COMPARISONS else kind
                expression = (f"{SPELLED[name]}_{kind} ({left}, {right})" if name in SPELLED
                              else f"{left} {text} {right}")
                yield f"{name}_{kind}", name, stored(expression, given)
    for name, text, *columns in UNARY.findall(table):
        for form, kinds in zip(columns, (FLOATS, ["u1"], SIGNED if name != "Complement" else ["s1"],
                                         ["b1", "b2"])):
            for kind in kinds if form != "None" else []:
                yield f"{name}_{kind}", name, stored(f"{text}{values(kind, 0)}", kind)


def programs(root, folder):
    """One program per row and kind of operands: loaded ones, and constants that make what can fail
    when a module is made fail: zero divisors, shifts by 32, bounds in the wrong order."""
    builtins = (root / "compiler/ir/builtins.def").read_text().split("--- typed modules alone")[0]
    operators = (root / "compiler/emit/wgsl/operators.def").read_text()
    wrong_constants = {"Div": 0, "Mod": 0, "ShiftLeft": 32, "ShiftRight": 32,
                       "ShiftRightArithmetic": 32}
    for how in ("loaded", "constant", "mixed"):
        def values(kind, index, how=how):
            if how == "loaded" or (how == "mixed" and index == 0):
                return loaded(kind, index)
            return constant(kind, {0: 5, 1: 3, 2: 1}[min(index, 2)])
        for label, name, body in [*builtin_bodies(builtins, values),
                                  *operator_bodies(operators, values)]:
            if name in wrong_constants and how != "loaded":
                kind = label.rsplit("_", 1)[1]
                if kind[0] in "us":
                    good = constant(kind, 3)
                    body = body.replace(good, constant(kind, wrong_constants[name]))
            fragment = name.startswith(("ddx", "ddy", "fwidth"))
            text = HEAD + function("row", body)
            if fragment:
                text += "color_output_container target { f4 color; };\n"
            path = folder / f"row_{how}_{label}.rpl"
            path.write_text(text)
            stage = "fragment" if fragment else "compute"
            pipeline = [] if fragment else ["--pipeline", "compute"]
            yield f"rows/{how}/{label}", [*pipeline, str(path), "--entry", f"{stage}=row"]
