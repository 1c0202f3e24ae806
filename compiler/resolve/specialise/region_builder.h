// SPDX-License-Identifier: MIT
// The region under construction: what all functions that specialise its parts share. It holds the
// generic instructions that are read, the evaluator that knows the variant, the region that is
// written, and the operands that instructions came to. What is done with them is in free functions,
// a file for each concept (specialise_*, place_access), which take the builder as their first
// argument; it knows none of them.
//
// A generic instruction becomes an Operand: a value that exists, or a place that is read or written
// only when its consumer says so. One builder at a time per evaluator, whose scratch memory it
// uses.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/push.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/ir/builtins.h"
#include "compiler/ir/specialised.h"
#include "compiler/ir/typing/operator_typing.h"
#include "compiler/ir/typing/typing.h"
#include "compiler/resolve/checks/assigned.h"
#include "compiler/resolve/specialise/specialiser_scratch.h"
#include "compiler/resolve/values/variant_evaluator.h"

namespace kiln::resolve {

class RegionBuilder {
 public:
  using Slot = SpecialiserScratch::Slot;
  using Survey = SpecialiserScratch::Survey;
  // Of aliases, for specialise_local alone.
  struct AliasState {
    std::vector<ir::LocalId> poisoned;  // their expression failed; ascending
    uint32_t depth = 0;                 // being expanded
    bool too_large = false;             // said already
  };

  // `out` is empty, with whatever memory it has.
  RegionBuilder(const Program& program, ir::RegionId region, VariantEvaluator& answers,
                ir::SpecialisedRegion& out, std::vector<Diagnostic>& diagnostics);
  ~RegionBuilder();
  RegionBuilder(const RegionBuilder&) = delete;
  RegionBuilder& operator=(const RegionBuilder&) = delete;

  // --- what is read
  const Program& program() const { return program_; }
  VariantEvaluator& answers() const { return answers_; }
  ir::Pool& pool() const { return pool_; }
  ir::RegionId id() const { return id_; }
  uint32_t module_ordinal() const { return module_ordinal_; }
  const ir::ModuleView& module() const { return module_; }
  const Bases& bases() const { return bases_; }
  const ir::Region& generic() const { return region_; }  // as the front end made it
  const ir::Decl& function() const { return function_; }
  const ir::SpecialisedDecl* signature() const { return signature_; }  // of the function
  void SetSignature(const ir::SpecialisedDecl* signature) { signature_ = signature; }
  const ir::Inst& Generic(uint32_t inst) const { return module_.insts[inst]; }
  ir::CexprId Global(ir::CexprId local) const { return ir::CexprId{bases_.cexpr + local.value}; }
  ir::LocalId Global(ir::LocalId local) const { return ir::LocalId{bases_.local + local.value}; }
  bool Has(ir::ModuleRule rule) const { return module_.header.Has(rule); }
  bool IsVersion2() const { return module_.header.version >= 2; }
  ir::TypingRules rules() const {
    return IsVersion2() ? ir::TypingRules::kRpl2 : ir::TypingRules::kRpl1;
  }

  // --- what is written
  ir::SpecialisedRegion& out() const { return out_; }
  void Reserve(size_t insts);
  void DeclareParameters();  // of the signature, as locals
  ir::InstId Emit(const ir::Inst& inst);
  ir::ListId EmitList(std::span<const uint32_t> items);
  ir::ListId EmitList(const ScratchList& list) { return EmitList(list.items()); }
  ir::InstId EmitUint(uint32_t value);
  ir::InstId EmitConst(ir::ConstId value);
  ir::TypeId TypeOf(ir::InstId inst) const { return out_.insts[inst.value].type; }
  Operand ValueOf(ir::InstId inst) const;   // an operand for an emitted value
  Operand ResultOf(ir::InstId inst) const;  // the same of a call, which may be void
  void MarkRelaxed(bool relaxed, ir::InstId inst) {
    if (relaxed) {
      out_.relaxed.push_back(inst.value);
    }
  }
  void BeginBlock() {
    scratch_.open_blocks.push_back(static_cast<uint32_t>(scratch_.pending.size()));
  }
  // Nothing that follows in the open block can run.
  bool BlockHasEnded() const { return RowsEnd(scratch_.open_blocks.back()); }
  ir::BlockId EndBlock();
  void DropBlock();
  void Touched(const Operand& place, ir::MemberUse touch);
  void Mentioned(ir::DeclId decl, ir::MemberId member, ir::Direction direction, uint8_t touches);

