#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The demo from source to picture: every variant that its scene needs is compiled, its pipelines are
built from metadata and words alone, and the picture shows what it should, with the validation layer
silent.

usage: demo_picture.py KILNC KILN_DEMO DEMO_FOLDER WORK_FOLDER

Colors are compared with wide bounds, since drivers round differently; what is asked is what a person
would look for: sky, text, materials, light and shadow.
"""
import pathlib
import shutil
import struct
import subprocess
import sys
import tomllib
import zlib

WIDTH, HEIGHT = 640, 360


def option_text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def compile_variant(kilnc, demo, program, options, folder):
    """One variant as kilnc writes it; the fixed options of the manifest are added."""
    options = {name: option_text(value) for name, value in program.get("options", {}).items()} | options
    command = [kilnc, "compile"] + [str(demo / source) for source in program["sources"]]
    for stage, function in program["entry_points"].items():
        command += ["--entry", f"{stage}={function}"]
    for name, value in options.items():
        command += ["-o", f"{name}={value}"]
    folder.mkdir(parents=True)
    command += ["--out", str(folder), "--meta", str(folder / "metadata.json")]
    subprocess.run(command, check=True)


def read_png(path):
    """Rows of RGBA bytes of an 8-bit RGBA file."""
    data, at, packed = path.read_bytes(), 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack(">IIBB", body[:10])
            assert (depth, color) == (8, 6), "not 8-bit RGBA"
        if kind == b"IDAT":
            packed += body
        at += 12 + size
    raw, stride, rows = zlib.decompress(packed), width * 4, []
    previous = bytes(stride)
    for y in range(height):
        kind, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            left = row[i - 4] if i >= 4 else 0
            up, corner = previous[i], previous[i - 4] if i >= 4 else 0
            row[i] = (row[i] + predict(kind, left, up, corner)) & 255
        rows.append(bytes(row))
        previous = rows[-1]
    return rows


def predict(kind, left, up, corner):
    if kind < 4:
        return (0, left, up, (left + up) // 2)[kind]
    distance = [abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)]
    return (left, up, corner)[distance.index(min(distance))]


def look(rows):
    """What is wrong with the picture, as text."""

    def pixel(x, y):
        return tuple(rows[y][x * 4:x * 4 + 3])

    def light(x, y):
        return sum(pixel(x, y)) / 3

    sky, red, brick = pixel(320, 10), pixel(213, 240), pixel(343, 265)
    text, cube, sparks = pixel(314, 57), pixel(330, 152), pixel(465, 270)
    expectations = {
        "the sky is blue": sky[2] > sky[0] + 20 and light(320, 10) > 120,
        "the letter I is light": min(text) > 170,
        "the enamel sphere is red": red[0] > 2 * red[1] and red[0] > 120,
        "the brick sphere is reddish": brick[0] > brick[2] + 25,
        "the sparks glow": sparks[0] > 150 and sparks[0] > sparks[2] + 60,
        "an instanced cube has its tint": cube[1] > cube[0] + 50,
        "the shadow of a cube is dark": light(357, 174) < light(387, 187) - 25,
        "holes let light through the basket's shadow": len({light(x, 245) // 8 for x in range(570, 620)}) > 1,
        "the ground has squares": len({light(x, 320) // 16 for x in range(0, WIDTH, 8)}) > 3,
    }
    return [f"not so: {what}" for what, true in expectations.items() if not true]


def main():
    kilnc, kiln_demo, demo, work = sys.argv[1], sys.argv[2], *map(pathlib.Path, sys.argv[3:5])
    shutil.rmtree(work, ignore_errors=True)
    manifest = tomllib.loads((demo / "kiln.toml").read_text())
    programs = {program["name"]: program for program in manifest["program"]}
    wanted = subprocess.run([kiln_demo, "--list"], check=True, capture_output=True, text=True).stdout
    for line in wanted.splitlines():
        folder, program, *options = line.split(" ")
        options = dict(option.split("=", 1) for option in options)
        compile_variant(kilnc, demo, programs[program], options, work / folder)
    picture = work / "demo.png"
    subprocess.run([kiln_demo, "--variants", str(work), "--out", str(picture), "--width", str(WIDTH),
                    "--height", str(HEIGHT), "--device", "software", "--validate"], check=True)
    problems = look(read_png(picture))
    print("\n".join(problems) or f"{len(wanted.splitlines())} variants, {picture}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
