// SPDX-License-Identifier: MIT
// A program of a pack and values of its options -> the artifacts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cache/pack/reader.h"
#include "compiler/base/result.h"

namespace kiln::cli {

// What a pack has of one variant and target. The bytes live as long as the pack.
struct PackedArtifact {
  struct Code {
    std::string stage;  // "vertex"; empty for a module of all stages
    cache::Blob blob;
  };
  std::string target;
  Hash128 live_key;
  std::vector<Code> code;
  std::optional<cache::Blob> metadata;
};
// `options`: NAME=VALUE; those that are not named have their defaults. `target` empty: all of them.
// Errors: kNotFound with NOT_IN_PACK; kInvalidArgument for options; as Pack::GetBlob.
Result<std::vector<PackedArtifact>> ArtifactsIn(const pack::Pack& pack, const std::string& program,
                                                const std::vector<std::string>& options,
                                                const std::string& target);

}  // namespace kiln::cli
