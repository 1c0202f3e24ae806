// SPDX-License-Identifier: MIT
// What trained dictionaries do to the artifacts of the demo in a store.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace kiln::bench {

struct CompressedKind {
  uint64_t blobs = 0;
  uint64_t raw_bytes = 0;
  uint64_t plain_bytes = 0;       // zstd without dictionary
  uint64_t dictionary_bytes = 0;  // with the store's
};

// Builds the demo, puts every other artifact into a store, lets it train, and compresses the
// others: by kind, and "all". No dictionary has seen what is measured.
std::map<std::string, CompressedKind> MeasureDictionaries(const std::filesystem::path& dir);

}  // namespace kiln::bench
