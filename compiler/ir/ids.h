// SPDX-License-Identifier: MIT
// The typed indices of the IR. An id is a row number of one table and nothing else: it is never
// ordered, printed or hashed into an output, because row numbers depend on history.
//
// Inside a module image ids count rows of that module. After linking, DeclId, MemberId, LocalId,
// RegionId and OptionId are also used program-wide: resolve::Program adds the base of the module.
#pragma once

#include <cstdint>

#include "compiler/base/id.h"

namespace kiln::ir {

using StringId = Id<struct StringTag>;  // interned text
using TypeId = Id<struct TypeTag>;      // types.h
using ConstId = Id<struct ConstTag>;    // types.h
using OptionId = Id<struct OptionTag>;  // decls.h
using CexprId = Id<struct CexprTag>;    // cexpr.h; row 0 is the literal `true`
using DeclId = Id<struct DeclTag>;      // decls.h
using MemberId = Id<struct MemberTag>;  // decls.h
using LocalId = Id<struct LocalTag>;    // decls.h: parameters, locals, scope aliases, loop exits
using InstId = Id<struct InstTag>;      // insts.h
using BlockId = Id<struct BlockTag>;    // insts.h: a range of block_insts
using ListId = Id<struct ListTag>;      // position in `extra`: a count, then that many words
using RegionId = Id<struct RegionTag>;  // spec/architecture 10.1
using SpanId = Id<struct SpanTag>;      // row of the span table of one module

// "No row" in a raw word; the value of every invalid id.
inline constexpr uint32_t kNoRow = Id<struct RowTag>::kNone;

// Deepest nesting of blocks and expressions together, of types and of compile-time expressions that
// a generic module may hold; so recursion over a verified module is safe. Front ends refuse deeper
// sources before they build. A left operand is no level deeper than its user (`a + b + c`,
// `a.b.c`): chains have any length and are walked by loops.
inline constexpr uint32_t kMaxNesting = 1024;

}  // namespace kiln::ir