  // --- in between
  SpecialiserScratch& scratch() const { return scratch_; }
  Operand& OperandOf(ir::InstId inst) { return operands_[SlotOf(inst.value).operand]; }
  void SetOperand(uint32_t inst, const Operand& operand) {
    SlotOf(inst).operand = static_cast<uint32_t>(operands_.size());
    Push(operands_, operand);
  }
  Survey& SurveyOf(uint32_t inst) { return survey_[inst]; }
  // The type of a local variable; not `known`: this region did not need it so far.
  ir::TypeId& LocalTypeOf(ir::LocalId local, bool& known);
  std::vector<ir::InstId>& steps() const { return steps_; }  // of places, for place_access alone
  AliasState& aliases() { return aliases_; }
  std::vector<BareDeclaration>& bare() { return bare_; }  // variables without an initialiser
  // The generic instruction that emitted rows belong to.
  uint32_t current() const { return current_; }
  void SetCurrent(uint32_t inst) { current_ = inst; }
  // The first row of the current statement.
  uint32_t statement_begin() const { return statement_begin_; }
  void SetStatementBegin(uint32_t inst) { statement_begin_ = inst; }

  // --- what is wrong
  void Report(Diagnostic diagnostic) { diagnostics_.push_back(std::move(diagnostic)); }
  std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  // Something failed, whoever said why.
  void FailIf(bool failed) { failed_ = failed_ || failed; }
  bool failed() const { return failed_; }
  Location At(ir::SpanId span) const;
  Location MainOf(uint32_t inst) const;
  Location AuxOf(uint32_t inst) const;  // main if there is none
  std::string TextOf(uint32_t inst) const;
  std::string TypeName(ir::TypeId type) const;
  std::string_view FamilyText(ir::Builtin builtin, ir::TypeId type);
  std::string_view WrittenText(ir::TypeId open);  // of a type of the module

 private:
  bool RowsEnd(uint32_t first) const;  // the pending rows from here on
  Slot& SlotOf(uint32_t inst) {
    Slot& slot = slots_[inst - first_inst_];
    if (slot.epoch != epoch_) {
      slot = {.epoch = epoch_};
    }
    return slot;
  }
  template <class Make>
  std::string_view KnownText(uint64_t key, Make make);  // valid as long as the evaluator

  const Program& program_;
  VariantEvaluator& answers_;
  ir::Pool& pool_;
  const ir::RegionId id_;
  const uint32_t module_ordinal_;
  const ir::ModuleView& module_;
  const Bases bases_;
  const ir::Region& region_;
  const ir::Decl& function_;
  const ir::SpecialisedDecl* signature_ = nullptr;

  SpecialiserScratch& scratch_;
  const uint32_t first_inst_;  // of the function
  std::vector<Slot>& slots_;   // by instruction of the function
  uint32_t epoch_ = 0;         // of this region: other slots are as good as empty
  std::span<Survey> survey_;   // by instruction of the module
  std::vector<Operand>& operands_;
  std::vector<ir::InstId>& steps_;
  AliasState aliases_;
  std::vector<BareDeclaration> bare_;
  bool failed_ = false;
  uint32_t current_ = 0;
  uint32_t statement_begin_ = 0;

  ir::SpecialisedRegion& out_;
  std::vector<Diagnostic>& diagnostics_;
};

}  // namespace kiln::resolve
