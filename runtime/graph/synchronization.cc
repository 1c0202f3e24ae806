// SPDX-License-Identifier: MIT
// Three vocabularies in tables: stages, accesses and layouts of Vulkan. Declarations and files may
// use combined bits and short names; planning works with elementary bits alone, so that a union or
// an intersection is one instruction; texts get combined bits again. What a declaration leaves out
// follows from the rules of spec/graph 4.1 and 4.4.
#include "runtime/graph/synchronization.h"

#include <array>
#include <bit>
#include <span>

namespace kiln::graph {
namespace {

// What a combined bit means as elementary bits. Planning compares and unites elementary bits only;
// combined ones come back when a text is printed.
constexpr Stages kTransferStages = VK_PIPELINE_STAGE_2_COPY_BIT | VK_PIPELINE_STAGE_2_RESOLVE_BIT |
                                   VK_PIPELINE_STAGE_2_BLIT_BIT | VK_PIPELINE_STAGE_2_CLEAR_BIT;
constexpr Stages kVertexInputStages =
    VK_PIPELINE_STAGE_2_INDEX_INPUT_BIT | VK_PIPELINE_STAGE_2_VERTEX_ATTRIBUTE_INPUT_BIT;
constexpr Stages kPreRasterStages =
    VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT | VK_PIPELINE_STAGE_2_TESSELLATION_CONTROL_SHADER_BIT |
    VK_PIPELINE_STAGE_2_TESSELLATION_EVALUATION_SHADER_BIT |
    VK_PIPELINE_STAGE_2_GEOMETRY_SHADER_BIT | VK_PIPELINE_STAGE_2_TASK_SHADER_BIT_EXT |
    VK_PIPELINE_STAGE_2_MESH_SHADER_BIT_EXT;
constexpr Stages kFragmentTests =
    VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT;
constexpr Stages kGraphicsStages = VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT | kVertexInputStages |
                                   kPreRasterStages | VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT |
                                   kFragmentTests | VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT;
constexpr Stages kShaderStages = kPreRasterStages | VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT |
                                 VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
// The host is no stage of a command and is not among them.
constexpr Stages kCommandStages =
    kGraphicsStages | VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | kTransferStages;

struct StageGroup {
  Stages bit;
  Stages stages;
};
// Largest first, so that the shortest text is found.
constexpr std::array kCombined = {
    StageGroup{VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, kCommandStages},
    StageGroup{VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT, kGraphicsStages},
    StageGroup{VK_PIPELINE_STAGE_2_PRE_RASTERIZATION_SHADERS_BIT, kPreRasterStages},
    StageGroup{VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, kTransferStages},
    StageGroup{VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT, kVertexInputStages},
};

struct AccessRow {
  Accesses access;
  Stages stages;
};
// The stages at which an access can happen, as the specification of Vulkan lists them.
constexpr std::array kAccesses = {
    AccessRow{VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT, VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT},
    AccessRow{VK_ACCESS_2_INDEX_READ_BIT, VK_PIPELINE_STAGE_2_INDEX_INPUT_BIT},
    AccessRow{VK_ACCESS_2_VERTEX_ATTRIBUTE_READ_BIT,
              VK_PIPELINE_STAGE_2_VERTEX_ATTRIBUTE_INPUT_BIT},
    AccessRow{VK_ACCESS_2_UNIFORM_READ_BIT, kShaderStages},
    AccessRow{VK_ACCESS_2_INPUT_ATTACHMENT_READ_BIT, VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT},
    AccessRow{VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT,
              VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT},
    AccessRow{VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT,
              VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT},
    AccessRow{VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT, kFragmentTests},
    AccessRow{VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT, kFragmentTests},
    AccessRow{VK_ACCESS_2_TRANSFER_READ_BIT, VK_PIPELINE_STAGE_2_COPY_BIT |
                                                 VK_PIPELINE_STAGE_2_RESOLVE_BIT |
                                                 VK_PIPELINE_STAGE_2_BLIT_BIT},
    AccessRow{VK_ACCESS_2_TRANSFER_WRITE_BIT, kTransferStages},
    AccessRow{VK_ACCESS_2_HOST_READ_BIT, VK_PIPELINE_STAGE_2_HOST_BIT},
    AccessRow{VK_ACCESS_2_HOST_WRITE_BIT, VK_PIPELINE_STAGE_2_HOST_BIT},
    AccessRow{VK_ACCESS_2_SHADER_SAMPLED_READ_BIT, kShaderStages},
    AccessRow{VK_ACCESS_2_SHADER_STORAGE_READ_BIT, kShaderStages},
    AccessRow{VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT, kShaderStages},
};

struct Name {
  uint64_t bit;
  std::string_view text;
};
// An alias of a bit stands behind the name that is printed: MaskText takes the first and ParseOne
// finds both.
constexpr std::array kStageNames = {
    Name{VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT, "DRAW_INDIRECT"},
    Name{VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT, "VERTEX_INPUT"},
    Name{VK_PIPELINE_STAGE_2_INDEX_INPUT_BIT, "INDEX_INPUT"},
    Name{VK_PIPELINE_STAGE_2_VERTEX_ATTRIBUTE_INPUT_BIT, "VERTEX_ATTRIBUTE_INPUT"},
    Name{VK_PIPELINE_STAGE_2_PRE_RASTERIZATION_SHADERS_BIT, "PRE_RASTERIZATION_SHADERS"},
    Name{VK_PIPELINE_STAGE_2_TASK_SHADER_BIT_EXT, "TASK_SHADER"},
    Name{VK_PIPELINE_STAGE_2_MESH_SHADER_BIT_EXT, "MESH_SHADER"},
    Name{VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT, "VERTEX_SHADER"},
    Name{VK_PIPELINE_STAGE_2_TESSELLATION_CONTROL_SHADER_BIT, "TESSELLATION_CONTROL_SHADER"},
    Name{VK_PIPELINE_STAGE_2_TESSELLATION_EVALUATION_SHADER_BIT, "TESSELLATION_EVALUATION_SHADER"},
    Name{VK_PIPELINE_STAGE_2_GEOMETRY_SHADER_BIT, "GEOMETRY_SHADER"},
    Name{VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT, "FRAGMENT_SHADER"},
    Name{VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT, "EARLY_FRAGMENT_TESTS"},
    Name{VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT, "LATE_FRAGMENT_TESTS"},
    Name{VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT, "COLOR_ATTACHMENT_OUTPUT"},
    Name{VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, "COMPUTE_SHADER"},
    Name{VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, "ALL_TRANSFER"},
    Name{VK_PIPELINE_STAGE_2_COPY_BIT, "COPY"},
    Name{VK_PIPELINE_STAGE_2_RESOLVE_BIT, "RESOLVE"},
    Name{VK_PIPELINE_STAGE_2_BLIT_BIT, "BLIT"},
    Name{VK_PIPELINE_STAGE_2_CLEAR_BIT, "CLEAR"},
    Name{VK_PIPELINE_STAGE_2_HOST_BIT, "HOST"},
    Name{VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT, "ALL_GRAPHICS"},
    Name{VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, "ALL_COMMANDS"},
    Name{VK_PIPELINE_STAGE_2_TRANSFER_BIT, "TRANSFER"},
    Name{VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT, "TOP_OF_PIPE"},
    Name{VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT, "BOTTOM_OF_PIPE"},
};
constexpr std::array kAccessNames = {
    Name{VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT, "INDIRECT_COMMAND_READ"},
    Name{VK_ACCESS_2_INDEX_READ_BIT, "INDEX_READ"},
    Name{VK_ACCESS_2_VERTEX_ATTRIBUTE_READ_BIT, "VERTEX_ATTRIBUTE_READ"},
    Name{VK_ACCESS_2_UNIFORM_READ_BIT, "UNIFORM_READ"},
    Name{VK_ACCESS_2_INPUT_ATTACHMENT_READ_BIT, "INPUT_ATTACHMENT_READ"},
    Name{VK_ACCESS_2_SHADER_READ_BIT, "SHADER_READ"},
    Name{VK_ACCESS_2_SHADER_WRITE_BIT, "SHADER_WRITE"},
    Name{VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT, "COLOR_ATTACHMENT_READ"},
    Name{VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT, "COLOR_ATTACHMENT_WRITE"},
    Name{VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT, "DEPTH_STENCIL_ATTACHMENT_READ"},
    Name{VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT, "DEPTH_STENCIL_ATTACHMENT_WRITE"},
    Name{VK_ACCESS_2_TRANSFER_READ_BIT, "TRANSFER_READ"},
    Name{VK_ACCESS_2_TRANSFER_WRITE_BIT, "TRANSFER_WRITE"},
    Name{VK_ACCESS_2_HOST_READ_BIT, "HOST_READ"},
    Name{VK_ACCESS_2_HOST_WRITE_BIT, "HOST_WRITE"},
    Name{VK_ACCESS_2_MEMORY_READ_BIT, "MEMORY_READ"},
    Name{VK_ACCESS_2_MEMORY_WRITE_BIT, "MEMORY_WRITE"},
    Name{VK_ACCESS_2_SHADER_SAMPLED_READ_BIT, "SHADER_SAMPLED_READ"},
    Name{VK_ACCESS_2_SHADER_STORAGE_READ_BIT, "SHADER_STORAGE_READ"},
    Name{VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT, "SHADER_STORAGE_WRITE"},
};
constexpr std::array kLayoutNames = {
    Name{VK_IMAGE_LAYOUT_UNDEFINED, "UNDEFINED"},
    Name{VK_IMAGE_LAYOUT_GENERAL, "GENERAL"},
    Name{VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL, "COLOR_ATTACHMENT_OPTIMAL"},
    Name{VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL, "DEPTH_STENCIL_ATTACHMENT_OPTIMAL"},
    Name{VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL, "DEPTH_STENCIL_READ_ONLY_OPTIMAL"},
    Name{VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL, "SHADER_READ_ONLY_OPTIMAL"},
    Name{VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, "TRANSFER_SRC_OPTIMAL"},
    Name{VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, "TRANSFER_DST_OPTIMAL"},
    Name{VK_IMAGE_LAYOUT_PREINITIALIZED, "PREINITIALIZED"},
    Name{VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL,
         "DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL"},
    Name{VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL,
         "DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL"},
    Name{VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL, "DEPTH_ATTACHMENT_OPTIMAL"},
    Name{VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_OPTIMAL, "DEPTH_READ_ONLY_OPTIMAL"},
    Name{VK_IMAGE_LAYOUT_STENCIL_ATTACHMENT_OPTIMAL, "STENCIL_ATTACHMENT_OPTIMAL"},
    Name{VK_IMAGE_LAYOUT_STENCIL_READ_ONLY_OPTIMAL, "STENCIL_READ_ONLY_OPTIMAL"},
    Name{VK_IMAGE_LAYOUT_READ_ONLY_OPTIMAL, "READ_ONLY_OPTIMAL"},
    Name{VK_IMAGE_LAYOUT_ATTACHMENT_OPTIMAL, "ATTACHMENT_OPTIMAL"},
    Name{VK_IMAGE_LAYOUT_PRESENT_SRC_KHR, "PRESENT_SRC_KHR"},
    Name{VK_IMAGE_LAYOUT_PRESENT_SRC_KHR, "PRESENT_SRC"},
};

// In the order of the table and not of the bits, which makes combined names come where people
// expect them.
std::string MaskText(uint64_t mask, std::span<const Name> names) {
  std::string text;
  for (const Name& name : names) {
    if ((mask & name.bit) != 0) {
      text += text.empty() ? "" : "|";
      text += name.text;
      // The bit is taken out, so an alias further down is not printed a second time.
      mask &= ~name.bit;
    }
  }
  return text.empty() ? "NONE" : text;
}

// Names may be written as in C, with prefix and suffix, or short.
std::optional<uint64_t> ParseOne(std::string_view word, std::span<const Name> names,
                                 std::string_view prefix) {
  if (word.starts_with(prefix)) {
    word.remove_prefix(prefix.size());
  }
  for (const std::string_view suffix : {"_BIT", "_BIT_KHR"}) {
    if (word.ends_with(suffix)) {
      word.remove_suffix(suffix.size());
    }
  }
  // An empty mask has a word of its own, because an empty text is a forgotten one.
  if (word == "NONE") {
    return 0;
  }
  for (const Name& name : names) {
    if (name.text == word) {
      return name.bit;
    }
  }
  return std::nullopt;
}

// Spaces around the bars are allowed, as people write them.
std::optional<uint64_t> ParseMask(std::string_view text, std::span<const Name> names,
                                  std::string_view prefix) {
  uint64_t mask = 0;
  while (!text.empty()) {
    const size_t bar = text.find('|');
    std::string_view word = text.substr(0, bar);
    while (!word.empty() && word.front() == ' ') {
      word.remove_prefix(1);
    }
    while (!word.empty() && word.back() == ' ') {
      word.remove_suffix(1);
    }
    const std::optional<uint64_t> bit = ParseOne(word, names, prefix);
    if (!bit.has_value()) {
      return std::nullopt;
    }
    mask |= *bit;
    text = bar == std::string_view::npos ? std::string_view() : text.substr(bar + 1);
  }
  return mask;
}

}  // namespace

// Most masks are elementary, and one comparison finds that out.
Stages ElementaryStages(Stages stages) {
  constexpr Stages kCombinedBits =
      VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT |
      VK_PIPELINE_STAGE_2_PRE_RASTERIZATION_SHADERS_BIT | VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT |
      VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT | VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT |
      VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT;
  if ((stages & kCombinedBits) == 0) {
    return stages;
  }
  // Top and bottom of the pipe have no row in the table: they stand for no stage that could be
  // waited for.
  Stages out = stages & ~kCombinedBits;
  for (const StageGroup& combined : kCombined) {
    if ((stages & combined.bit) != 0) {
      out |= combined.stages;
    }
  }
  return out;
}

// Only whole groups are replaced; what is left over is printed bit by bit.
Stages CombinedStages(Stages elementary) {
  Stages rest = elementary;
  Stages out = 0;
  for (const StageGroup& combined : kCombined) {
    if ((rest & combined.stages) == combined.stages) {
      out |= combined.bit;
      rest &= ~combined.stages;
    }
  }
  return out | rest;
}

Accesses ElementaryAccesses(Accesses accesses) {
  // SHADER_READ is an old name for three kinds of reads, and uniform ones are among them.
  constexpr Accesses kShaderReads = VK_ACCESS_2_SHADER_SAMPLED_READ_BIT |
                                    VK_ACCESS_2_SHADER_STORAGE_READ_BIT |
                                    VK_ACCESS_2_UNIFORM_READ_BIT;
  constexpr Accesses kCombinedBits = VK_ACCESS_2_SHADER_READ_BIT | VK_ACCESS_2_SHADER_WRITE_BIT |
                                     VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT;
  if ((accesses & kCombinedBits) == 0) {
    return accesses;
  }
  Accesses out = accesses & ~kCombinedBits;
  if ((accesses & VK_ACCESS_2_SHADER_READ_BIT) != 0) {
    out |= kShaderReads;
  }
  if ((accesses & VK_ACCESS_2_SHADER_WRITE_BIT) != 0) {
    out |= VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;
  }
  // MEMORY_READ and MEMORY_WRITE mean every access of their direction.
  for (const AccessRow& row : kAccesses) {
    const bool write = (row.access & kWriteAccesses) != 0;
    const Accesses all = write ? VK_ACCESS_2_MEMORY_WRITE_BIT : VK_ACCESS_2_MEMORY_READ_BIT;
    if ((accesses & all) != 0) {
      out |= row.access;
    }
  }
  return out;
}

// Looked up by the number of the bit. This is asked for every access of every frame.
Stages StagesOfAccess(Accesses access) {
  static constexpr auto kByBit = [] {
    std::array<Stages, 64> stages{};
    for (const AccessRow& row : kAccesses) {
      stages[static_cast<size_t>(std::countr_zero(row.access))] = row.stages;
    }
    return stages;
  }();
  return access == 0 ? 0 : kByBit[static_cast<size_t>(std::countr_zero(access))];
}

// What a pass may name: a stage outside of its kind is a mistake that the declaration reports.
Stages AllowedStages(PassKind kind) {
  switch (kind) {
    case PassKind::kGraphics:
      return kGraphicsStages;
    case PassKind::kCompute:
      return VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT;
    case PassKind::kTransfer:
      return kTransferStages;
    case PassKind::kHost:
      return VK_PIPELINE_STAGE_2_HOST_BIT;
    case PassKind::kTransition:
      return kCommandStages | VK_PIPELINE_STAGE_2_HOST_BIT;
  }
  return 0;
}

// What an access means whose stages were not written: everything that a pass of this kind may do.
Stages DefaultStages(PassKind kind, Accesses accesses) {
  switch (kind) {
    case PassKind::kGraphics:
      return kGraphicsStages;
    case PassKind::kCompute:
      // A read of arguments alone happens before any shader runs; together with others both stages
      // count.
      if (accesses == VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT) {
        return VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT;
      }
      return VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT |
             ((accesses & VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT) != 0
                  ? VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT
                  : Stages{0});
    case PassKind::kTransfer:
      return kTransferStages;
    case PassKind::kHost:
    // They say their stages themselves, because nothing can be guessed for them.
    case PassKind::kTransition:
      return 0;
  }
  return 0;
}

// From the narrowest layout to the widest: the first that allows all accesses is taken.
std::optional<VkImageLayout> LayoutOfAccess(Accesses accesses, VkImageAspectFlags aspects) {
  constexpr Accesses kColor =
      VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT;
  constexpr Accesses kDepth = VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
                              VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT;
  constexpr Accesses kSampled =
      VK_ACCESS_2_SHADER_SAMPLED_READ_BIT | VK_ACCESS_2_INPUT_ATTACHMENT_READ_BIT;
  constexpr Accesses kStorage =
      VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;
  constexpr VkImageAspectFlags kBoth = VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT;
  // Depth and stencil have layouts of their own, for one aspect and for both.
  const bool depth = (aspects & kBoth) != 0;
  const bool stencil_only = (aspects & kBoth) == VK_IMAGE_ASPECT_STENCIL_BIT;
  const bool both = (aspects & kBoth) == kBoth;
  const auto only = [&](Accesses mask) { return (accesses & ~mask) == 0; };
  // No access at all is "only" anything, and so gets the first layout.
  if (only(kColor)) {
    return VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
  }
  if (only(kDepth) && (accesses & VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT) != 0) {
    return both           ? VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL
           : stencil_only ? VK_IMAGE_LAYOUT_STENCIL_ATTACHMENT_OPTIMAL
                          : VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL;
  }
  // Depth that is tested and sampled at the same time stays in one layout for both.
  if (only(kDepth | (depth ? kSampled : Accesses{0}))) {
    return both           ? VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL
           : stencil_only ? VK_IMAGE_LAYOUT_STENCIL_READ_ONLY_OPTIMAL
                          : VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_OPTIMAL;
  }
  if (only(kSampled)) {
    return VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
  }
  if (only(kStorage)) {
    return VK_IMAGE_LAYOUT_GENERAL;
  }
  if (only(VK_ACCESS_2_TRANSFER_READ_BIT)) {
    return VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
  }
  if (only(VK_ACCESS_2_TRANSFER_WRITE_BIT)) {
    return VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
  }
  // Different kinds of reads together have no layout but the general one. A write together with
  // something else has none that could be guessed, and the author has to say it.
  if ((accesses & kWriteAccesses) == 0) {
    return VK_IMAGE_LAYOUT_GENERAL;
  }
  return std::nullopt;
}

std::string StagesText(Stages stages) { return MaskText(CombinedStages(stages), kStageNames); }

std::string AccessesText(Accesses accesses) { return MaskText(accesses, kAccessNames); }

std::string_view LayoutName(VkImageLayout layout) {
  // Linear in twenty rows; texts are made for messages and dumps only.
  for (const Name& name : kLayoutNames) {
    if (name.bit == static_cast<uint64_t>(layout)) {
      return name.text;
    }
  }
  return "UNKNOWN";
}

std::optional<Stages> ParseStages(std::string_view text) {
  // An empty text is an empty mask here; whether that is allowed, the caller decides.
  return ParseMask(text, kStageNames, "VK_PIPELINE_STAGE_2_");
}

std::optional<Accesses> ParseAccesses(std::string_view text) {
  return ParseMask(text, kAccessNames, "VK_ACCESS_2_");
}

std::optional<VkImageLayout> ParseLayout(std::string_view text) {
  const std::optional<uint64_t> value =
      text == "NONE" ? std::nullopt : ParseOne(text, kLayoutNames, "VK_IMAGE_LAYOUT_");
  if (!value.has_value()) {
    return std::nullopt;
  }
  return static_cast<VkImageLayout>(*value);
}

}  // namespace kiln::graph
