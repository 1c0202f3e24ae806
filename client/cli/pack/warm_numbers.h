// SPDX-License-Identifier: MIT
// Numbers of a line of a warm list, and the image hints that are made of them. A number that does
// not fit its field is a mistake of the line: cut, it would name another resource.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cache/pack/contents.h"
#include "compiler/base/result.h"

namespace kiln::cli {

inline constexpr size_t kMaxHints = 255;  // of a pipeline in a pack

class WarmNumbers {
 public:
  // Requires: `row` is an object and outlives this.
  explicit WarmNumbers(const nlohmann::json& row) : row_(row) {}

  // 0 if the row has no such member.
  uint32_t Take(const char* name, uint32_t most);
  // The first that was wrong, as a sentence; empty: none.
  const std::string& wrong() const { return wrong_; }

 private:
  const nlohmann::json& row_;
  std::string wrong_;
};

// Errors: kInvalidArgument, saying what is wrong.
Result<std::vector<pack::ImageHint>> ListedHints(const nlohmann::json& rows);

// Whether a warm list has priorities for its lines, behind those of `first` variants of the
// manifest. Without lines there may be as many variants as there are. Errors: kInvalidArgument.
Result<void> CheckWarmLines(size_t lines, uint32_t first);

}  // namespace kiln::cli
