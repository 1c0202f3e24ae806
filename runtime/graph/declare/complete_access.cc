// SPDX-License-Identifier: MIT
// Turns a declared access into a complete one: elementary stages and accesses, range, layout,
// usage. It reads the description alone, keeps no state and answers with an error code and words.
#include "runtime/graph/declare/complete_access.h"

#include <array>

#include <fmt/format.h>

namespace kiln::graph {
namespace {

constexpr Accesses kHostAccesses = VK_ACCESS_2_HOST_READ_BIT | VK_ACCESS_2_HOST_WRITE_BIT;

// Bits of `accesses` that some stage of `stages` can do.
Accesses Possible(Accesses accesses, Stages stages) {
  Accesses possible = 0;
  // Bit by bit, lowest first.
  for (Accesses rest = accesses; rest != 0; rest &= rest - 1) {
    const Accesses bit = rest & (~rest + 1);
    if ((StagesOfAccess(bit) & stages) != 0) {
      possible |= bit;
    }
  }
  return possible;
}

// Every bit that was declared must be possible; of a combined bit, some part of it.
Accesses ImpossibleBits(Accesses declared, Stages stages) {
  Accesses impossible = 0;
  for (Accesses rest = declared; rest != 0; rest &= rest - 1) {
    const Accesses bit = rest & (~rest + 1);
    if (Possible(ElementaryAccesses(bit), stages) == 0) {
      impossible |= bit;
    }
  }
  return impossible;
}

// Stages first, then what they can do, then whether the operation reads or writes as it says. Each
// check relies on those before it.
bool CheckMasks(const AccessRequest& request, CompletedAccess& out) {
  const Access& access = request.access;
  const Stages allowed = AllowedStages(request.pass);
  AccessRow& row = out.row;
  row.stages = ElementaryStages(access.stages);
  if ((row.stages & ~allowed) != 0) {
    out.error = "STAGE_NOT_IN_PASS";
    out.detail = fmt::format("names stage {}", StagesText(row.stages & ~allowed));
    return false;
  }
  row.accesses = ElementaryAccesses(access.accesses);
  if (row.stages == 0) {
    // Stages that were not written are all that the pass may use for these accesses.
    row.stages = DefaultStages(request.pass, row.accesses);
  }
  // Host passes have no stage of their own; what they do is done by the host.
  const bool host = request.pass == PassKind::kHost;
  if (host) {
    row.stages = VK_PIPELINE_STAGE_2_HOST_BIT;
  }
  const Accesses impossible = ImpossibleBits(access.accesses, row.stages);
  if (impossible != 0) {
    out.error = "ACCESS_NOT_IN_STAGE";
    out.detail = fmt::format("names access {}, which {} cannot do", AccessesText(impossible),
                             StagesText(row.stages));
    return false;
  }
  // What remains is only what the stages can really do, so planning never sees a pair that cannot
  // be.
  row.accesses = Possible(row.accesses, row.stages);
  const bool write_bits = (row.accesses & kWriteAccesses) != 0;
  if (request.op == Op::kRead && write_bits) {
    out.error = "WRITE_BITS_IN_READ";
    out.detail = fmt::format("reads with {}", AccessesText(row.accesses & kWriteAccesses));
    return false;
  }
  // A transition changes the layout, which is its write.
  if (request.op != Op::kRead && !write_bits &&
      (request.pass != PassKind::kTransition || request.op == Op::kCreate)) {
    out.error = "NO_WRITE_BITS";
    out.detail = fmt::format("writes with {}", AccessesText(row.accesses));
    return false;
  }
  return true;
}

// A range outside of the texture is an error with code and words; nothing is cut off silently,
// since the author meant something else.
bool CheckRange(const Range& range, const ChainRow& chain, CompletedAccess& out) {
  AccessRow& row = out.row;
  const VkImageAspectFlags all = chain.aspects;
  // A count that means "the rest" is computed here, so that rows never hold kWhole.
  row.mip = range.mip;
  row.layer = range.layer;
  row.mips = range.mips != kWhole
                 ? range.mips
                 : static_cast<uint16_t>(chain.mips > range.mip ? chain.mips - range.mip : 0U);
  row.layers =
      range.layers != kWhole
          ? range.layers
          : static_cast<uint16_t>(chain.layers > range.layer ? chain.layers - range.layer : 0U);
  row.aspects = static_cast<uint8_t>(range.aspects != 0 ? range.aspects : all);
  if (row.mips == 0 || uint32_t{row.mip} + row.mips > chain.mips || row.layers == 0 ||
      uint32_t{row.layer} + row.layers > chain.layers || (range.aspects & ~all) != 0) {
    out.error = "RANGE_OUT_OF_BOUNDS";
    out.detail = fmt::format("names levels {}+{} and layers {}+{} of a texture with {} and {}",
                             row.mip, row.mips, row.layer, row.layers, chain.mips, chain.layers);
    return false;
  }
  // Whole accesses are the usual ones and are compared by this bit alone.
  row.whole = row.mip == 0 && row.mips == chain.mips && row.layer == 0 &&
                      row.layers == chain.layers && row.aspects == all
                  ? 1U
                  : 0U;
  return true;
}

// An access that allows exactly one layout needs no word (spec/graph 4.4); one that allows several
// has to name it.
bool CheckLayout(const AccessRequest& request, CompletedAccess& out) {
  AccessRow& row = out.row;
  row.layout = request.access.layout;
  // Undefined is what a zeroed access has; it means that the layout is to be derived.
  if (row.layout != VK_IMAGE_LAYOUT_UNDEFINED) {
    return true;
  }
  if (row.accesses == 0) {
    out.error = "LAYOUT_MISSING";
    out.detail = "names neither an access nor a layout";
    return false;
  }
  const std::optional<VkImageLayout> layout = LayoutOfAccess(row.accesses, row.aspects);
  if (!layout.has_value()) {
    out.error = "LAYOUT_CONFLICT";
    out.detail = fmt::format("names {}, which have no common layout", AccessesText(row.accesses));
    return false;
  }
  row.layout = *layout;
  return true;
}

// Upload memory: the host writes, the device reads. Readback: the device writes.
bool CheckMemory(const AccessRequest& request, const ChainRow& chain, CompletedAccess& out) {
  const bool host = (out.row.accesses & kHostAccesses) != 0 || request.pass == PassKind::kHost;
  const bool write = request.op != Op::kRead;
  const char* wrong = nullptr;
  switch (chain.memory) {
    case MemoryKind::kDevice:
      wrong = host ? "is used by the host but lies in device memory" : nullptr;
      break;
    case MemoryKind::kUpload:
      wrong = write != host && (write || request.pass == PassKind::kHost)
                  ? "lies in upload memory and is written by the device"
                  : nullptr;
      break;
    case MemoryKind::kReadback:
      wrong = request.pass == PassKind::kHost ? "lies in readback memory and is used by the host"
              : !write && !host               ? "lies in readback memory and is read by the device"
                                              : nullptr;
      break;
  }
  if (wrong != nullptr) {
    out.error = "MEMORY_KIND";
    out.detail = wrong;
    return false;
  }
  return true;
}

}  // namespace

// Columns: any of these accesses, and the usage that an image needs for it.
VkImageUsageFlags UsageOf(Accesses accesses) {
  struct Row {
    Accesses accesses;
    VkImageUsageFlags usage;
  };
  constexpr std::array kRows = {
      Row{VK_ACCESS_2_SHADER_SAMPLED_READ_BIT, VK_IMAGE_USAGE_SAMPLED_BIT},
      Row{VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
          VK_IMAGE_USAGE_STORAGE_BIT},
      Row{VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT,
          VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT},
      Row{VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
              VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT,
          VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT},
      Row{VK_ACCESS_2_INPUT_ATTACHMENT_READ_BIT, VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT},
      Row{VK_ACCESS_2_TRANSFER_READ_BIT, VK_IMAGE_USAGE_TRANSFER_SRC_BIT},
      Row{VK_ACCESS_2_TRANSFER_WRITE_BIT, VK_IMAGE_USAGE_TRANSFER_DST_BIT},
  };
  // What an image is used for must be known when it is created, so usage is collected from all
  // accesses.
  VkImageUsageFlags usage = 0;
  for (const Row& row : kRows) {
    if ((accesses & row.accesses) != 0) {
      usage |= row.usage;
    }
  }
  return usage;
}

// A pure function of its arguments, which AccessMemo relies on.
CompletedAccess CompleteAccess(const AccessRequest& request, const ChainRow& chain) {
  CompletedAccess out;
  out.row.op = request.op;
  if (!CheckMasks(request, out)) {
    return out;
  }
  if (!chain.texture()) {
    out.row.whole = 1;
    out.row.mips = 1;
    out.row.layers = 1;
    // The memory of an import is the caller's, and nothing is known about it.
    if (chain.object != Object::kImported) {
      CheckMemory(request, chain, out);
    }
    return out;
  }
  if (request.pass == PassKind::kHost) {
    out.error = "HOST_TEXTURE";
    out.detail = "is a texture, which host passes cannot use";
    return out;
  }
  if (CheckRange(request.access.range, chain, out)) {
    CheckLayout(request, out);
    out.usage = UsageOf(out.row.accesses);
  }
  return out;
}

const CompletedAccess& AccessMemo::Ask(const AccessRequest& request, const ChainRow& chain,
                                       const Key& key, Answer& answer) {
  other_ = CompleteAccess(request, chain);
  // Only whole and good accesses are remembered. They are nearly all, and the key stays small.
  const bool whole = request.access.range == Range{} && chain.layers <= 0xFFFF;
  if (whole && other_.error.empty()) {
    answer = {.key = key, .completed = other_};
  }
  return other_;
}

}  // namespace kiln::graph
