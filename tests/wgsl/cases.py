# SPDX-License-Identifier: MIT
"""Modules of WGSL that kilnc makes, for the tests of this folder: which programs there are, and how
one is compiled. A case is a list of arguments behind `kilnc compile`."""
import itertools
import os
import pathlib
import re
import subprocess
import tempfile
import tomllib

STAGES = ("vertex", "fragment", "compute")

# Programs that have no WGSL form, and what they are told.
REFUSED = {"acceptance/image_arrays": ["WGSL8202"]}


def compile_case(kilnc, arguments, folder):
    """The modules of a case by stage, or the messages of the compiler."""
    out = pathlib.Path(tempfile.mkdtemp(dir=folder))
    done = subprocess.run([kilnc, "compile", "--form", "wgsl", "--out", str(out), *arguments],
                          capture_output=True, text=True)
    if done.returncode != 0:
        return None, f"exit code {done.returncode}: {done.stderr}"
    return {stage: (out / f"{stage}.wgsl").read_text()
            for stage in STAGES if (out / f"{stage}.wgsl").exists()}, done.stderr


def entries_of(pairs):
    return [word for stage, function in pairs for word in ("--entry", f"{stage}={function}")]


def acceptance(root):
    """Every run of every acceptance program of the language."""
    folder = root / "tests/acceptance/rpl"
    for path in sorted(folder.glob("*.rpl")):
        for number, line in enumerate(path.read_text().splitlines()):
            if not line.startswith("// run:"):
                break
            run = dict(word.split("=", 1) for word in line[len("// run:"):].split())
            if not run.get("entries"):
                continue
            modules = [str(folder / m) for m in run.get("modules", "").split(",") if m]
            options = [o for o in run.get("options", "").split(",") if o]
            yield (f"acceptance/{path.stem}/{number}",
                   modules + [str(path)]
                   + entries_of(e.split(":") for e in run["entries"].split(","))
                   + [word for o in options for word in ("-o", o)])


def corpus(root):
    """Sources in WGSL, written again."""
    for path in sorted((root / "tests/wgsl_front/corpus").glob("*.wgsl")):
        entries = re.search(r"^// entries: (.*)$", path.read_text(), re.M)[1].split()
        yield f"corpus/{path.stem}", [str(path)] + [word for entry in entries for word in ("--entry", entry)]


# --- option spaces, as far as these tests need them

OPTION = re.compile(r"^\s*(?:rpl 2;)?\s*(global|instance)(?: specialize)? (\w+)\s*:\s*"
                    r"(flag|enum|uint|sint|float)([^;]*);", re.M)


def values_of(sources, name):
    """What '*' stands for: both values of a flag, all of an enum."""
    for source in sources:
        for _, option, kind, rest in OPTION.findall(source.read_text()):
            if option == name:
                return ["true", "false"] if kind == "flag" else re.findall(r'"([^"]*)"', rest)
    raise KeyError(name)


def word_of(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def demo(root, most):
    """Variants of each program of the demo: all values of all axes, and up to `most` combinations
    spread evenly. What the manifest excludes is a program, too."""
    folder = root / "examples/demo"
    manifest = tomllib.loads((folder / "kiln.toml").read_text())
    shared = manifest.get("axes", {})
    for program in manifest["program"]:
        sources = [folder / source for source in program["sources"]]
        pipeline = program.get("pipeline", manifest["defaults"]["pipeline"])
        axes = {}
        for name in program.get("use", []):
            axes.update(shared[name])
        axes.update(program.get("axes", {}))
        lists = [[(name, word_of(v)) for v in (values_of(sources, name) if values == "*" else values)]
                 for name, values in axes.items()]
        combinations = list(itertools.product(*lists))
        step = max(1, len(combinations) // most)
        fixed = [(name, word_of(v)) for name, v in program.get("options", {}).items()]
        for number, chosen in enumerate(combinations[::step]):
            yield (f"demo/{program['name']}/{number}",
                   ["--pipeline", pipeline, *map(str, sources)]
                   + entries_of(program["entry_points"].items())
                   + [word for n, v in [*fixed, *chosen] for word in ("-o", f"{n}={v}")])


def uber(root, count):
    """A fixed sample of the option combinations of the uber shader."""
    flags = ("use_skinning", "use_directional", "use_normal_map", "use_metal_rough_map",
             "use_occlusion", "use_emissive", "normal_two_channel", "alpha_clip")
    state = 12345
    for number in range(count):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        bits = state >> 8
        options = [f"{flag}={'true' if bits >> i & 1 else 'false'}" for i, flag in enumerate(flags)]
        options += [f"max_point_lights={1 + (bits >> 8) % 10}", f"tonemap={(bits >> 12) % 4}"]
        yield (f"uber/{number}",
               [str(root / "tests/bench/shaders/uber.rpl"), "--entry", "vertex=vertex_main",
                "--entry", "fragment=fragment_main"]
               + [word for o in options for word in ("-o", o)])
