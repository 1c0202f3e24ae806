// SPDX-License-Identifier: MIT
// What programs of a manifest take over from [defaults], [axes.*], [hlsl], materials and passes.
// All of it is copied into each program, so a manifest of 2 MiB could ask for terabytes: the copies
// of one manifest are counted before they are made (kMaxInherited). Private to client/project.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "client/project/manifest.h"

namespace kiln::project {

// About what a copy takes in memory, names and nodes of maps included.
uint64_t BytesOf(const std::vector<std::string>& texts);
uint64_t BytesOf(const std::map<std::string, std::string>& texts);
uint64_t BytesOf(const ManifestOptions& options);
uint64_t BytesOf(const std::map<std::string, ManifestAxis>& axes);
uint64_t BytesOf(const ManifestHlsl& hlsl);
uint64_t BytesOf(const ManifestProgram& program);

}  // namespace kiln::project
