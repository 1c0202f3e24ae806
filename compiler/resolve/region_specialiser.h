// SPDX-License-Identifier: MIT
// Private to closing: the state of one SpecialiseRegion run. A block of the open form is a flat
// list in evaluation order, operands before users, so closing is one loop per block and needs no
// recursion over expressions; only nested blocks recurse, and VerifyIds bounds their depth.
//
// An open instruction becomes an Operand: a value that exists, or a place that is read or written
// only when its consumer says so. Members are spread over close_*.cc by concept.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/ir/builtins.h"
#include "compiler/ir/specialised.h"
#include "compiler/ir/typing.h"
#include "compiler/resolve/assigned.h"
#include "compiler/resolve/specialiser_scratch.h"
#include "compiler/resolve/variant_evaluator.h"

namespace kiln::resolve {

// What an operand is for, spelled only when a message needs it.
struct Role {
  enum class Form : uint8_t {
    kLeft,
    kRight,
    kOperand,
    kArgument,
    kConstructor,
    kCondition,
    kPlain
  };
  Form form = Form::kPlain;
  std::string_view text;  // operator, function, type, keyword or the whole role
  uint32_t index = 0;     // from 1
};
std::string RoleText(const Role& role);

class RegionSpecialiser {
 public:
  // `out` is empty, with whatever memory it has.
  RegionSpecialiser(const Program& program, ir::RegionId segment, VariantEvaluator& answers,
                    ir::SpecialisedRegion& out, std::vector<Diagnostic>& diagnostics);
  ~RegionSpecialiser();
  RegionSpecialiser(const RegionSpecialiser&) = delete;
  RegionSpecialiser& operator=(const RegionSpecialiser&) = delete;
  bool Run();  // false: there are errors, or its function failed

 private:
  using Slot = SpecialiserScratch::Slot;
  using Survey = SpecialiserScratch::Survey;
  enum class Flow : uint8_t { kGoesOn, kEnds };
  enum class Arrays : uint8_t { kRefused, kAllowed };

  // --- specialise_region.cc: the unit and its survey
  void DeclareParameters();
  bool SurveyBlock(ir::BlockId block);  // marks effects; true if the block has one
  bool SurveyInst(uint32_t id);
  void PlanEarlyReads(std::span<const uint32_t> insts);
  void MarkEarly(ir::InstId operand, uint32_t effects_at_user);

  // --- specialise_statement.cc
  Flow SpecialiseInsts(std::span<const uint32_t> insts);
  using ExpressionCloser = Operand (RegionSpecialiser::*)(uint32_t);
  static const std::array<ExpressionCloser, std::size(ir::kInstFacts)> kExpressionClosers;
  Flow SpecialiseStatement(uint32_t inst);
  void KeepOperand(uint32_t inst, Operand operand);
  Flow SpecialiseConditionalScope(uint32_t id);
  Flow SpecialiseIf(uint32_t id);
  void NoteComparison(ir::InstId condition);  // 'if (a = b)'
  Flow SpecialiseLoop(uint32_t id);
  Flow SpecialiseJump(uint32_t id);
  Flow SpecialiseReturn(uint32_t id);
  Flow SpecialiseExpressionStatement(uint32_t id);
  bool RefuseContainer(ir::InstId expression);  // reports; true if it is one
  void SpecialiseVariable(uint32_t id);
  void SpecialiseAlias(uint32_t id);
  void CheckNewName(ir::LocalId id);
  bool IsActiveStatement(uint32_t id);
  ir::BlockId SpecialiseNested(ir::BlockId block, Flow* flow);

