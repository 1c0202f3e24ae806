// SPDX-License-Identifier: MIT
// The functions that entry points reach: closes each once per variant (once per stage if it is
// stage-sensitive), finds recursion and functions that are bound to one stage and reached from
// another. Spec: rpl.md 8.7, 8.9.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/resolve/answers.h"
#include "compiler/resolve/close_variant.h"

namespace kiln::resolve {

class Reach {
 public:
  // All arguments outlive it. `entries` are the entry functions, for RPL5008.
  Reach(const Program& program, std::span<const ir::DeclId> entries, Answers& answers, Units& units,
        std::vector<Diagnostic>& diagnostics);

  // Fills functions and live options of an entry. Diagnostics: RPL5008, RPL5012, RPL5020, those of
  // holes and of segments.
  void Walk(ir::EntryRef& entry);

  // Whether a segment failed, so that what it mentions is not known.
  bool incomplete() const { return incomplete_; }

 private:
  struct Call {
    ir::DeclId callee;
    Location where;
  };
  struct Function {
    ir::FunctionRef ref;
    Bitset reads;
    std::vector<Call> calls;
    bool touches_stage = false;  // itself, not through calls
    uint32_t walked_by = 0;      // number of the last walk that reached it
    bool on_path = false;
  };
  struct Step {
    Function* function;
    size_t next_call = 0;
  };

  Function& Close(ir::DeclId id);
  void CloseSegments(Function& function);
  void CollectMentions(Function& function);
  void Descend(Function& function, ir::EntryRef& entry);
  void Follow(const Call& call, ir::EntryRef& entry);
  void Leave(Function& function, ir::Stage stage);
  bool IsBoundElsewhere(ir::DeclId id, ir::Stage stage) const;
  void ReportRecursion(ir::DeclId callee);
  void ReportBound(const Call& call, ir::Stage stage);

  const Program& program_;
  std::span<const ir::DeclId> entries_;
  Answers& answers_;
  Units& units_;
  std::vector<Diagnostic>& diagnostics_;
  ir::Stage stage_ = ir::Stage::kVertex;
  uint32_t walk_ = 0;
  std::deque<Function> functions_;      // stable addresses
  FlatMap<uint64_t, Function*> known_;  // by declaration and, if sensitive, stage
  FlatMap<uint32_t, ir::Stage> bound_;  // by declaration: the stage of functions bound to one
  std::vector<Step> path_;
  bool incomplete_ = false;
};

}  // namespace kiln::resolve
