#!/bin/sh
# SPDX-License-Identifier: MIT
# Fails when a source outside runtime/vk/table.cc calls a global Vulkan or volk symbol: every call goes
# through vk::Table.
# usage: check_vulkan_calls.sh [ROOT]
set -eu
cd "${1:-.}"
found=$(grep -rnE --include='*.h' --include='*.cc' '(^|[^A-Za-z0-9_>.:"])(vk|volk)[A-Z][A-Za-z0-9]*[[:space:]]*\(' \
  runtime client deploy tests 2>/dev/null | grep -v '^runtime/vk/table\.cc:' |
  grep -vE '^[^:]*:[0-9]+:[[:space:]]*//' || true)
if [ -n "$found" ]; then
  echo "$found"
  echo "check_vulkan_calls: call these through vk::Table" >&2
  exit 1
fi
