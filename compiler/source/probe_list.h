// SPDX-License-Identifier: MIT
// Probes as bytes: of stored modules, and of what worker processes answer.
//
//   domain "kiln.probed.1"; 1: list of (path, content, or nothing if it was absent)
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "compiler/base/bytes.h"
#include "compiler/base/result.h"
#include "compiler/source/probe.h"

namespace kiln {

Bytes EncodeProbes(std::span<const Probe> probes);
// Errors: kCorrupt for anything that EncodeProbes does not write, for a path that is there
// twice, and for more than kMostProbedBytes of paths.
Result<std::vector<Probe>> DecodeProbes(ByteView bytes);

bool AreDistinct(std::vector<std::string_view> paths);
// Distinct, and no more than a module may ask for.
bool ArePathsOfAModule(std::vector<std::string_view> paths);

}  // namespace kiln
