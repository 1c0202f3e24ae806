// SPDX-License-Identifier: MIT
#include "client/cli/watch/kept_programs.h"

#include <algorithm>

namespace kiln::cli {
namespace {

// Files to include are the same set, or another one was made.
bool IsSame(const client::Program& a, const client::Program& b) {
  const auto files = [](const client::Program& program) {
    return program.hlsl.has_value() ? program.hlsl->files.get() : nullptr;
  };
  return std::ranges::equal(a.sources, b.sources, {}, &client::Source::digest,
                            &client::Source::digest) &&
         files(a) == files(b);
}

}  // namespace

void KeepPrograms(const std::vector<client::ProgramSpace>& spaces, KeptPrograms& kept) {
  for (const client::ProgramSpace& space : spaces) {
    const auto [place, is_new] = kept.try_emplace(space.program.name, space.program);
    if (!is_new && !IsSame(place->second, space.program)) {
      place->second = space.program;
    }
  }
}

}  // namespace kiln::cli
