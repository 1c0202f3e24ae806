// SPDX-License-Identifier: MIT
// Private to closing: the state of one CloseSegment run. A block of the open form is a flat list in
// evaluation order, operands before users, so closing is one loop per block and needs no recursion
// over expressions; only nested blocks recurse, and VerifyIds bounds their depth.
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
#include "compiler/ir/closed.h"
#include "compiler/ir/typing.h"
#include "compiler/resolve/answers.h"
#include "compiler/resolve/assigned.h"
#include "compiler/resolve/closer_scratch.h"

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

class SegmentCloser {
 public:
  // `out` is empty, with whatever memory it has.
  SegmentCloser(const Program& program, ir::SegmentId segment, Answers& answers,
                ir::ClosedSegment& out, std::vector<Diagnostic>& diagnostics);
  ~SegmentCloser();
  SegmentCloser(const SegmentCloser&) = delete;
  SegmentCloser& operator=(const SegmentCloser&) = delete;
  bool Run();  // false: there are errors, or its function failed

 private:
  using Slot = CloserScratch::Slot;
  using Survey = CloserScratch::Survey;
  enum class Flow : uint8_t { kGoesOn, kEnds };
  enum class Arrays : uint8_t { kRefused, kAllowed };

  // --- close_segment.cc: the unit and its survey
  void DeclareParameters();
  bool SurveyBlock(ir::BlockId block);  // marks effects; true if the block has one
  bool SurveyInst(uint32_t id);
  void PlanEarlyReads(std::span<const uint32_t> insts);
  void MarkEarly(ir::InstId operand, uint32_t effects_at_user);

  // --- close_statement.cc
  Flow CloseInsts(std::span<const uint32_t> insts);
  using ExpressionCloser = Operand (SegmentCloser::*)(uint32_t);
  static const std::array<ExpressionCloser, std::size(ir::kInstFacts)> kExpressionClosers;
  Flow CloseStatement(uint32_t inst);
  void KeepOperand(uint32_t inst, Operand operand);
  Flow CloseConditionalScope(uint32_t id);
  Flow CloseIf(uint32_t id);
  void NoteComparison(ir::InstId condition);  // 'if (a = b)'
  Flow CloseLoop(uint32_t id);
  Flow CloseJump(uint32_t id);
  Flow CloseReturn(uint32_t id);
  Flow CloseExpressionStatement(uint32_t id);
  bool RefuseContainer(ir::InstId expression);  // reports; true if it is one
  void CloseVariable(uint32_t id);
  void CloseAlias(uint32_t id);
  void CheckNewName(ir::LocalId id);
  bool IsActiveStatement(uint32_t id);
  ir::BlockId CloseNested(ir::BlockId block, Flow* flow);

  // --- close_name.cc, close_place.cc: names, members, items, reading and writing
  Operand CloseNameRef(uint32_t id);
  Operand CloseLocalMention(ir::LocalId id, uint32_t inst);
  bool MayExpand(const ir::Local& alias);
  Operand CloseGlobalMention(std::string_view name, NameId id, uint32_t inst);
  Operand CloseOptionMention(std::string_view kind, std::string_view name, const Value& value,
                             uint32_t inst);
  Operand CloseMemberOf(uint32_t id);
  Operand CloseMember(const Operand& source, std::string_view name, uint32_t inst);
  Operand CloseDeclMember(const Operand& source, ir::DeclId owner, std::string_view name,
                          uint32_t inst);
  Operand CloseContainerField(const Operand& source, const MemberAnswer& field, uint32_t inst);
  Operand CloseComponents(const Operand& source, std::string_view letters, uint32_t inst);
  Operand CloseColumn(const Operand& source, std::string_view letters, uint32_t inst);
  void ReportLetter(uint32_t index, std::string_view letter, std::string_view text, ir::TypeId type,
                    uint32_t inst);
  Operand CloseIndex(uint32_t id);
  bool CheckItemIndex(const Operand& item, uint32_t size, uint32_t id);
  Operand Part(const Operand& source, uint32_t position, ir::TypeId type);
  Operand Step(const Operand& place, ir::InstId step, ir::TypeId type);
  Operand Spill(const Operand& value);
  Operand ConstantPlace(const Operand& constant);
  Operand CloseSpecialised(ir::OptionId id);
  ir::InstId Read(uint32_t operand_inst, const Role& role, Arrays arrays = Arrays::kRefused);
  ir::InstId ReadOperand(Operand& operand, uint32_t operand_inst, const Role& role, Arrays arrays);
  ir::InstId LoadFrom(const Operand& place);
  ir::InstId PlaceInst(const Operand& place);
  void StoreTo(const Operand& place, ir::InstId value);
  void NoteAccess(const Operand& place);  // why a place can be read or written only

