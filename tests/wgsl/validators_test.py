#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every module that kiln writes is accepted by two validators, naga and Dawn's, without a message.
See spec/wgsl 1.2.

    validators_test.py KILNC RANDOM_MODULES ROOT [--full]

Without Node or the packages of package.json the test is skipped (exit code 77), unless
KILN_REQUIRE_VALIDATORS is 1."""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import cases
import rows


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(1 if os.environ.get("KILN_REQUIRE_VALIDATORS") == "1" else 77)


def validate(root, jobs, folder):
    (folder / "jobs.json").write_text(json.dumps(jobs))
    try:
        done = subprocess.run(["node", str(root / "tests/wgsl/validate.mjs"),
                               str(folder / "jobs.json"), str(folder / "verdicts.json")],
                              capture_output=True, text=True)
    except FileNotFoundError:
        skip("there is no node")
    if done.returncode == 3:
        skip(done.stderr.strip())
    if done.returncode != 0:
        sys.exit(f"the validators failed: {done.stderr}")
    return json.loads((folder / "verdicts.json").read_text())


# What the validators must refuse, or their verdicts mean nothing: who, and a body.
WRONG = [
    ("naga dawn", "let x : i32 = 1.0f;"),
    ("naga dawn", "let x : u32 = 1u / 0u;"),
    ("dawn", "var y : u32 = 1u; let x : u32 = y / 0u;"),
    ("dawn", "var y : u32 = 1u; let x : u32 = y << 32u;"),
    ("dawn", "let x : f32 = sqrt(-1.0f);"),
    ("dawn", "let x : f32 = clamp(1.0f, 2.0f, 1.0f);"),
    ("dawn", "if (id.x > 3u) { workgroupBarrier(); }"),
    ("naga dawn", "let x : vec2<f32> = vec2<f32>(1.0f, 2i);"),
    ("naga dawn", "return 1u;"),
]


def self_check(root, folder):
    jobs = [{"path": str(i), "code": "@compute @workgroup_size(1)\n"
             f"fn main(@builtin(local_invocation_id) id : vec3<u32>) {{ {body} }}\n"}
            for i, (_, body) in enumerate(WRONG)]
    verdicts = validate(root, jobs, folder)
    return [f"{judge} accepts: {body}" for i, (judges, body) in enumerate(WRONG)
            for judge in judges.split() if verdicts[str(i)][judge] == "ok"]


def uniformity(root, folder):
    """The rows of uniformity have Dawn's verdict: an error where kiln has one, and nowhere else."""
    sys.path.insert(0, str(root / "tests/wgsl_front"))
    import uniformity_rows  # pylint: disable=import-outside-toplevel,import-error
    rows_of = list(uniformity_rows.programs())
    verdicts = validate(root, [{"path": name, "code": source} for name, source, *_ in rows_of], folder)
    return [f"{name}: Dawn says {verdicts[name]['dawn']}" for name, _, code, *_ in rows_of
            if (verdicts[name]["dawn"] == "ok") != (code is None)]


def main():
    kilnc, random_modules, root = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    full = "--full" in sys.argv
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        failures = self_check(root, folder)  # skips before anything is compiled
        listed = [*cases.acceptance(root), *cases.demo(root, 1000 if full else 24),
                  *cases.uber(root, 1000 if full else 64), *cases.corpus(root), *rows.programs(root, folder)]
        modules, made = {}, 0
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            compiled = pool.map(lambda case: cases.compile_case(kilnc, case[1], folder), listed)
            for (name, _), (stages, messages) in zip(listed, compiled):
                if stages is None and any(f"[{code}]" in messages for code in cases.REFUSED.get(
                        name.rsplit("/", 1)[0], [])):
                    continue
                if stages is None:
                    failures.append(f"{name}: {messages}")
                    continue
                for stage, text in stages.items():
                    made += 1
                    modules.setdefault(text, f"{name}/{stage}")
        failures += uniformity(root, folder)
        drawn = folder / "random"
        drawn.mkdir()
        subprocess.run([random_modules, "3000" if full else "300", str(drawn)], check=True)
        for path in sorted(drawn.glob("*.wgsl")):
            modules.setdefault(path.read_text(), path.stem)
        verdicts = validate(root, [{"path": n, "code": t} for t, n in modules.items()], folder)
        for text, name in modules.items():
            for judge, verdict in verdicts[name].items():
                if verdict != "ok":
                    failures.append(f"{name}: {judge}: {verdict}\n{text}")
        print(f"{len(listed)} variants, {made} modules, {len(modules)} distinct, "
              f"{len(failures)} failures")
        for failure in failures[:10 if not os.environ.get("KILN_WGSL_ALL") else None]:
            print(failure)
        sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
