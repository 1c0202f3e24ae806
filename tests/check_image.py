#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every shared library that the programs of the image load comes from a package that its last stage
installs, from what such a package needs, or from Debian's base; and no package is there for nothing.

usage: check_image.py DOCKERFILE PROGRAM…
"""
import os
import re
import subprocess
import sys

# Of debian:12 itself, as far as programs in C++ load them.
BASE = {"libc6", "libgcc-s1", "libstdc++6", "zlib1g"}


def installed_by(dockerfile):
    """The packages that the last stage installs."""
    stage = dockerfile.split("\nFROM ")[-1].replace("\\\n", " ")
    words = re.search(r"apt-get install ([^&\n]*)", stage).group(1).split()
    return {word for word in words if not word.startswith("-")}


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def package_of(path):
    """By its real path, and by that of /usr where the root has links into it."""
    real = os.path.realpath(path)
    for name in (real, real.removeprefix("/usr"), path):
        found = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(":")[0]
    return f"no package has {path}"


def libraries(program):
    """Paths of all that the loader loads."""
    return set(re.findall(r"=> (/\S+)", output("ldd", program)))


def needs(package, seen):
    """The package and all that it depends on."""
    if package not in seen:
        seen.add(package)
        listed = subprocess.run(["dpkg-query", "-W", "-f", "${Depends}", package],
                                capture_output=True, text=True).stdout
        for word in re.findall(r"(?:^|[,|])\s*([a-z0-9.+-]+)", listed):
            needs(word, seen)
    return seen


def main(dockerfile, programs):
    with open(dockerfile, encoding="utf-8") as file:
        listed = installed_by(file.read())
    wanted = {package_of(path) for program in programs for path in libraries(program)} - BASE
    covered = set()
    for package in listed:
        needs(package, covered)
    faults = [f"the image lacks {package}" for package in sorted(wanted - covered)]
    faults += [f"the image has {package} for nothing" for package in sorted(listed)
               if not needs(package, set()) & wanted]
    print("\n".join(faults) or f"{len(listed)} packages have the {len(wanted)} that are loaded")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
