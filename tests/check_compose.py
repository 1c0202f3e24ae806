#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the files beside the image say of each other: compose.yaml mounts what is there, publishes on the
loopback alone, Prometheus scrapes where the daemon listens, Grafana asks where Prometheus is and finds the
board where it is mounted. Needs neither docker nor the images.

usage: check_compose.py ROOT
"""
import json
import pathlib
import re
import sys

PROMETHEUS = "9090"


def findings(root):
    folder = root / "deploy/docker"
    compose = (folder / "compose.yaml").read_text()
    services = set(re.findall(r"^  (\w+):\n    (?:build|image):", compose, re.M))
    if services != {"kilnd", "prometheus", "grafana"}:
        yield f"compose.yaml has the services {sorted(services)}"
    mounts = dict(reversed(pair) for pair in re.findall(r'"(\.[^":]*):(/[^":]+):ro"', compose))
    for target, source in mounts.items():
        if not (folder / source).exists():
            yield f"compose.yaml mounts {source} to {target}, which is not there"
    ports = re.findall(r'- "([\d.]+):(\d+):(\d+)"', compose)
    for address, _, inside in ports:
        if address != "127.0.0.1":
            yield f"compose.yaml publishes {inside} to everybody"
    for wanted, what in (("3000", "Grafana"), (PROMETHEUS, "Prometheus")):
        if wanted not in [inside for _, _, inside in ports]:
            yield f"compose.yaml does not publish {what}"
    for image in re.findall(r"image: (\S+)", compose):
        if not re.search(r":v?\d+\.\d+\.\d+$", image):
            yield f"{image} is of no version"
    listens = re.search(r"--metrics\.listen=([\d.:]+)", compose)[1]
    if f'["{listens}"]' not in (folder / "prometheus.yml").read_text():
        yield f"Prometheus does not scrape {listens}, where the daemon listens"
    if f":{PROMETHEUS}" not in (folder / "grafana/datasources/prometheus.yml").read_text():
        yield "the source of data of Grafana is not Prometheus"
    boards = re.search(r"path: (\S+)", (folder / "grafana/dashboards/kiln.yml").read_text())[1]
    if mounts.get(boards) != "../dashboards":
        yield f"Grafana looks for boards in {boards}, where none are mounted"
    home = re.search(r"HOME_DASHBOARD_PATH: (\S+)", compose)[1]
    board = root / "deploy/dashboards" / pathlib.PurePosixPath(home).name
    if not home.startswith(boards) or not board.exists():
        yield f"the first board, {home}, is not there"
    elif not json.loads(board.read_text()).get("panels"):
        yield f"{board.name} has no panels"


def main():
    found = list(findings(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "compose.yaml and what it mounts agree")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
