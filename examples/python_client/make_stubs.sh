#!/bin/sh
# SPDX-License-Identifier: MIT
# make_stubs.sh PROTO FOLDER: modules of Python for every .proto file below PROTO, which an installed kiln
# has in share/kiln/proto.
set -eu
mkdir -p "$2"
find "$1" -name '*.proto' -exec protoc "-I$1" "--python_out=$2" "--grpc_out=$2" \
  "--plugin=protoc-gen-grpc=$(command -v grpc_python_plugin)" {} +
