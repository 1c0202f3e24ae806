// SPDX-License-Identifier: MIT
// Vulkan's table of stages and accesses as data: which access is possible in which stage, what a
// combined bit stands for, the layout that follows from an access, and the names of all of them.
// Inside the graph every mask is elementary: ALL_TRANSFER is COPY, RESOLVE, BLIT and CLEAR.
// Spec: Vulkan 1.3, table "Supported access types"; spec/graph 4.1, 4.4
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/graph/types.h"

namespace kiln::graph {

using Stages = VkPipelineStageFlags2;
using Accesses = VkAccessFlags2;

// Combined bits replaced by what they stand for; TOP_OF_PIPE and BOTTOM_OF_PIPE stand for nothing.
Stages ElementaryStages(Stages stages);
// MEMORY_READ and MEMORY_WRITE stand for every access that is known.
Accesses ElementaryAccesses(Accesses accesses);
// The shortest mask that means the same, as Vulkan and people see it.
Stages CombinedStages(Stages elementary);

inline constexpr Accesses kWriteAccesses =
    VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT |
    VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT |
    VK_ACCESS_2_HOST_WRITE_BIT;

// Elementary stages in which the elementary access is possible.
Stages StagesOfAccess(Accesses access);
// Whether the access is possible in the stage; both are one elementary bit.
inline bool IsPossible(Stages stage, Accesses access) {
  return (StagesOfAccess(access) & stage) != 0;
}

// Elementary stages that a pass may name, and those of an access that names none.
Stages AllowedStages(PassKind kind);
Stages DefaultStages(PassKind kind, Accesses accesses);

// nullopt: the accesses have no common layout. Requires: accesses are elementary and not empty.
std::optional<VkImageLayout> LayoutOfAccess(Accesses accesses, VkImageAspectFlags aspects);

// Names without prefix and suffix, as "COMPUTE_SHADER|COPY"; an empty mask is "NONE".
std::string StagesText(Stages stages);
std::string AccessesText(Accesses accesses);
std::string_view LayoutName(VkImageLayout layout);
// nullopt: not a name.
std::optional<Stages> ParseStages(std::string_view text);
std::optional<Accesses> ParseAccesses(std::string_view text);
std::optional<VkImageLayout> ParseLayout(std::string_view text);

}  // namespace kiln::graph
