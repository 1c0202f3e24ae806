#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kiln graph as its users run it: plans of the frames in docs/, pictures, exit codes, names of errors.

usage: kiln_graph_test.py KILN CHECK_PLAN FRAMES_FOLDER
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import xml.dom.minidom

KILN, CHECK_PLAN, FRAMES = sys.argv[1:4]


def run(*arguments, code=0):
    done = subprocess.run([KILN, "graph", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    return done


def check_frame(frame, folder):
    svg, dot, plan = folder / "plan.svg", folder / "plan.dot", folder / "plan.json"
    text = run(frame, "--svg", svg, "--dot", dot, "--json", plan).stdout
    assert "lower bounds: this order" in text and "efficiency" in text
    xml.dom.minidom.parse(str(svg))
    assert dot.read_text().startswith("digraph")
    data = json.loads(plan.read_text())
    assert data["error"] is None
    metrics = data["metrics"]
    assert metrics["barrier_commands"] == metrics["bound_for_order"] + metrics["alias_added"]
    assert metrics["bound_over_orders"] <= metrics["bound_for_order"]
    assert len(data["barriers"]) == metrics["barrier_commands"]
    passes = {p["name"] for p in json.loads(frame.read_text())["passes"]}
    assert set(data["order"]) | set(data["culled"]) == passes
    for one in data["memory"]["placements"]:
        for other in data["memory"]["placements"]:
            apart = one["offset"] + one["size"] <= other["offset"] or other["offset"] + other["size"] <= one["offset"]
            later = one["last_position"] < other["first_position"] or other["last_position"] < one["first_position"]
            assert one is other or apart or later, (one, other)
    subprocess.run([CHECK_PLAN, plan], check=True)


def check_pictures_of_the_docs(folder):
    for picture in sorted(pathlib.Path(FRAMES).parent.glob("images/*_frame.svg")):
        svg = folder / "plan.svg"
        run(pathlib.Path(FRAMES) / (picture.stem + ".json"), "--svg", svg)
        assert svg.read_bytes() == picture.read_bytes(), f"{picture} is not what kiln graph draws"


# What is no file, and a disk without room.
def check_devices():
    assert "a pipe, a device or a socket" in run("/dev/zero", code=2).stderr
    frame = sorted(pathlib.Path(FRAMES).glob("*.json"))[0]
    with open("/dev/full", "w") as full:
        done = subprocess.run([KILN, "graph", frame], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 5 and "No space left" in done.stderr, (done.returncode, done.stderr)


# A picture is XML that shows its whole text, whatever the names are.
def check_long_names(folder):
    frame, svg = folder / "names.json", folder / "names.svg"
    for start in ("", "a", "<&\x01", "日"):
        name = start + "é" * 100
        frame.write_text(json.dumps({
            "resources": [{"name": name, "format": "RGBA8", "width": 64, "height": 64}],
            "passes": [{"name": name, "type": "compute", "creates": [
                {"resource": name, "access": "SHADER_STORAGE_WRITE", "contents": "clear"}]}]}))
        run(frame, "--svg", svg)
        picture = xml.dom.minidom.parse(str(svg)).documentElement
        width = float(picture.getAttribute("width"))
        for text in picture.getElementsByTagName("text"):
            x, size = float(text.getAttribute("x")), float(text.getAttribute("font-size"))
            long = len(text.firstChild.data) * size * 0.55
            begin = x - long if text.getAttribute("text-anchor") == "end" else x
            assert begin >= 0 and begin + long <= width, text.toxml()


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for frame in sorted(pathlib.Path(FRAMES).glob("*.json")):
            check_frame(frame, folder)
        check_pictures_of_the_docs(folder)
        check_long_names(folder)
        check_devices()
        bad = folder / "bad.json"
        bad.write_text('{"passes": [{"name": "p", "type": "compute", "reads": [{"resource": "x", '
                       '"access": "SHADER_SAMPLED_READ"}]}], "outputs": []}')
        plan = folder / "bad_plan.json"
        done = run(bad, "--json", plan, code=1)
        assert "UNKNOWN_HANDLE" in done.stderr
        assert json.loads(plan.read_text())["error"] == "UNKNOWN_HANDLE"
        assert json.loads(run(bad, "--json", "-", code=1).stdout)["error"] == "UNKNOWN_HANDLE"
        bad.write_text('{"resources": [{"name": "x", "format": "rgba16f", "width": 4, "height": 4}], '
                       '"passes": []}')
        done = run(bad, "--json", plan, code=1)
        assert "'x' has format 'rgba16f'" in done.stderr and "'RGBA16F'?" in done.stderr
        assert json.loads(plan.read_text())["errors"][0]["resources"] == ["x"]
        bad.write_text("no json")
        assert "MALFORMED_FILE" in run(bad, code=1).stderr
        run(bad, "--seed", "-1", code=2)
        run(folder / "absent.json", code=3)


main()
