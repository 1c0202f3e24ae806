// SPDX-License-Identifier: MIT
// What a pack is made from: programs with their options, entries with their masks, artifacts with
// the digests of their blobs. Order does not matter to the bytes of the pack. Spec: cache §10.4
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cache/store.h"
#include "compiler/base/bytes.h"
#include "compiler/base/digest.h"
#include "compiler/base/result.h"

namespace kiln::pack {

struct Option {
  std::string name;
  uint32_t type = 0;          // OptionRow::type
  uint32_t default_bits = 0;  // enum: index into values
  std::vector<std::string> values;
  bool instance = false;
};

struct Program {
  std::string name;  // unique
  std::string pipeline;
  std::vector<Option> options;  // sorted by name
};

// A program for a target. Masks name options of the program by index.
struct Entry {
  Hash128 id;
  uint32_t program = 0;  // index into Contents::programs
  std::string target;
  std::vector<std::vector<uint32_t>> masks;
};

struct StageBlob {
  uint32_t stage = 0;  // 0: combined, 1 vertex, 2 fragment, 3 compute
  Digest digest;
};

struct Artifact {
  Hash128 live_key;  // unique within the pack
  Hash128 layout_hash;
  Hash128 state_id;
  uint32_t entry = 0;  // index into Contents::entries
  std::vector<StageBlob> code;
  Digest metadata;
  std::optional<uint32_t> warm_rank;  // built before the first frame, in this order
};

// A row of a cache export with the content that it names.
struct ExportedRow {
  cache::Key key;  // unique; not of level kContent
  Bytes value;
  std::vector<Digest> refs;
};

struct Contents {
  Bytes info;  // kiln.v1.PackInfo
  Hash128 build;
  std::vector<Program> programs;
  std::vector<Entry> entries;
  std::vector<Artifact> artifacts;
  bool cache_export = false;
  std::vector<ExportedRow> rows;  // of a cache export only
};

// Bytes of a blob that an artifact names. Errors end the writing.
using BlobSource = std::function<Result<Bytes>(const Digest&)>;

}  // namespace kiln::pack