  // --- specialise_name.cc, specialise_place.cc: names, members, items, reading and writing
  Operand SpecialiseNameRef(uint32_t id);
  Operand SpecialiseLocalMention(ir::LocalId id, uint32_t inst);
  bool MayExpand(const ir::Local& alias);
  Operand SpecialiseGlobalMention(std::string_view name, NameId id, uint32_t inst);
  Operand SpecialiseOptionMention(std::string_view kind, std::string_view name, const Value& value,
                                  uint32_t inst);
  Operand SpecialiseMemberOf(uint32_t id);
  Operand SpecialiseMember(const Operand& source, std::string_view name, uint32_t inst);
  Operand SpecialiseDeclMember(const Operand& source, ir::DeclId owner, std::string_view name,
                               uint32_t inst);
  Operand SpecialiseContainerField(const Operand& source, const MemberResolution& field,
                                   uint32_t inst);
  Operand SpecialiseComponents(const Operand& source, std::string_view letters, uint32_t inst);
  Operand SpecialiseColumn(const Operand& source, std::string_view letters, uint32_t inst);
  void ReportLetter(uint32_t index, std::string_view letter, std::string_view text, ir::TypeId type,
                    uint32_t inst);
  Operand SpecialiseIndex(uint32_t id);
  bool CheckItemIndex(const Operand& item, uint32_t size, uint32_t id);
  Operand Part(const Operand& source, uint32_t position, ir::TypeId type);
  Operand Step(const Operand& place, ir::InstId step, ir::TypeId type);
  Operand Spill(const Operand& value);
  Operand ConstantPlace(const Operand& constant);
  Operand SpecialiseSpecialised(ir::OptionId id);
  ir::InstId Read(uint32_t operand_inst, const Role& role, Arrays arrays = Arrays::kRefused);
  ir::InstId ReadOperand(Operand& operand, uint32_t operand_inst, const Role& role, Arrays arrays);
  ir::InstId LoadFrom(const Operand& place);
  ir::InstId PlaceInst(const Operand& place);
  void StoreTo(const Operand& place, ir::InstId value);
  void NoteAccess(const Operand& place);  // why a place can be read or written only

  // --- specialise_operator.cc
  Operand SpecialiseUnary(uint32_t id);
  Operand SpecialiseBinary(uint32_t id);
  Operand CombineBinary(ir::BinaryOp op, ir::InstId left, ir::InstId right, uint32_t id);
  Operand SpecialiseLogical(uint32_t id);
  bool IsMirrored(ir::BinaryOp op, ir::TypeId left, ir::TypeId right) const;
  Operand SpecialiseSelect(uint32_t id);
  bool CheckSelect(uint32_t id, ir::InstId condition, std::span<const ir::InstId> values);
  bool IsPlain(ir::BlockId block) const;
  ir::InstId SpecialiseInline(ir::BlockId block, const Role& role);
  Operand SpecialiseAssign(uint32_t id);
  Operand SpecialiseAssignOp(uint32_t id);
  ir::InstId SpecialiseYield(ir::BlockId block, const Role& role, ir::BlockId* closed);
  void WarnOfConstantOperand(ir::BinaryOp op, ir::InstId right, uint32_t id);
  bool WarnOfConstantItem(ir::BinaryOp op, ir::ConstId item, uint32_t id);
  void NoteConversion(ir::TypeId from, ir::TypeId to);
  void ReportBinary(ir::BinaryOp op, ir::TypeId left, ir::TypeId right, uint32_t id);

  // --- specialise_construct.cc
  Operand SpecialiseConstruct(uint32_t id);
  Operand ConstructVector(ir::TypeId type, const ScratchList& values, uint32_t id);
  Operand ConstructMatrix(ir::TypeId type, const ScratchList& values, uint32_t id);
  Operand ConstructStruct(ir::TypeId type, const ScratchList& values, uint32_t id);
  Operand ConstructArray(ir::TypeId type, const ScratchList& values, uint32_t id);
  bool IsFloatConstant(ir::InstId value) const;
  Operand CropMatrix(ir::TypeId type, ir::InstId value);

  // --- specialise_call.cc
  Operand SpecialiseCall(uint32_t id);
  std::string TypesOf(const ir::NameCallInst& call);
  bool SpecialiseArgument(const ir::SpecialisedMember& parameter, uint32_t argument,
                          const Role& role, ScratchList& passed);
  bool SpecialiseOutArgument(const ir::SpecialisedMember& parameter, uint32_t argument,
                             const Role& role, ScratchList& passed);
  void LabelParameter(const ir::SpecialisedMember& parameter);
  void ReportArgumentType(const Role& role, ir::TypeId found, ir::TypeId expected,
                          uint32_t argument);

  // --- specialise_builtin.cc
  Operand SpecialiseBuiltin(uint32_t id);
  Operand SpecialiseFamily(uint32_t id);
  Operand SpecialiseStageFunction(uint32_t id);
  Operand ReadStageVariable(ir::StageVariable variable);
  Operand WriteStageVariable(ir::StageVariable variable, uint32_t id);
  ir::InstId StagePlace(ir::StageVariable variable);
  Operand SpecialiseArrayLength(uint32_t id);
  Operand SpecialiseAtomic(uint32_t id);
  bool CheckCount(uint32_t id, std::string_view function, size_t expected);
  bool BindTo(ir::Stage stage, std::string_view function, uint32_t id);
  ir::InstId ReadArgument(uint32_t argument, std::string_view function, size_t index,
                          ir::TypeId type);