  // --- close_operator.cc
  Operand CloseUnary(uint32_t id);
  Operand CloseBinary(uint32_t id);
  Operand CombineBinary(ir::BinaryOp op, ir::InstId left, ir::InstId right, uint32_t id);
  Operand CloseLogical(uint32_t id);
  bool IsMirrored(ir::BinaryOp op, ir::TypeId left, ir::TypeId right) const;
  Operand CloseSelect(uint32_t id);
  bool CheckSelect(uint32_t id, ir::InstId condition, std::span<const ir::InstId> values);
  bool IsPlain(ir::BlockId block) const;
  ir::InstId CloseInline(ir::BlockId block, const Role& role);
  Operand CloseAssign(uint32_t id);
  Operand CloseAssignOp(uint32_t id);
  ir::InstId CloseYield(ir::BlockId block, const Role& role, ir::BlockId* closed);
  void WarnOfConstantOperand(ir::BinaryOp op, ir::InstId right, uint32_t id);
  bool WarnOfConstantItem(ir::BinaryOp op, ir::ConstId item, uint32_t id);
  void NoteConversion(ir::TypeId from, ir::TypeId to);
  void ReportBinary(ir::BinaryOp op, ir::TypeId left, ir::TypeId right, uint32_t id);

  // --- close_construct.cc
  Operand CloseConstruct(uint32_t id);
  Operand ConstructVector(ir::TypeId type, const ScratchList& values, uint32_t id);
  Operand ConstructMatrix(ir::TypeId type, const ScratchList& values, uint32_t id);
  Operand ConstructStruct(ir::TypeId type, const ScratchList& values, uint32_t id);
  Operand ConstructArray(ir::TypeId type, const ScratchList& values, uint32_t id);
  bool IsFloatConstant(ir::InstId value) const;
  Operand CropMatrix(ir::TypeId type, ir::InstId value);

  // --- close_call.cc
  Operand CloseCall(uint32_t id);
  std::string TypesOf(const ir::NameCallInst& call);
  bool CloseArgument(const ir::ClosedMember& parameter, uint32_t argument, const Role& role,
                     ScratchList& passed);
  bool CloseOutArgument(const ir::ClosedMember& parameter, uint32_t argument, const Role& role,
                        ScratchList& passed);
  void LabelParameter(const ir::ClosedMember& parameter);
  void ReportArgumentType(const Role& role, ir::TypeId found, ir::TypeId expected,
                          uint32_t argument);

  // --- close_builtin.cc
  Operand CloseBuiltin(uint32_t id);
  Operand CloseFamily(uint32_t id);
  Operand CloseStageFunction(uint32_t id);
  Operand ReadStageVariable(ir::StageVariable variable);
  Operand WriteStageVariable(ir::StageVariable variable, uint32_t id);
  ir::InstId StagePlace(ir::StageVariable variable);
  Operand CloseArrayLength(uint32_t id);
  Operand CloseAtomic(uint32_t id);
  bool CheckCount(uint32_t id, std::string_view function, size_t expected);
  bool BindTo(ir::Stage stage, std::string_view function, uint32_t id);
  ir::InstId ReadArgument(uint32_t argument, std::string_view function, size_t index,
                          ir::TypeId type);

  // --- close_image.cc
  Operand CloseImageCall(uint32_t id);
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
  void Touched(const Operand& place, ir::Touch touch);
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
  Answers& answers_;
  ir::Pool& pool_;
  const ir::SegmentId segment_id_;
  const uint32_t module_ordinal_;
  const ir::ModuleView& module_;
  const Bases bases_;
  const ir::Segment& segment_;
  const ir::Decl& function_;
  const ir::ClosedDecl* signature_ = nullptr;

  Slot& SlotOf(uint32_t inst) {
    Slot& slot = slots_[inst - first_inst_];
    if (slot.epoch != epoch_) {
      slot = {.epoch = epoch_};
    }
    return slot;
  }

  CloserScratch& scratch_;
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

  ir::ClosedSegment& out_;
  std::vector<Diagnostic>& diagnostics_;
};

}  // namespace kiln::resolve
