// SPDX-License-Identifier: MIT
#include "compiler/ir/function_versions.h"

#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"

namespace kiln::ir {

// Versions are numbered behind the declarations of the program, so one number names either.
void FunctionVersions::Begin(uint32_t decl_count) {
  KILN_CHECK(versions_.empty() || first_ == decl_count, "versions of another program");
  first_ = decl_count;
}

// A version is a function together with the words that its parameters stand for. The same words
// give the same number in every variant, so what is known of a version is found again.
DeclId FunctionVersions::Of(DeclId function, std::span<const uint32_t> words) {
  // The count is hashed too: words of different length never meet by a zero at the end.
  uint64_t hash = Mix64(uint64_t{function.value} << 32 | words.size());
  for (const uint32_t word : words) {
    hash = Mix64(hash ^ word);
  }
  const uint32_t row = index_.FindOrAdd(
      hash,
      [&](uint32_t i) {
        const DeclId known{first_ + i};
        return versions_[i].function == function && std::ranges::equal(WordsOf(known), words);
      },
      [&] {
        ChargeMemory(sizeof(Version) + words.size_bytes());
        versions_.push_back({.function = function,
                             .first = static_cast<uint32_t>(words_.size()),
                             .count = static_cast<uint32_t>(words.size())});
        words_.insert(words_.end(), words.begin(), words.end());
        return static_cast<uint32_t>(versions_.size() - 1);
      });
  return DeclId{first_ + row};
}

std::span<const uint32_t> FunctionVersions::WordsOf(DeclId version) const {
  const Version& row = Row(version);
  return std::span(words_).subspan(row.first, row.count);
}

}  // namespace kiln::ir
