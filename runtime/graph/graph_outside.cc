// SPDX-License-Identifier: MIT
// Graph: what comes from outside the frame or stays after it: imports, histories, exports, outputs.
// See spec/graph 4.5, 4.6
#include <fmt/format.h>

#include "runtime/graph/graph.h"
#include "runtime/graph/short_name.h"

namespace kiln::graph {
namespace {

bool SameDescription(const ChainRow& a, const ChainRow& b) {
  return a.kind == b.kind && a.size == b.size && a.type == b.type && a.format == b.format &&
         a.extent.width == b.extent.width && a.extent.height == b.extent.height &&
         a.extent.depth == b.extent.depth && a.mips == b.mips && a.layers == b.layers &&
         a.samples == b.samples && a.flags == b.flags;
}

}  // namespace

uint32_t Graph::Import(const ImportRequest& import, Where where) {
  for (uint32_t chain = 0; chain < rows_.chains.size(); ++chain) {
    const ChainBinding& other = rows_.bindings[chain];
    const bool same_image =
        import.binding.image != VK_NULL_HANDLE && other.image == import.binding.image;
    const bool same_buffer = import.binding.buffer != VK_NULL_HANDLE &&
                             other.buffer == import.binding.buffer &&
                             other.offset < import.binding.offset + import.chain.size &&
                             import.binding.offset < other.offset + rows_.chains[chain].size;
    if (rows_.chains[chain].object == Object::kImported && (same_image || same_buffer)) {
      Fail("IMPORTED_TWICE", fmt::format("is imported again as '{}'", import.name), kNone,
           rows_.chains[chain].first_version, where);
      return kPoisoned;
    }
  }
  if (!CheckDescription(import.chain, import.name, kNone, where)) {
    return kPoisoned;
  }
  ChainRow chain = import.chain;
  chain.state_stages = ElementaryStages(import.state.stages);
  chain.state_accesses = ElementaryAccesses(import.state.accesses);
  chain.state_layout = import.state.layout;
  if (import.acquire != nullptr) {
    const SemaphoreUse& use = *import.acquire;
    // Which pass will wait is not known yet, so omitted stages are all.
    const Stages stages = ElementaryStages(
        use.stages == 0 ? Stages{VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT} : use.stages);
    const uint32_t ordinal = Ordinal(use, kNone, where);
    chain.acquire = static_cast<uint32_t>(rows_.semaphore_uses.size());
    rows_.semaphore_uses.push_back({.pass = kNone,
                                    .semaphore = ordinal,
                                    .value = use.timeline ? use.value : 0,
                                    .stages = stages,
                                    .wait = true});
    // Acquired, and nothing else stated: ready once the wait is over.
    if (chain.state_stages == 0) {
      chain.state_stages = stages;
    }
  }
  return AddChain(chain, import.binding, import.name);
}

uint32_t Graph::History(std::string_view name, const ChainRow& desc, const ChainBinding& binding,
                        const Handle& previous) {
  ChainRow chain = desc;
  const bool last_frame = previous.frame == previous_.frame && previous.index < kPoisoned &&
                          previous.index < previous_.versions.size();
  if (last_frame && previous_.versions[previous.index].temporal != 0 &&
      SameDescription(previous_.chains[previous_.versions[previous.index].chain], chain)) {
    if (revived_[previous.index] != kNone) {
      return revived_[previous.index];
    }
    chain.previous = previous.index;
  }
  chain.usage |= chain.texture() ? VkImageUsageFlags{VK_IMAGE_USAGE_TRANSFER_DST_BIT} : 0U;
  const uint32_t version = AddChain(chain, binding, name);
  if (chain.previous != kNone) {
    revived_[chain.previous] = version;
  }
  return version;
}

void Graph::Export(const Handle& handle, const Access& final_state, Where where) {
  const uint32_t version = UseVersion(handle, kNone, where);
  if (version == kNone) {
    return;
  }
  if (rows_.versions[version].kill != kNone) {
    Fail("EXPORT_NOT_LAST", "is exported but is not the last of its chain",
         rows_.versions[version].kill, version, where);
    return;
  }
  const ShortName name("export ", rows_.VersionName(version), "");
  const uint32_t pass =
      AddPass({.name = name.text(), .kind = PassKind::kTransition}, Origin::kExport, where);
  if (pass == kPoisoned) {
    return;
  }
  const size_t before = rows_.accesses.size();
  Read({pass, rows_.frame}, {version, rows_.frame, false, handle.kind}, final_state, where);
  if (rows_.accesses.size() > before) {
    rows_.versions[version].kill = pass;
    rows_.versions[version].exported = 1;
    rows_.versions[version].output = 1;
  }
}

void Graph::Output(const Handle& handle, Where where) {
  const uint32_t version = UseVersion(handle, kNone, where);
  if (version != kNone) {
    rows_.versions[version].output = 1;
  }
}

}  // namespace kiln::graph
