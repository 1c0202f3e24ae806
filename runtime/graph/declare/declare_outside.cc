// SPDX-License-Identifier: MIT
#include "runtime/graph/declare/declare_outside.h"

#include <fmt/format.h>

#include "runtime/graph/declare/short_name.h"

namespace kiln::graph {

uint32_t OutsideDeclarer::Import(const ImportRequest& import, Where where) {
  // Two names for one piece of memory would have no barriers between them. Buffers may be imported
  // in parts that do not overlap.
  // Quadratic in imports, of which a frame has a few.
  for (uint32_t chain = 0; chain < rows_.chains.size(); ++chain) {
    const ChainBinding& other = rows_.bindings[chain];
    const bool same_image =
        import.binding.image != VK_NULL_HANDLE && other.image == import.binding.image;
    const bool same_buffer = import.binding.buffer != VK_NULL_HANDLE &&
                             other.buffer == import.binding.buffer &&
                             other.offset < import.binding.offset + import.chain.size &&
                             import.binding.offset < other.offset + rows_.chains[chain].size;
    if (rows_.chains[chain].object == Object::kImported && (same_image || same_buffer)) {
      frame_.Fail("IMPORTED_TWICE", fmt::format("is imported again as '{}'", import.name), kNone,
                  rows_.chains[chain].first_version, where);
      return kPoisoned;
    }
  }
  if (!accesses_.CheckDescription(import.chain, import.name, kNone, where)) {
    return kPoisoned;
  }
  ChainRow chain = import.chain;
  chain.state_stages = ElementaryStages(import.state.stages);
  chain.state_accesses = ElementaryAccesses(import.state.accesses);
  chain.state_layout = import.state.layout;
  // The wait belongs to the first pass that uses the import, which the planner finds.
  if (import.acquire != nullptr) {
    const SemaphoreUse& use = *import.acquire;
    // Which pass will wait is not known yet, so omitted stages are all.
    const Stages stages = ElementaryStages(
        use.stages == 0 ? Stages{VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT} : use.stages);
    const uint32_t ordinal = semaphores_.Ordinal(use, kNone, where);
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
  return frame_.AddChain(chain, import.binding, import.name);
}

uint32_t OutsideDeclarer::History(std::string_view name, const ChainRow& desc,
                                  const ChainBinding& binding, const Handle& previous) {
  ChainRow chain = desc;
  // The past is taken only if it is of the last frame, was kept, and has the same description. A
  // window that was resized so gets a history that is reset, and no error.
  const bool last_frame = previous.frame == frame_.previous().frame && previous.index < kPoisoned &&
                          previous.index < frame_.previous().versions.size();
  if (last_frame && frame_.previous().versions[previous.index].temporal != 0 &&
      SameDescription(frame_.previous().chains[frame_.previous().versions[previous.index].chain],
                      chain)) {
    // The handle of the last frame may have been used before the history was declared; both are the
    // same version.
    if (handles_.Revived(previous.index) != kNone) {
      return handles_.Revived(previous.index);
    }
    chain.previous = previous.index;
  }
  // A reset is a clear, so the image must allow it.
  chain.usage |= chain.texture() ? VkImageUsageFlags{VK_IMAGE_USAGE_TRANSFER_DST_BIT} : 0U;
  const uint32_t version = frame_.AddChain(chain, binding, name);
  if (chain.previous != kNone) {
    handles_.Revived(chain.previous) = version;
  }
  return version;
}

// The version may not be written any more, or its final state would not be final.
void OutsideDeclarer::Export(const Handle& handle, const Access& final_state, Where where) {
  const uint32_t version = handles_.UseVersion(handle, kNone, where);
  if (version == kNone) {
    return;
  }
  if (rows_.versions[version].kill != kNone) {
    frame_.Fail("EXPORT_NOT_LAST", "is exported but is not the last of its chain",
                rows_.versions[version].kill, version, where);
    return;
  }
  // An export is a read by a pass of the graph's own at the end. Planning then makes the transition
  // like that of any other access.
  const ShortName name("export ", rows_.VersionName(version), "");
  const uint32_t pass =
      frame_.AddPass({.name = name.text(), .kind = PassKind::kTransition}, Origin::kExport, where);
  if (pass == kPoisoned) {
    return;
  }
  // Whether the read was accepted shows in the number of accesses; an error was recorded already.
  const size_t before = rows_.accesses.size();
  accesses_.Read({pass, rows_.frame}, {version, rows_.frame, false, handle.kind}, final_state,
                 where);
  if (rows_.accesses.size() > before) {
    // Marked as overwritten by the export, so a later write of it is found.
    rows_.versions[version].kill = pass;
    rows_.versions[version].exported = 1;
    rows_.versions[version].output = 1;
  }
}

void OutsideDeclarer::Output(const Handle& handle, Where where) {
  const uint32_t version = handles_.UseVersion(handle, kNone, where);
  if (version != kNone) {
    rows_.versions[version].output = 1;
  }
}

}  // namespace kiln::graph
