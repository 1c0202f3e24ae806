#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The licence of every dependency, from what was built: licences.toml + a build tree -> docs/users/licences.md
and the notices of packages.

usage: licences.py --check BUILD ROOT          the page is what the tree says (the test `licences`)
       licences.py --write BUILD ROOT          makes the page
       licences.py --notices ROOT OUT          what Debian's packages say of all that is inside, in one file

Of every program and library that is shipped the tree knows
  - the headers that its sources read (ninja's log of dependencies) and the archives that it is linked with:
    of these code is inside of it;
  - the shared libraries that it loads (NEEDED): their headers are no more than the interface to them.
dpkg says which package each file is of, licences.toml which dependency a package is. A package without a row,
a row without a package and a licence that Debian's copyright file does not name are errors, so a dependency
cannot come or go unseen.
"""
import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

PAGE = "docs/users/licences.md"
TABLE = "cmake/package/licences.toml"
PROGRAMS = ("kiln", "kilnc", "kilnd", "kiln_pipeline_child", "kiln_demo")
LIBRARIES = ("libkiln.so.0", "libkiln-runtime.so.0", "libkiln-graph.so.0", "libkiln-client.so.0",
             "libkiln-compiler.so.0", "libkiln-client-c.so.0", "libkiln-compiler-c.so.0")
SKIPPED = 77  # to ctest (SKIP_RETURN_CODE)
HEAD = """# Licences

kiln is under the [MIT licence](../../LICENSE). What else is in it, or is loaded by it, is listed here: `cmake/package/licences.py --write
BUILD ROOT` makes this page out of a built tree, and the test `licences` fails where the page and the tree differ.

*Inside* is code that was compiled or linked into the file, which then wants the notice of its licence kept: packages have all of
them in `third-party-notices`. *Loads* is a shared library of the system beside it. An archive (`libkiln-runtime.a`) has
inside what its shared library has; what that one loads, the program links.

"""


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout


def read_table(root):
    return tomllib.loads((root / TABLE).read_text())["dependency"]


def packages_of(paths):
    """path -> package of Debian. The root may have links into /usr, and dpkg knows the name of old."""
    found, names = {}, collections.defaultdict(set)
    for path in paths:
        for name in (path, str(pathlib.Path(path).resolve())):
            for spelled in (name, name.removeprefix("/usr"), f"/usr{name}"):
                names[spelled].add(path)
    done = subprocess.run(["xargs", "dpkg-query", "-S"], input="\n".join(names), capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        package, _, name = line.partition(": ")
        if name in names and not package.startswith("diversion"):
            found.update(dict.fromkeys(names[name], package.split(",")[0].split(":")[0]))
    return found


def headers_by_object(build):
    """object -> files outside of the tree that were read for it."""
    headers, current = {}, None
    for line in run("ninja", "-C", build, "-t", "deps").splitlines():
        if not line.startswith(" "):
            current = line.partition(":")[0]
            headers[current] = set()
        elif line.strip().startswith("/usr/") or line.strip().endswith(".gch"):
            headers[current].add(line.strip())
    return headers


def with_precompiled(headers, name):
    """The headers of an object, and of what was precompiled for it those that Debian's fmt and gRPC have."""
    for path in headers.get(name, ()):
        if path.endswith(".gch"):
            yield from (inner for inner in headers.get(path, ()) if not inner.endswith(".gch"))
        else:
            yield path


def archives_of(build, target):
    """Archives of the system in the command that links the target, and in those before it."""
    words = " ".join(run("ninja", "-C", build, "-t", "commands", target).splitlines()).split()
    return {word for word in words if re.fullmatch(r"/usr/\S+\.a", word)}


def loaded_by(path):
    return re.findall(r"\(NEEDED\).*\[(.+)\]", run("readelf", "-d", path))


def library_paths():
    rows = re.findall(r"^\s+(\S+) \(.*x86-64.*\) => (\S+)", run("/sbin/ldconfig", "-p"), re.M)
    return dict(reversed(rows))  # the first one wins


class Tree:
    def __init__(self, build, table):
        self.build, self.table = build, table
        self.headers, self.libraries = headers_by_object(build), library_paths()
        paths = set().union(*self.headers.values()) | set(self.libraries.values())
        self.targets = {name: name for name in PROGRAMS}
        self.targets |= {name: f"lib/{name.removesuffix('.0')}" for name in LIBRARIES}
        self.archives = {name: archives_of(build, target) for name, target in self.targets.items()}
        self.packages = packages_of(paths.union(*self.archives.values()))
        self.unknown = set()

    def dependency_of(self, path):
        package = self.packages.get(path)
        for row in self.table:
            if package and any(re.fullmatch(pattern, package) for pattern in row["packages"]):
                return row["name"]
        self.unknown.add(f"{path} is of {package or 'no package'}, which no row of {TABLE} has")
        return None

    def objects_of(self, target):
        # What makes headers (protoc and its plugins) is of the system; objects in the list are all linked.
        listed = run("ninja", "-C", self.build, "-t", "inputs", target).splitlines()
        return [name for name in listed if name.endswith(".o") and not name.endswith("gch")]

    def made_of(self, name):
        """(inside, loads), names of dependencies."""
        target = self.targets[name]
        loads = {self.dependency_of(self.libraries[soname]) for soname in loaded_by(self.build / target)
                 if soname in self.libraries}
        files = set(self.archives[name])
        for compiled in self.objects_of(target):
            files.update(with_precompiled(self.headers, compiled))
        interfaces = {row["name"] for row in self.table if row.get("interface")}
        inside = {self.dependency_of(path) for path in files} - loads - interfaces
        if name == "libkiln.so.0":
            inside.add("GCC's libraries")  # linked with -static-libstdc++ -static-libgcc
        return inside - {None}, loads - {None}


def first_licence(package):
    """(licence of `Files: *`, whole text with single spaces) of the package's copyright file."""
    path = pathlib.Path("/usr/share/doc", package, "copyright")
    text = path.read_text(errors="replace") if path.exists() else ""
    main = re.search(r"^Files:\s*\*(?:.*\n)+?License:\s*(.+)$", text, re.M)
    return (main[1].strip() if main else "", " ".join(re.sub(r"^[ >*]+", "", line) for line in text.split("\n")))


def mistakes_of(tree, used):
    for text in sorted(tree.unknown):
        yield text
    for row in tree.table:
        if row["name"] not in used:
            yield f"{TABLE} has {row['name']}, which nothing is made of"
        packages = {package for package in tree.packages.values()
                    if any(re.fullmatch(pattern, package) for pattern in row["packages"])}
        said = [first_licence(package) for package in sorted(packages)]
        if said and not any(row["says"] == main or row["says"] in " ".join(text.split()) for main, text in said):
            yield f"{row['name']}: no package of {', '.join(sorted(packages))} says '{row['says']}'"


def page_of(tree):
    made = {name: tree.made_of(name) for name in tree.targets}
    used = {name for inside, loads in made.values() for name in inside | loads}
    rows = []
    for row in tree.table:
        inside = [f"`{name}`" for name in made if row["name"] in made[name][0]]
        loads = [f"`{name}`" for name in made if row["name"] in made[name][1]]
        note = f"; {row['note']}" if "note" in row else ""
        rows.append(f"| {row['name']} | {row['licence']}{note} | {' '.join(inside) or '–'} | {' '.join(loads) or '–'} |")
    return HEAD + "| dependency | licence | inside of | loaded by |\n|---|---|---|---|\n" + "\n".join(rows) + "\n", used


def notices(root):
    """Debian's copyright files of all that may be inside, each once; elsewhere the names of the licences."""
    names = []
    if shutil.which("dpkg-query"):
        installed = run("dpkg-query", "-W", "-f", "${db:Status-Status} ${Package}\n").splitlines()
        names = [line.split()[1] for line in installed if line.startswith("installed ")]
    for row in read_table(root):
        if row.get("interface"):
            continue
        seen = set()
        for package in names:
            path = pathlib.Path("/usr/share/doc", package, "copyright")
            if not any(re.fullmatch(pattern, package) for pattern in row["packages"]) or not path.exists():
                continue
            text = path.read_text(errors="replace")
            if text not in seen:
                seen.add(text)
                yield f"{'=' * 80}\n{row['name']} ({row['licence']}), as Debian's package {package} has it\n{'=' * 80}\n\n{text}\n"
        if not seen:
            yield f"{'=' * 80}\n{row['name']} ({row['licence']})\n{'=' * 80}\n\n"


def main():
    mode = sys.argv[1]
    if mode == "--notices":
        pathlib.Path(sys.argv[3]).write_text("".join(notices(pathlib.Path(sys.argv[2]))))
        return 0
    build, root = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    # A build that was copied without ninja's own files is as good as any, but nobody knows what it is made of.
    missing = [name for name in (".ninja_deps", "build.ninja") if not (build / name).exists()]
    missing += [] if shutil.which("ninja") else ["ninja itself"]
    if mode == "--check" and missing:
        print(f"skipped: {build} has no log of what its objects were made of: {', '.join(missing)} is missing")
        return SKIPPED
    tree = Tree(build, read_table(root))
    page, used = page_of(tree)
    found = list(mistakes_of(tree, used))
    if mode == "--write":
        (root / PAGE).write_text(page)
    elif (root / PAGE).read_text() != page:
        found.append(f"{PAGE} is not what the tree is made of: {TABLE[:-5]}.py --write {build} {root}")
    print("\n".join(found) or f"{len(used)} dependencies, each with its licence")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
