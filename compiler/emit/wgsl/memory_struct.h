// SPDX-License-Identifier: MIT
// Structs as they lie in memory: declarations with the padding that the layout asks for. A runtime
// array is a member of its block, because WGSL has them nowhere else: the members of a last struct
// that ends in one stand in its place. See spec/wgsl 3.8; spec/rpl 11.2.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "compiler/emit/wgsl/types.h"
#include "compiler/layout/ir_types.h"
#include "compiler/layout/rules.h"

namespace kiln::wgsl {

// Whether a member of a block is not there, but its own members are.
bool StandsForItsMembers(const ir::Pool& pool, ir::TypeId type);

// The name of a member of a block; `path`: of the member that it stands for, or empty.
std::string BlockMemberName(const std::string& path, std::string_view member);

// "struct name {…}" of a struct that values have.
std::string StructText(ir::TypeId type, Types& types);
// The same with the atomic leaves of a variable, of which the struct has those from `first` on.
std::string AtomicStructText(ir::TypeId type, std::span<const uint32_t> atomic, uint32_t first,
                             Types& types);
// Of the block of a buffer or push constant.
std::string BlockText(const std::string& name, ir::TypeId type, layout::Rules rules,
                      std::span<const uint32_t> atomic, Types& types, layout::TypeLayouts& layouts);

}  // namespace kiln::wgsl
