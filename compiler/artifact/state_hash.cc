// SPDX-License-Identifier: MIT
#include "compiler/artifact/state_hash.h"

#include <array>
#include <cstring>
#include <optional>

namespace kiln::artifact {
namespace {

// Numbers of proto/kiln/v1/metadata.proto; a test compares them with its descriptors.
bool IsState(uint64_t field) {
  // The rest is layout or origin, which have hashes of their own.
  switch (field) {
    case 1:   // pipeline_type
    case 2:   // entry_points
    case 3:   // settings
    case 8:   // color_outputs
    case 9:   // blend_constants
    case 10:  // fixed_state
    case 15:  // specialization
    case 19:  // workgroup_size
      return true;
    default:
      return false;
  }
}

// A reader of its own for tags alone: nothing is decoded here, and fields that no version knows yet
// are stepped over as well.
std::optional<uint64_t> TakeVarint(ByteView bytes, size_t& at) {
  uint64_t value = 0;
  // Ten bytes hold all 64 bits.
  for (uint32_t shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes[at++]);
    value |= uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) {
      return value;
    }
  }
  return std::nullopt;
}

// Number of the field at `at`, which is moved behind it.
std::optional<uint64_t> TakeField(ByteView bytes, size_t& at) {
  const std::optional<uint64_t> tag = TakeVarint(bytes, at);
  if (!tag.has_value()) {
    return std::nullopt;
  }
  std::optional<uint64_t> size;
  switch (*tag & 7) {
    // A number has no bytes behind its own.
    case 0:
      size = TakeVarint(bytes, at).has_value() ? std::optional<uint64_t>(0) : std::nullopt;
      break;
    case 1:
      size = 8;
      break;
    case 2:
      size = TakeVarint(bytes, at);
      break;
    case 5:
      size = 4;
      break;
    default:  // groups, which proto3 has not
      break;
  }
  // Malformed bytes have no fields to choose from; their state is then all of them.
  if (!size.has_value() || *size > bytes.size() - at) {
    return std::nullopt;
  }
  at += static_cast<size_t>(*size);
  return *tag >> 3;
}

// Both in one.
// A chain and not one stream: runs of the state are hashed where they lie, without being copied
// together.
Hash128 Chain(const Hash128& first, const Hash128& second) {
  std::array<std::byte, sizeof(first.bytes) + sizeof(second.bytes)> both;
  std::memcpy(both.data(), first.bytes.data(), first.bytes.size());
  std::memcpy(both.data() + first.bytes.size(), second.bytes.data(), second.bytes.size());
  return HashBytes(both);
}

}  // namespace

// Fields that belong together lie in runs, because protobuf writes them in the order of their
// numbers; a run costs one hash.
bool FindStateRuns(ByteView metadata, std::vector<ByteView>& runs) {
  runs.clear();
  size_t run = 0;  // where fields of the state began
  for (size_t at = 0; at < metadata.size();) {
    const size_t begin = at;
    const std::optional<uint64_t> field = TakeField(metadata, at);
    if (!field.has_value()) {
      return false;
    }
    // Fields of the state go on with the run, which ends at the first other one.
    if (IsState(*field)) {
      continue;
    }
    if (run != begin) {
      runs.push_back(metadata.subspan(run, begin - run));
    }
    run = at;
  }
  // The last run has no field behind it that would end it.
  if (run != metadata.size()) {
    runs.push_back(metadata.subspan(run));
  }
  return true;
}

Hash128 StateHash(ByteView metadata) {
  std::vector<ByteView> runs;
  if (!FindStateRuns(metadata, runs)) {
    return HashBytes(metadata);
  }
  Hash128 hash;
  for (const ByteView run : runs) {
    hash = Chain(hash, HashBytes(run));
  }
  return hash;
}

}  // namespace kiln::artifact
