#!/usr/bin/env python3
"""Checks that every thread of kiln is a kiln::Thread (compiler/base/threads/thread.h), out of which no
exception comes.

usage: check_threads.py [ROOT]        (ROOT defaults to the current folder)

Fails, one line per finding, if a source of kiln that is no test names std::thread, std::jthread,
std::async, std::packaged_task or pthread_create: also as a member or parameter, so that nothing
has to be guessed about how it is started. std::thread::hardware_concurrency and ::id start nothing.
"""
import pathlib
import re
import sys

FOLDERS = ("cache", "client", "compiler", "examples", "runtime", "server")
SOURCES = {".h", ".cc", ".cpp", ".inc", ".def"}
HOME = {"compiler/base/threads/thread.h", "compiler/base/threads/thread.cc"}
STARTS = re.compile(r"\bstd::(?:jthread|async|packaged_task|thread(?!::(?:hardware_concurrency|id)\b))\b"
                    r"|\bpthread_create\b|\bthrd_create\b")
COMMENT = re.compile(r"//.*")


def is_test(name):
    stem = name.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return stem.endswith("_test") or stem.startswith("test_")


def find_threads(root):
    problems = []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in SOURCES or not path.is_file() or is_test(name) or name in HOME:
                continue
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                found = STARTS.search(COMMENT.sub("", line))
                if found:
                    problems.append(f"{name}:{number}: {found[0]} lets exceptions end the process; "
                                    "use kiln::Thread of compiler/base/threads/thread.h")
    return problems


def main():
    problems = find_threads(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
