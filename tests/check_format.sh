#!/bin/sh
# SPDX-License-Identifier: MIT
# Fails when a C++ source of the tree is not formatted as .clang-format says.
# usage: check_format.sh [ROOT]
set -eu
cd "${1:-.}"
formatter=${CLANG_FORMAT:-clang-format-14}
if ! command -v "$formatter" >/dev/null; then
  echo "check_format: $formatter is not installed (apt-get install clang-format-14)" >&2
  exit 1
fi
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
  git ls-files -z --cached --others --exclude-standard -- '*.h' '*.cc'
else
  find . -path ./build -prune -o \( -name '*.h' -o -name '*.cc' \) -print0
fi | xargs -0 -r -n 32 -P 2 "$formatter" --dry-run -Werror
