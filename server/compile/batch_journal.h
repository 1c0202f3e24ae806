// SPDX-License-Identifier: MIT
// The counts of a batch row as bytes: what a daemon shows of a batch before, and after, it walks it
// again. A private format: a row of another version is read as having no counts. spec/daemon 7.1
//
//   u8 version | u8 flags (1: detached) | i64 started | u64 next seq | u64 × counts, little-endian
//   | owner 0 tenant
#pragma once

#include <cstdint>
#include <string>

#include "compiler/base/bytes.h"
#include "server/compile/batch.h"

namespace kiln::compile {

struct BatchNotes {
  bool detach = false;
  std::string owner, tenant;  // without zeros
  int64_t started_ms = 0;
  uint64_t next_seq = 1;
  BatchProgress progress;  // counts only
};

Bytes EncodeNotes(const BatchNotes& notes);
BatchNotes DecodeNotes(ByteView bytes);

}  // namespace kiln::compile
