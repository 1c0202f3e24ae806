// SPDX-License-Identifier: MIT
#include "compiler/layout/layout_cache.h"

#include <utility>

#include "compiler/layout/rpl_adapter.h"

namespace kiln::layout {
namespace {

bool IsBlock(const ir::SpecialisedDecl& decl) {
  return decl.kind == ir::DeclKind::kBuffer || decl.kind == ir::DeclKind::kPushConstant;
}

}  // namespace

// Blocks count by declaration, everything else by version, whose addresses are even. What lies
// inside of a block moves members, never bindings, so variants that differ there share all numbers.
// Addresses of versions are ids here: units keep them as long as this cache lives.
void LayoutCache::ReadKey(const ir::SpecialisedProgram& variant) {
  key_.clear();
  // Two variants with equal declarations may still have other vertex inputs.
  for (const ir::EntryRef& entry : variant.entries) {  // what vertices are made of
    key_.push_back(uint64_t{entry.interface} << 3 | static_cast<uint64_t>(entry.stage));
  }
  for (const ir::SpecialisedDecl* decl : variant.interface) {
    key_.push_back(IsBlock(*decl) ? uint64_t{decl->decl.value} << 1 | 1
                                  : reinterpret_cast<uintptr_t>(decl));
  }
}

// The numbers are those that are remembered; sizes of blocks are computed anew, since fields may
// have come or gone.
std::optional<Layout> LayoutCache::WithBlocks(const Layout& numbers,
                                              const ir::SpecialisedProgram& variant) {
  Layout layout = numbers;
  for (const ir::SpecialisedDecl* decl : variant.interface) {
    // Everything else is in the key by its version and cannot have changed.
    if (!IsBlock(*decl)) {
      continue;
    }
    const std::optional<Block> block = GoodBlock(*decl, target_, types_);
    if (!block.has_value()) {
      return std::nullopt;
    }
    layout.blocks[layout.placements[decl->decl.value].row] = *block;
    if (decl->kind == ir::DeclKind::kPushConstant) {
      layout.push_constant_size = block->main_size;
    }
  }
  return layout;
}

// Only layouts without any message are remembered: a message may name what is inside of a block,
// which is not part of the key. A block that does not fit its rules takes the long way for the same
// reason.
Diagnosed<Layout> LayoutCache::Assign(const ir::SpecialisedProgram& variant) {
  if (variant.pipeline == ir::PipelineType::kCompute) {
    return layout::Assign(variant, target_, types_);  // settings are checked, too
  }
  ReadKey(variant);
  // The key holds addresses, so the hash differs from run to run; it only chooses a bucket, and
  // nothing is ordered by it.
  uint64_t hash = key_.size();
  for (const uint64_t part : key_) {
    hash = Mix64(hash ^ part);
  }
  const uint32_t row = index_.Find(hash, [&](uint32_t i) { return known_[i].key == key_; });
  if (row != InternIndex::kFree) {
    // A block that no longer fits has a message, which only the long way gives.
    if (std::optional<Layout> layout = WithBlocks(known_[row].layout, variant)) {
      return {.value = std::move(layout), .diagnostics = {}};
    }
    return layout::Assign(variant, target_, types_);
  }
  Diagnosed<Layout> assigned = layout::Assign(variant, target_, types_);
  if (assigned.ok() && assigned.diagnostics.empty()) {
    (void)index_.FindOrAdd(
        hash, [](uint32_t) { return false; },
        [&] {
          known_.push_back({.key = key_, .layout = *assigned.value});
          return static_cast<uint32_t>(known_.size() - 1);
        });
  }
  return assigned;
}

}  // namespace kiln::layout
