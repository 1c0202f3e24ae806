// SPDX-License-Identifier: MIT
// Needs of a module: capabilities and extensions as one bit each, so that the needs of parts unite
// with `or`. The table is capabilities.def.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/target/target.h"

namespace kiln::target {

enum class Need : uint8_t {
#define KILN_NEED(name, capability, core, extension) k##name,
#include "compiler/target/capabilities.def"
};

using Needs = uint64_t;  // bit = Need
inline constexpr uint32_t kNeedCount = 0
#define KILN_NEED(name, capability, core, extension) +1
#include "compiler/target/capabilities.def"
    ;
static_assert(kNeedCount <= 64);
constexpr Needs BitOf(Need need) { return Needs{1} << static_cast<uint32_t>(need); }

// Capability numbers in ascending order.
std::vector<uint32_t> CapabilitiesOf(Needs needs);
// Extensions that a module of this version has to declare, each once, in alphabetical order.
std::vector<std::string_view> ExtensionsOf(Needs needs, uint32_t spirv_version);

}  // namespace kiln::target
