// SPDX-License-Identifier: MIT
// What a pack is made from: programs with their options, entries with their masks, artifacts with
// the digests of their blobs. Order does not matter to the bytes of the pack. See spec/cache 10.4
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
  Hash128 live_key;  // unique within its entry
  Hash128 layout_hash;
  Hash128 state_id;
  uint32_t entry = 0;  // index into Contents::entries
  std::vector<StageBlob> code;
  Digest metadata;
  // Place among the artifacts of its entry: what has neighbouring option values resembles each
  // other and is fetched together. Equal places: by live key.
  uint32_t order = 0;
  std::optional<uint32_t> warm_rank;  // built before the first frame, in this order
};

// The formats of a named pass, as VkFormat (spec/pso 5.2, 9.2).
struct Pass {
  std::string name;  // unique
  uint32_t view_mask = 0;
  uint16_t samples = 1;
  std::vector<uint32_t> color_formats;  // at most 8; kSwapchainFormat: that of the surface
  uint32_t depth_format = 0;            // 0: none
};

// An image that a pipeline was seen with.
struct ImageHint {
  uint8_t set = 0;
  uint8_t binding = 0;
  uint16_t sampler_class = 0;  // filter, address, compare
  uint32_t format = 0;         // VkFormat
};

// A pipeline worth building before the first frame.
struct Warm {
  Hash128 live_key;  // of an artifact of the pack
  std::string pass;  // whose formats apply; empty: not known
  uint16_t priority = 0;
  uint16_t lane = 0;             // 0 critical, 1 soon, 2 background
  uint32_t creation_us = 0;      // expected
  uint32_t first_use_us = 0;     // expected
  std::vector<ImageHint> hints;  // at most 255
};

// A row of a cache export with the content that it names.
struct ExportRow {
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
  std::vector<Pass> passes;
  std::vector<Warm> warm;
  bool cache_export = false;
  std::vector<ExportRow> rows;  // of a cache export only
};

// Bytes of a blob that an artifact names. Errors end the writing.
using BlobSource = std::function<Result<Bytes>(const Digest&)>;

}  // namespace kiln::pack
