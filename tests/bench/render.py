#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs all benches and writes docs/bench: ratios of one run, counts, and a plot.

usage: render.py FOLDER_OF_BENCHES FOLDER
"""
import json
import math
import pathlib
import subprocess
import sys


COMPONENTS = ("front_bench", "layout_bench", "store_bench", "pack_bench", "graph_bench", "runtime_bench", "daemon_bench",
              "start_bench")
EDITS = (("cold", "cold"), ("again", "warm"), ("again, new process", "reopened"),
         ("one function touched", "function_touched"), ("one setting touched", "setting_touched"))


def run(*command: str) -> dict:
    """A bench says with its exit status whether its gates hold; what it prints is wanted anyway."""
    print(f"running {pathlib.Path(command[0]).name} ...", flush=True)
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)


def plot(rows: list) -> str:
    """Both axes are logarithmic: combinations against results and CPU time."""
    width, height, margin = 480, 320, 56
    def x(value: float) -> float:
        return margin + (math.log10(value) - 2) / 4 * (width - 2 * margin)
    def y(value: float, low: float, high: float) -> float:
        part = (math.log10(value) - low) / (high - low)
        return height - margin - part * (height - 2 * margin)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
             'font-family="sans-serif" font-size="11">',
             f'<rect width="{width}" height="{height}" fill="white"/>']
    for power in range(2, 7):
        at = x(10 ** power)
        lines.append(f'<line x1="{at:.1f}" y1="{margin}" x2="{at:.1f}" y2="{height - margin}" '
                     'stroke="#ddd"/>')
        lines.append(f'<text x="{at:.1f}" y="{height - margin + 16}" text-anchor="middle">'
                     f'10<tspan dy="-4" font-size="8">{power}</tspan></text>')
    for power in range(2, 7):
        at = y(10 ** power, 2, 6)
        lines.append(f'<text x="{margin - 6}" y="{at + 4:.1f}" text-anchor="end">10'
                     f'<tspan dy="-4" font-size="8">{power}</tspan></text>')
    series = [("combinations", "combinations", "#bbb"), ("results", "distinct results", "#0072b2"),
              ("modules", "distinct modules", "#d55e00")]
    for number, (key, name, color) in enumerate(series):
        points = " ".join(f"{x(row['combinations']):.1f},{y(max(row[key], 1), 2, 6):.1f}"
                          for row in rows)
        lines.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/>')
        lines.append(f'<text x="{margin + 8}" y="{margin + 14 * number + 4}" fill="{color}">'
                     f'{name}</text>')
    lines.append(f'<text x="{width / 2}" y="{height - 12}" text-anchor="middle">'
                 'option combinations asked for</text></svg>')
    return "\n".join(lines) + "\n"


def end_to_end(result: dict) -> list:
    """Wall and CPU as multiples of the floor of the same run, and what was done anew."""
    floor = result["floor"]
    text = ["## End to end", "",
            "Every allowed variant of the demo into durable SQLite, one worker. The floor of the "
            "same run puts the same bytes through the same stores without building anything; "
            "*compile* builds without a store.", "",
            "| step | wall of the floor | CPU of the floor | compiled | regions lowered | modules "
            "written |", "|---|---|---|---|---|---|"]
    for name, key in (("floor", "floor"), ("compile", "compile")) + EDITS:
        row = result[key]
        counts = [row.get(count, "") for count in ("compiled", "regions_lowered",
                                                   "modules_written")]
        text.append(f"| {name} | {row['wall_ms'] / floor['wall_ms']:.2f} | "
                    f"{row['cpu_ms'] / floor['cpu_ms']:.2f} | " +
                    " | ".join(str(count) for count in counts) + " |")
    touched = result["function_touched"]
    text += ["", f"Of {result['cold']['variants']} variants {result['cold']['results']} results. "
             f"After the edit of one function {touched['regions_lowered_of_it']} of its regions "
             f"were lowered and {touched['regions_lowered_of_others']} of others.", "",
             "| gate | value | must be | holds |", "|---|---|---|---|"]
    for name, gate in result["gates"].items():
        text.append(f"| {name.replace('_', ' ')} | {gate['value']:.4g} | ≤ {gate['gate']:g} | "
                    f"{'yes' if gate['ok'] else 'no'} |")
    return text + [""]


def components(results: dict) -> list:
    text = ["## Components", "", "Each has gates of its own; a share is the value of the gate "
            "divided by what it must be. Times depend on the machine.", "",
            "| bench | gate | share | holds |", "|---|---|---|---|"]
    for bench, result in results.items():
        for name, gate in result["gates"].items():
            text.append(f"| `{bench}` | {name.replace('_', ' ')} | "
                        f"{gate['value'] / gate['gate'] if gate['gate'] else 0:.2f} | "
                        f"{'yes' if gate['ok'] else 'no'} |")
    return text + [""]


def budgets(rows: dict) -> list:
    text = ["## Budgets", "", "`spec/architecture 10.5`, in microseconds of a machine that copies and "
            "renumbers a word in 0.3 ns. Why rows are over: `tests/bench/README.md`.", "",
            "| once per | µs | budget | holds |", "|---|---|---|---|"]
    for name, row in rows.items():
        text.append(f"| {name.replace('_us', '').replace('_', ' ')} | {row['value']:.2f} | "
                    f"{row['gate']:g} | {'yes' if row['ok'] else 'no'} |")
    return text + [""]


def main() -> None:
    benches, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    here = pathlib.Path(__file__).parent
    variant_bench = str(benches / "variant_bench")
    variant = run(variant_bench, "--json")
    counted = run(sys.executable, str(here / "instructions.py"), variant_bench)
    scaling = run(str(benches / "scaling_bench"), "--json")
    edited = run(str(benches / "end_to_end_bench"), "--json")
    parts = {name: run(str(benches / name), "--json") for name in COMPONENTS}
    (folder / "scaling.svg").write_text(plot(scaling["rows"]))
    rows = [("assembler, every module written", "assembler", "assembler"),
            ("assembler, new modules only", "assembler_new_modules_only", None),
            ("known variant (option check and look-up)", "known_variant", "known"),
            ("direct path", "direct", "direct"), ("glslang", None, "glslang")]
    text = ["# Variants beside glslang", "",
            "Written by `ninja bench`. One variant = vertex and fragment stage of one uber shader "
            f"({variant['variants']} combinations, {variant['words_per_variant']:.0f} words each), "
            "CPU time of one thread, names on, metadata included, glslang in process in the same "
            "run. Times depend on the machine and are left out; ratios and counts do not.", "",
            "In each of ten rounds new assemblers build every distinct variant, and the direct path "
            "and glslang build a tenth of them, so that all meet the same machine. A ratio is the "
            "median over the rounds of the ratio of the medians of a round; instructions are "
            "counted by callgrind.", "",
            "| path | times faster than glslang | instructions per variant | per emitted word |",
            "|---|---|---|---|"]
    for name, key, path in rows:
        ratio = "1" if key is None else f"{variant[key]['ratio_vs_glslang']:.0f}"
        count = counted.get(path, {}) if path else {}
        each = count.get("instructions_per_variant")
        word = count.get("instructions_per_word")
        text.append(f"| {name} | {ratio} | {f'{each:,.0f}' if each else ''} | "
                    f"{f'{word:.1f}' if word else ''} |")
    text += ["", "| gate | value | must be | holds |", "|---|---|---|---|"]
    at_most = ("cpu_on_two_threads", "memory_kib", "assembler_instructions_per_word")
    for name, gate in list(variant["gates"].items()) + list(counted["gates"].items()):
        if name.endswith("_us"):
            continue  # of this machine
        sign = "≤" if name in at_most else "≥"
        text.append(f"| {name.replace('_', ' ')} | {gate['value']:.4g} | {sign} {gate['gate']:g} | "
                    f"{'yes' if gate['ok'] else 'no'} |")
    text += ["",
             f"The floor, copying finished modules and renumbering their ids, is "
             f"{variant['times_floor']:.1f} times less than the assembler needs. "
             f"{variant['distinct_results']} distinct results: "
             f"{variant['distinct_vertex_modules']} vertex and "
             f"{variant['distinct_fragment_modules']} fragment modules from "
             f"{variant['region_versions']} versions of regions.", "",
             "## Many combinations", "",
             "One program whose five features guard three flags each: 2^20 combinations, 59,049 "
             "results. Combinations come in a fixed pseudo-random order.", "",
             "| combinations | results | modules | share of the time per result | KiB |",
             "|---|---|---|---|---|"]
    last = scaling["rows"][-1]["us_per_result"]
    for row in scaling["rows"]:
        text.append(f"| {row['combinations']} | {row['results']} | {row['modules']} | "
                    f"{row['us_per_result'] / last:.2f} | {row['resident_kib']} |")
    text += ["", "![results and modules by combinations](scaling.svg)", ""]
    text += end_to_end(edited) + budgets(variant["budgets"]) + components(parts)
    text += ["## Reproduce", "", "```", "cmake --preset release", "ninja -C build/release bench",
             "```", ""]
    (folder / "README.md").write_text("\n".join(text))


if __name__ == "__main__":
    main()
