// SPDX-License-Identifier: MIT
// What closing may ask about one variant. Answers is the only thing through which closing can see
// option values; every answer is computed at most once per variant, on first use, together with its
// read set (the options read on the way). See architecture.md 7 and 10.2.
//
// An answer that failed is poisoned: whoever asked adds no message of its own, except that the
// asker of an expression reports why with ReportFailure, because only the asker knows the spans.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/base/bitset.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/ir/closed.h"
#include "compiler/resolve/options.h"
#include "compiler/resolve/program.h"
#include "compiler/resolve/units.h"

namespace kiln::resolve {

// Value of a compile-time expression, option or constant.
struct Value {
  ir::ValueKind kind = ir::ValueKind::kFailed;
  bool instance = false;  // rests on an instance option (taint)
  uint32_t bits = 0;      // flag 0/1, uint, sint, float bits; string: StringId of the Pool
  friend bool operator==(const Value&, const Value&) = default;
  bool failed() const { return kind == ir::ValueKind::kFailed; }
};

// Which declaration a name denotes.
struct NameAnswer {
  enum class Kind : uint8_t { kNone, kConflict, kFailed, kDecl, kOption, kConstant };
  Kind kind = Kind::kNone;
  uint32_t id = ir::kNoRow;  // DeclId (kDecl, kConstant; kConflict: the first) or OptionId
  ir::DeclId decl() const { return ir::DeclId{id}; }
  ir::OptionId option() const { return ir::OptionId{id}; }
};

// A member of a declaration by name.
struct MemberAnswer {
  enum class Kind : uint8_t { kNone, kFailed, kField, kAlias };
  Kind kind = Kind::kNone;
  uint32_t position = 0;  // among the live fields
  ir::TypeId type;        // closed; of a field
  ir::MemberId member;    // program-wide
};

class Answers {
 public:
  // All referenced objects must outlive the answers. `units` may be null if no declaration is
  // asked.
  Answers(const Program& program, const OptionValues& values, ir::Pool& pool, Units* units);

  const Program& program() const { return program_; }
  ir::Pool& pool() { return pool_; }

  // --- the questions -----------------------------------------------------------------------------
  Value ValueOf(ir::CexprId cexpr);   // program-wide id
  bool Holds(ir::CexprId condition);  // false if it failed or is no flag
  NameAnswer Function(NameId name);   // the one live function
  NameAnswer Struct(NameId name);
  NameAnswer Global(NameId name);  // option, constant, container, buffer, sampler, image, …
  Value Option(ir::OptionId option);
  Value Constant(ir::DeclId constant);
  MemberAnswer Member(ir::DeclId owner, NameId name);  // struct, container, buffer, push constant
  std::span<const NameId> AliasPath(
      ir::MemberId alias);                      // field alias: names from the owner, expanded
  const ir::ClosedDecl* Decl(ir::DeclId decl);  // null if it failed; in-progress = cycle
  ir::Stage stage();                            // the stage being compiled for

  // Adds the diagnostics of a failed or ill-typed expression. `run` is the first of its spans in
  // pre-order (cexpr.h); nothing is added for names of failed constants.
  void ReportFailure(ir::CexprId cexpr, Location run, std::vector<Diagnostic>& diagnostics);

  // The same for a condition, which must also be a flag (RPL3018).
  void ReportCondition(ir::CexprId condition, Location run, std::vector<Diagnostic>& diagnostics);

  // --- for the walk ------------------------------------------------------------------------------
  void SetStage(ir::Stage stage) { stage_ = stage; }
  // Read sets: everything read since Begin until End is united into the result; calls nest.
  void BeginReads();
  Bitset EndReads();

 private:
  const Program& program_;
  const OptionValues& values_;
  ir::Pool& pool_;
  Units* units_;
  ir::Stage stage_ = ir::Stage::kVertex;
  // memo tables: see answers.cc
};

}  // namespace kiln::resolve