  // --- specialise_image.cc
  Operand SpecialiseImageCall(uint32_t id);
  bool CheckHandle(uint32_t argument, uint32_t index, ir::TypeKind kind, std::string_view function);
  bool CheckImage(ir::Builtin builtin, uint32_t argument, size_t index);
  bool ReadImageOperands(uint32_t id, std::span<const uint32_t> arguments,
                         const ir::Signature& expected, ScratchList& values);
  Operand EmitImageCall(uint32_t id, const ScratchList& values, ir::TypeId result);
  ir::InstId ImageCoordinate(const ir::ImageTraits& traits, bool samples,
                             const ScratchList& values);

  // --- small things
  ir::InstId Emit(const ir::Inst& inst);
  void MarkRelaxed(bool relaxed, ir::InstId inst) {
    if (relaxed) {
      out_.relaxed.push_back(inst.value);
    }
  }
  ir::ListId EmitList(std::span<const uint32_t> items);
  ir::ListId EmitList(const ScratchList& list) { return EmitList(list.items()); }
  ir::InstId EmitUint(uint32_t value);
  ir::InstId EmitConst(ir::ConstId value);
  Operand ValueOf(ir::InstId inst) const;   // an operand for an emitted value
  Operand ResultOf(ir::InstId inst) const;  // the same of a call, which may be void
  bool IsVersion2() const { return module_.header.version >= 2; }
  ir::TypingRules rules() const {
    return IsVersion2() ? ir::TypingRules::kRpl2 : ir::TypingRules::kRpl1;
  }
  ir::TypeId TypeOf(ir::InstId inst) const { return out_.insts[inst.value].type; }
  std::string TypeName(ir::TypeId type) const;
  template <class Make>
  std::string_view KnownText(uint64_t key, Make make);  // valid as long as the answers
  std::string_view FamilyText(ir::Builtin builtin, ir::TypeId type);
  std::string_view WrittenText(ir::TypeId open);  // of a type of the module
  ir::TypeId& LocalTypeOf(ir::LocalId local, bool& known);
  void BeginBlock() {
    scratch_.open_blocks.push_back(static_cast<uint32_t>(scratch_.pending.size()));
  }
  ir::BlockId EndBlock();
  void DropBlock();
  void Touched(const Operand& place, ir::MemberUse touch);
  void Mentioned(ir::DeclId decl, ir::MemberId member, ir::Direction direction, uint8_t touches);
  Operand& OperandOf(ir::InstId inst) { return operands_[SlotOf(inst.value).operand]; }
  Survey& SurveyOf(uint32_t inst) { return survey_[inst]; }

  const ir::Inst& Open(uint32_t inst) const { return module_.insts[inst]; }
  std::string TextOf(uint32_t inst) const;
  Location At(ir::SpanId span) const;
  Location MainOf(uint32_t inst) const;
  Location AuxOf(uint32_t inst) const;  // main if there is none
  void Report(Diagnostic diagnostic) { diagnostics_.push_back(std::move(diagnostic)); }
  ir::CexprId Global(ir::CexprId local) const { return ir::CexprId{bases_.cexpr + local.value}; }
  ir::LocalId Global(ir::LocalId local) const { return ir::LocalId{bases_.local + local.value}; }

  const Program& program_;
  VariantEvaluator& answers_;
  ir::Pool& pool_;
  const ir::RegionId segment_id_;
  const uint32_t module_ordinal_;
  const ir::ModuleView& module_;
  const Bases bases_;
  const ir::Region& segment_;
  const ir::Decl& function_;
  const ir::SpecialisedDecl* signature_ = nullptr;

  Slot& SlotOf(uint32_t inst) {
    Slot& slot = slots_[inst - first_inst_];
    if (slot.epoch != epoch_) {
      slot = {.epoch = epoch_};
    }
    return slot;
  }

  SpecialiserScratch& scratch_;
  const uint32_t first_inst_;  // of the function
  std::vector<Slot>& slots_;   // by instruction of the function
  uint32_t epoch_ = 0;         // of this segment: other slots are as good as empty
  std::span<Survey> survey_;   // by instruction of the module
  std::vector<Operand>& operands_;
  std::vector<ir::InstId>& steps_;
  std::vector<ir::LocalId> poisoned_;  // aliases whose expression failed, ascending
  std::vector<BareDeclaration> bare_;
  uint32_t alias_depth_ = 0;      // aliases being expanded
  bool too_large_ = false;        // said already
  bool failed_ = false;           // something is poisoned, whoever said why
  uint32_t current_ = 0;          // open instruction that emitted rows belong to
  uint32_t statement_begin_ = 0;  // first row of the current statement

  ir::SpecialisedRegion& out_;
  std::vector<Diagnostic>& diagnostics_;
};

}  // namespace kiln::resolve
