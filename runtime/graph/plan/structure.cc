// SPDX-License-Identifier: MIT
// The key under which a plan is remembered: a sum over everything that decides it, array by array,
// so that a frame which was planned before is recognised without planning (spec/graph 6). Sums and
// no digests, since tables of a process cannot be chosen by anybody (spec/cache 2.1.3). Each array
// has its own sum, so that a miss can be explained by the first one that differs.
#include "runtime/graph/plan/structure.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "compiler/base/hash/checksum.h"

namespace kiln::graph {
namespace {

// All options that decide a plan, in whole words: padding would make equal options look different.
struct OptionBytes {
  uint64_t seed;
  uint64_t alias_millis;
  uint64_t model;
  uint64_t flags;
};

template <class T>
Hash128 HashRows(const std::vector<T>& rows) {
  static_assert(std::has_unique_object_representations_v<T>, "every byte of a row is written");
  return Checksum(std::as_bytes(std::span(rows)));
}
template <class T>
Hash128 HashValue(const T& value) {
  static_assert(std::has_unique_object_representations_v<T>);
  return Checksum(std::as_bytes(std::span(&value, 1)));
}

// Semaphore uses without their values.
// Values of timelines go up with each frame. What they decide, which signal a wait follows, is in
// the edges; with them every frame would be planned anew.
void CollectUses(const StructureInputs& in, std::vector<SemaphoreUseBytes>& uses) {
  uses.clear();
  for (size_t i = 0; i < in.rows.semaphore_uses.size(); ++i) {
    const SemaphoreRow& use = in.rows.semaphore_uses[i];
    uses.push_back({.stages = use.stages,
                    .pass = use.pass,
                    .semaphore = use.semaphore,
                    .wait = use.wait ? 1U : 0U,
                    .external = in.semaphores.external[i]});
  }
}

// Flags share one word, each in bits of its own.
OptionBytes OptionsOf(const StructureInputs& in) {
  const PlanOptions& options = in.options;
  return {.seed = options.seed,
          .alias_millis = static_cast<uint64_t>(options.alias_commands * 1000),
          .model = in.model,
          .flags = uint64_t{static_cast<uint8_t>(options.order)} |
                   uint64_t{static_cast<uint8_t>(options.effort)} << 8 |
                   uint64_t{static_cast<uint8_t>(options.barriers)} << 16 |
                   uint64_t{options.cull} << 24 | uint64_t{options.alias} << 25 |
                   uint64_t{options.unify_reads} << 26 | uint64_t{in.follows} << 27};
}

// The encoding of spec/cache 2.2, whose fields are the hashes of the arrays.
Hash128 HashOfHashes(const Structure& structure) {
  constexpr std::string_view kDomain = "kiln.graph.1";
  constexpr size_t kField = 1 + sizeof(uint32_t) + sizeof(Hash128);
  std::array<uint8_t, 1 + kDomain.size() + kField * kStructureArrays> bytes{};
  uint8_t* out = bytes.data();
  *out++ = static_cast<uint8_t>(kDomain.size());
  out = std::copy(kDomain.begin(), kDomain.end(), out);
  for (size_t tag = 0; tag < kStructureArrays; ++tag) {
    *out++ = static_cast<uint8_t>(tag);
    *out++ = sizeof(Hash128);  // a length of 32 bits, low byte first
    out += sizeof(uint32_t) - 1;
    out = std::copy(structure.arrays[tag].bytes.begin(), structure.arrays[tag].bytes.end(), out);
  }
  return Checksum(std::as_bytes(std::span(bytes)));
}

}  // namespace

// Rows have no padding and no pointers, which the checks of their types guarantee, so their bytes
// are their meaning.
Structure StructureOf(const StructureInputs& in, std::vector<SemaphoreUseBytes>& scratch) {
  const Declarations& rows = in.rows;
  CollectUses(in, scratch);
  Structure out;
  out.arrays = {HashRows(rows.passes),       HashRows(rows.accesses),
                HashRows(rows.versions),     HashRows(rows.chains),
                HashRows(scratch),           HashValue(OptionsOf(in)),
                HashValue(in.carried.bytes), HashRows(in.semaphores.edges)};
  out.all = HashOfHashes(out);
  return out;
}

// Empty if nothing differs, or if there is nothing to compare with.
const char* FirstDifference(const Structure& a, const Structure& b) {
  constexpr const char* kNames[] = {"passes",         "accesses", "versions", "chains",
                                    "semaphore uses", "options",  "carried",  "semaphore edges"};
  static_assert(std::size(kNames) == kStructureArrays);
  // A zero digest says that there is no other frame.
  for (size_t i = 0; i < kStructureArrays && !b.all.zero(); ++i) {
    if (a.arrays[i] != b.arrays[i]) {
      return kNames[i];
    }
  }
  return "";
}

}  // namespace kiln::graph
