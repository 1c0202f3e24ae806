// SPDX-License-Identifier: MIT
// Which rows are verified although nobody asks for them: each day a random thousandth of all.
// See spec/cache 6.11
//
// One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include "cache/sqlite/connection.h"
#include "cache/sqlite/session/read_statements.h"
#include "cache/store.h"

namespace kiln::cache::sqlite {

class Scrubber {
 public:
  explicit Scrubber(uint64_t seed) : random_(seed) {}

  // Reads what is due after that time; at most kMost rows at once. What did not verify.
  std::vector<Damage> Run(Connection& connection, ReadStatements& reads, Duration passed);

  static constexpr uint64_t kMost = 1'000;

 private:
  // How many of `rows` are due; what is less than one adds up.
  uint64_t Due(double& owed, int64_t rows, Duration passed) const;
  // The key of a row at or behind some place, if there is one.
  std::optional<Key> Pick(Connection& connection, std::string_view sql, int64_t last);

  std::mt19937_64 random_;
  double owed_blobs_ = 0;
  double owed_records_ = 0;
};

}  // namespace kiln::cache::sqlite
