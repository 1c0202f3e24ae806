// SPDX-License-Identifier: MIT
// State hashes of many metadata, most of which have a state that came before: thousands of variants
// of one program differ in what is bound and have a handful of states.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/base/bytes.h"
#include "compiler/base/digest.h"
#include "compiler/base/flat_map.h"

namespace kiln::artifact {

// One thread.
class StateHashes {
 public:
  // StateHash of the metadata. A state is known by all of its bytes, so two different ones never
  // share a hash that is not theirs.
  Hash128 Of(ByteView metadata);

  uint64_t bytes_used() const { return bytes_.size() + rows_.size() * 2 * sizeof(Row); }
  size_t known() const { return rows_.size(); }

 private:
  struct Row {
    size_t first = 0, size = 0;  // of bytes_
    Hash128 hash;
  };
  // More are hashed each time: a program whose states all differ must not be kept whole.
  static constexpr size_t kMostBytes = size_t{64} << 10;

  Bytes bytes_;
  std::vector<Row> rows_;
  InternIndex index_;  // of rows_
  std::vector<ByteView> runs_;
  Bytes state_;  // of the metadata that is asked for
};

}  // namespace kiln::artifact
