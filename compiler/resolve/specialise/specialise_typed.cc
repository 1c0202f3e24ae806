// SPDX-License-Identifier: MIT
// One loop over the rows of a block; what an operand is follows from its schema. Decisions have a
// case of their own, and so have kinds that count members of structs: one whose condition does not
// hold is gone, and the others move up. It types nothing: what comes out is judged by the verifier.
#include "compiler/resolve/specialise/specialise_typed.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/ir/enum_names.h"
#include "compiler/ir/operands.h"
#include "compiler/ir/summary.h"
#include "compiler/ir/verify/verify.h"
#include "compiler/resolve/specialise/specialise_name.h"
#include "compiler/resolve/typed_types.h"
#include "compiler/resolve/versions/entry_code.h"
#include "compiler/resolve/versions/initial_values.h"
#include "compiler/resolve/versions/place_code.h"

namespace kiln::resolve {
namespace {

using ir::InstKind;

// Maps the rows of one region of a typed module to those of the variant.
class TypedRegion {
 public:
  explicit TypedRegion(RegionBuilder& region) : region_(region), types_(region) {}

  bool Run() {
    const ir::Decl& function = region_.function();
    // The rows of any other function are the same, however it is reached.
    if (function.member_count != 0 ||
        module().types[function.type.value].kind != ir::TypeKind::kVoid ||
        region_.program().Initialises(region_.module_ordinal())) {
      entry_ = region_.answers().entry();
    }
    places_ = PlacesOf(region_);
    region_.out().body = Body();
    if (region_.failed()) {
      return false;
    }
    // Mentions are read off the rows that came out, as nobody noted them on the way.
    ir::Summarise(region_.out());
    for (ir::Mention& mention : region_.out().mentions) {
      mention.span = ir::SpanId{};
    }
    const Result<void> verdict = ir::Verify(region_.out(), region_.pool());
    if (!verdict.ok()) {
      ReportIllTyped(region_, verdict.error().context);
    }
    return verdict.ok();
  }

 private:
  const ir::ModuleView& module() const { return region_.module(); }

  // --- blocks
  ir::BlockId Body();
  ir::BlockId Block(ir::BlockId open) {
    region_.BeginBlock();
    Insts(module().InstsOf(open));
    return region_.EndBlock();
  }
  void Insts(std::span<const uint32_t> insts) {
    for (const uint32_t row : insts) {
      CheckStop();
      if (region_.failed() || region_.BlockHasEnded()) {  // by a `when` before this row
        return;
      }
      region_.SetCurrent(row);
      Inst(row, module().insts[row]);
    }
  }
  void Inst(uint32_t row, const ir::Inst& inst);
  void Decided(uint32_t row, const ir::Inst& inst);
  ir::OptionId SpecialisedOption(ir::CexprId expression);

  // --- operands
  ir::InstId Value(uint32_t row) const {
    const ir::InstId* found = values_.Find(row);
    // Values stand above their uses, and ids were verified when the module was loaded.
    KILN_CHECK(found != nullptr, "an operand that was not specialised");
    return *found;
  }
  std::vector<uint32_t> Values(ir::ListId list) const {
    std::vector<uint32_t> values;
    for (const uint32_t word : module().List(list)) {
      values.push_back(Value(word).value);
    }
    return values;
  }
  uint32_t Operand(const ir::Inst& inst, const ir::Operand& operand);
  uint32_t Blocks(ir::ListId list);
  uint32_t Cases(std::span<const uint32_t> words);
  void Define(uint32_t row, ir::InstId made) { values_.Insert(row, made); }
  ir::InstId EmitAs(const ir::Inst& inst, uint32_t a, uint32_t b);

  // --- decisions
  std::optional<bool> Holds(ir::CexprId condition) {
    const std::optional<bool> holds = region_.answers().CheckCondition(
        region_.Global(condition), region_.AuxOf(region_.current()), {}, region_.diagnostics());
    region_.FailIf(!holds.has_value());
    return holds;
  }
  void Choose(uint32_t row, const ir::ChooseInst& choose);
  void Fault(const ir::FaultInst& fault);

  // --- names
  void AddLocal(ir::LocalId open);
  void Variable(const ir::VariableInst& variable);
  void Exit(const ir::Inst& inst);
  void InsertionPointOf(const ir::WhenRegionInst& when);
  void Call(uint32_t row, const ir::Inst& inst);
  void Param(uint32_t row, const ir::ParamInst& param);
  void Local(uint32_t row, const ir::Inst& inst);
  void Return(const ir::ReturnInst& inst);

  // --- members
  void Access(uint32_t row, const ir::Inst& inst);
  void Extract(uint32_t row, const ir::Inst& inst);
  void Insert(uint32_t row, const ir::Inst& inst);
  void Construct(uint32_t row, const ir::Inst& inst);
  std::optional<uint32_t> Position(ir::TypeId open, uint32_t member);
  std::optional<uint32_t> ConstantOf(uint32_t row) const;

  RegionBuilder& region_;
  TypedTypes types_;
  const EntryInterface* entry_ = nullptr;  // of an entry version
  FlatMap<uint32_t, PlaceRoot> places_;    // place parameters, by LocalId of the program
  FlatMap<uint32_t, ir::InstId> values_;   // by row of the module
};

// A region that is cut out of a body declares nothing. It may leave the function from inside of a
// loop, so one of an entry version has the rows of the interface, too.
ir::BlockId TypedRegion::Body() {
  if (entry_ != nullptr) {
    region_.out().io = entry_->rows;
  }
  const bool is_part = region_.generic().parent.valid();
  if (entry_ == nullptr && !is_part) {
    region_.DeclareParameters();
  }
  if (entry_ == nullptr || is_part) {
    return Block(region_.generic().block);
  }
  DeclareInputs(region_);
  const std::span<const uint32_t> insts = module().InstsOf(region_.generic().block);
  region_.BeginBlock();
  if (!insts.empty()) {  // what is emitted before the body needs a span: the nearest is that
    region_.SetCurrent(insts.front());
  }
  // An entry version does what no caller does for it: first values of variables, inputs before the
  // body, outputs behind it.
  if (region_.program().Initialises(region_.module_ordinal())) {
    ComputeInitialValues(region_);
  }
  LoadInputs(region_, *entry_);
  Insts(insts);
  if (!region_.BlockHasEnded() && !region_.failed()) {
    StoreOutputs(region_, *entry_, {});
  }
  return region_.EndBlock();
}

void TypedRegion::Inst(uint32_t row, const ir::Inst& inst) {
  switch (inst.kind) {
    case InstKind::kParam:
      return Param(row, inst.As<ir::ParamInst>());
    case InstKind::kLocalRef:
      return Local(row, inst);
    case InstKind::kReturn:
      return Return(inst.As<ir::ReturnInst>());
    case InstKind::kCexpr:
    case InstKind::kChoose:
    case InstKind::kFault:
    case InstKind::kWhen:
    case InstKind::kWhenRegion:
      return Decided(row, inst);
    case InstKind::kVariable:
      return Variable(inst.As<ir::VariableInst>());
    case InstKind::kLoop:
    case InstKind::kSwitch:
      return Exit(inst);
    case InstKind::kCall:
      return Call(row, inst);
    case InstKind::kAccess:
      return Access(row, inst);
    case InstKind::kExtract:
      return Extract(row, inst);
    case InstKind::kInsert:
      return Insert(row, inst);
    case InstKind::kConstruct:
      return Construct(row, inst);
    default:
      break;
  }
  const auto [a, b] = ir::OperandsOf(inst);
  const uint32_t first = Operand(inst, a);
  const uint32_t second = Operand(inst, b);
  const ir::InstId made = EmitAs(inst, first, second);
  if (ir::FactsOf(inst.kind).result != ir::ResultSchema::kVoid) {
    Define(row, made);
  }
}

// The row with these operands and the type that its own stands for.
// Behind a failure something must be returned that has an id; the row is never seen.
ir::InstId TypedRegion::EmitAs(const ir::Inst& inst, uint32_t a, uint32_t b) {
  const ir::TypeId type = types_.Type(inst.type);
  if (!type.valid() || region_.failed()) {
    region_.FailIf(true);
    return region_.Emit(ir::DemoteInst{.type = region_.pool().void_type()}.To());
  }
  return region_.Emit({inst.kind, inst.flags, type, a, b});
}

// Operands by their schema: ids of the module become those of the program or of the pool.
uint32_t TypedRegion::Operand(const ir::Inst& inst, const ir::Operand& operand) {
  const uint32_t word = operand.word;
  switch (operand.schema) {
    case ir::OperandSchema::kNone:
    case ir::OperandSchema::kLiteral:
      return word;
    case ir::OperandSchema::kInst:
      return Value(word).value;
    case ir::OperandSchema::kOptInst:
      return word == ir::kNoRow ? word : Value(word).value;
    case ir::OperandSchema::kConst: {
      const ir::ConstId made = types_.Constant(ir::ConstId{word});
      region_.FailIf(!made.valid());
      return made.value;
    }
    case ir::OperandSchema::kLocal:
      return region_.Global(ir::LocalId{word}).value;
    case ir::OperandSchema::kOptLocal:
      return word == ir::kNoRow ? word : region_.Global(ir::LocalId{word}).value;
    case ir::OperandSchema::kDecl:
      return region_.program().FirstOf(ir::DeclId{region_.bases().decl + word}).value;
    case ir::OperandSchema::kOptMember:
      return word == ir::kNoRow ? word : region_.bases().member + word;
    case ir::OperandSchema::kInsts:
      return region_.EmitList(Values(ir::ListId{word})).value;
    case ir::OperandSchema::kBlock:
      return Block(ir::BlockId{word}).value;
    case ir::OperandSchema::kBlocks:
      return Blocks(ir::ListId{word});
    case ir::OperandSchema::kString:
    case ir::OperandSchema::kCexpr:
    case ir::OperandSchema::kRegion:
    case ir::OperandSchema::kLocals:
    case ir::OperandSchema::kTexts:
    case ir::OperandSchema::kPart:
    case ir::OperandSchema::kCases:
      break;  // of kinds that have a function of their own
  }
  KILN_CHECK(false, "operand of {}", ir::FactsOf(inst.kind).mnemonic);
  KILN_UNREACHABLE();
}

uint32_t TypedRegion::Blocks(ir::ListId list) {
  std::vector<uint32_t> blocks;
  for (const uint32_t block : module().List(list)) {
    blocks.push_back(Block(ir::BlockId{block}).value);
  }
  return region_.EmitList(blocks).value;
}

uint32_t TypedRegion::Cases(std::span<const uint32_t> words) {
  std::vector<uint32_t> specialised{Value(words[0]).value};
  ir::ForEachCase(words, [&](const ir::SwitchCase& one) {
    specialised.push_back(ir::CaseHead(one.labels.size(), one.is_default, one.through));
    for (const uint32_t label : one.labels) {
      const ir::ConstId made = types_.Constant(ir::ConstId{label});
      region_.FailIf(!made.valid());
      specialised.push_back(made.value);
    }
    specialised.push_back(Block(ir::BlockId{one.block}).value);
  });
  return region_.EmitList(specialised).value;
}

// --- decisions -----------------------------------------------------------------------------------
// The option that an expression names if its value comes with the pipeline; larger ones are
// refused.
ir::OptionId TypedRegion::SpecialisedOption(ir::CexprId expression) {
  const Program& program = region_.program();
  const ir::Cexpr& row = program.Row(ir::CexprId{region_.bases().cexpr + expression.value});
  const bool named = row.op == ir::CexprOp::kName;
  const auto name = [&] { return program.Name(region_.module_ordinal(), ir::StringId{row.a}); };
  const ir::OptionId option = named ? program.Option(name()) : ir::OptionId{};
  return option.valid() && program.Get(option).specialize != 0 ? option : ir::OptionId{};
}

void TypedRegion::Decided(uint32_t row, const ir::Inst& inst) {
  if (inst.kind == InstKind::kCexpr) {
    const ir::CexprId expression = inst.As<ir::CexprInst>().value;
    if (const ir::OptionId option = SpecialisedOption(expression); option.valid()) {
      return Define(row, SpecialiseSpecialised(region_, option).inst);
    }
    const ir::ConstId value = types_.Value(expression, types_.Type(inst.type));
    if (value.valid()) {
      Define(row, region_.EmitConst(value));
    }
  } else if (inst.kind == InstKind::kChoose) {
    Choose(row, inst.As<ir::ChooseInst>());
  } else if (inst.kind == InstKind::kFault) {
    Fault(inst.As<ir::FaultInst>());
  } else if (inst.kind == InstKind::kWhenRegion) {
    InsertionPointOf(inst.As<ir::WhenRegionInst>());
  } else if (const auto when = inst.As<ir::WhenInst>(); Holds(when.condition).value_or(false)) {
    Insts(module().InstsOf(when.block));
  }
}

// The rows of the chosen block stand where the choice stood, and what it yields is its value.
void TypedRegion::Choose(uint32_t row, const ir::ChooseInst& choose) {
  const std::optional<bool> holds = Holds(choose.condition);
  if (!holds.has_value()) {
    return;
  }
  const std::span<const uint32_t> blocks = module().List(choose.blocks);
  const std::span<const uint32_t> insts = module().InstsOf(ir::BlockId{blocks[*holds ? 0 : 1]});
  // The yield is the last row and emits nothing.
  Insts(insts.first(insts.size() - 1));
  if (!region_.failed()) {
    Define(row, Value(module().insts[insts.back()].As<ir::YieldInst>().value.value));
  }
}

// Its arguments belong to the placeholders of the message in the order in which it has them.
void TypedRegion::Fault(const ir::FaultInst& fault) {
  const std::string_view text = module().Text(fault.code);
  const std::optional<Code> code = FindCode(text);
  if (!code.has_value()) {
    return ReportIllTyped(region_, "a fault of an unknown code");
  }
  Diagnostic found = Make(*code, region_.MainOf(region_.current()));
  const std::span<const uint32_t> arguments = module().List(fault.arguments);
  std::string_view message = CodeTemplate(*code);
  size_t next = 0;
  for (size_t open = message.find('{'); open != std::string_view::npos; open = message.find('{')) {
    const size_t close = message.find('}', open);
    const std::string_view name = message.substr(open + 1, close - open - 1);
    if (found.Find(name) == nullptr) {
      const std::string_view argument =
          next < arguments.size() ? module().Text(ir::StringId{arguments[next]}) : "";
      ++next;
      found.arguments.emplace_back(name, argument);
    }
    message.remove_prefix(close + 1);
  }
  if (next != arguments.size()) {
    return ReportIllTyped(region_, "a fault with other arguments than its message has");
  }
  region_.FailIf(CodeSeverity(*code) == Severity::kError);
  region_.Report(std::move(found));
}

void TypedRegion::InsertionPointOf(const ir::WhenRegionInst& when) {
  // The condition belongs to the walk: neither side knows the other's options.
  const ir::RegionId nested{region_.bases().region + when.region.value};
  region_.Emit(ir::InsertionPointInst{.type = region_.pool().void_type(), .region = nested}.To());
}

// --- names ---------------------------------------------------------------------------------------
void TypedRegion::AddLocal(ir::LocalId open) {
  const ir::Local& local = module().locals[open.value];
  const bool exit = ir::IsExit(local.kind);
  const ir::TypeId type = exit ? region_.pool().void_type() : types_.Type(local.type);
  region_.FailIf(!type.valid());
  region_.out().locals.push_back({.local = region_.Global(open),
                                  .kind = local.kind,
                                  .name = local.name.valid()
                                              ? region_.pool().InternText(module().Text(local.name))
                                              : ir::StringId{},
                                  .type = type,
                                  .relaxed = local.relaxed != 0});
}

void TypedRegion::Variable(const ir::VariableInst& variable) {
  AddLocal(variable.local);
  if (region_.failed() || !variable.initialiser.valid()) {
    return;
  }
  const ir::TypeId type = region_.out().locals.back().type;
  const ir::InstId place =
      region_.Emit(ir::LocalRefInst{.type = type, .local = region_.Global(variable.local)}.To());
  region_.Emit(ir::StoreInst{.type = region_.pool().void_type(),
                             .place = place,
                             .value = Value(variable.initialiser.value)}
                   .To());
}

// A loop or a switch: its exit is a name of this region.
void TypedRegion::Exit(const ir::Inst& inst) {
  // `exit` and the list of blocks lie in the same words for both kinds.
  AddLocal(inst.As<ir::LoopInst>().exit);
  const uint32_t row = region_.current();
  const uint32_t exit = region_.Global(inst.As<ir::LoopInst>().exit).value;
  const ir::ListId list = inst.As<ir::LoopInst>().blocks;
  const uint32_t parts = inst.kind == InstKind::kLoop ? Blocks(list) : Cases(module().List(list));
  region_.SetCurrent(row);
  EmitAs(inst, exit, parts);
}

// A place parameter is what it stands for.
void TypedRegion::Local(uint32_t row, const ir::Inst& inst) {
  const ir::LocalId local = region_.Global(inst.As<ir::LocalRefInst>().local);
  const PlaceRoot* root = places_.Find(local.value);
  if (root == nullptr) {
    return Define(row, EmitAs(inst, local.value, inst.b));
  }
  const ir::TypeId type = types_.Type(inst.type);
  region_.FailIf(!type.valid());
  if (const ir::InstId place = EmitPlace(region_, *root, type); place.valid()) {
    Define(row, place);
  }
}

// The parameters of an entry version are variables.
void TypedRegion::Param(uint32_t row, const ir::ParamInst& param) {
  const ir::TypeId type = types_.Type(param.type);
  region_.FailIf(!type.valid());
  const ir::LocalId local = region_.Global(param.local);
  if (places_.Contains(local.value)) {
    return ReportIllTyped(region_, "a place parameter has no value");
  }
  if (region_.failed()) {
    return;
  }
  if (entry_ == nullptr) {
    return Define(row, region_.Emit(ir::ParamInst{.type = type, .local = local}.To()));
  }
  const ir::InstId place = region_.Emit(ir::LocalRefInst{.type = type, .local = local}.To());
  Define(row, region_.Emit(ir::LoadInst{.type = type, .place = place}.To()));
}

void TypedRegion::Return(const ir::ReturnInst& inst) {
  ir::InstId value = inst.value.valid() ? Value(inst.value.value) : ir::InstId{};
  if (entry_ != nullptr) {
    if (value.valid() && region_.TypeOf(value) != region_.signature()->type) {
      return ReportIllTyped(region_, "return type");
    }
    StoreOutputs(region_, *entry_, value);
    value = {};
  }
  region_.Emit(ir::ReturnInst{.type = region_.pool().void_type(), .value = value}.To());
}

// An argument of a parameter that is not live is not passed.
void TypedRegion::Call(uint32_t row, const ir::Inst& inst) {
  const auto call = inst.As<ir::CallInst>();
  const ir::DeclId callee{region_.bases().decl + call.function.value};
  const ir::SpecialisedDecl* signature = region_.answers().Decl(callee);
  const ir::Decl& open = module().decls[call.function.value];
  const std::vector<uint32_t> arguments = Values(call.arguments);
  if (signature == nullptr) {
    return region_.FailIf(true);
  }
  if (arguments.size() != open.member_count) {
    return ReportIllTyped(region_, "a call with another number of arguments");
  }
  std::vector<uint32_t> passed;
  std::vector<uint32_t> words;  // of the version
  for (const ir::SpecialisedMember& parameter : signature->members) {
    const uint32_t argument =
        arguments[parameter.member.value - region_.bases().member - open.first_member];
    if (parameter.access != ir::Access::kPlace) {
      passed.push_back(argument);
      continue;
    }
    if (!StandsFor(region_.pool(), region_.TypeOf(ir::InstId{argument}), parameter.type)) {
      return ReportIllTyped(region_, "type of an argument");
    }
    const std::optional<PlaceRoot> root = RootOf(region_, ir::InstId{argument});
    if (!root.has_value()) {
      return;
    }
    AddRoot(*root, words);
  }
  const ir::DeclId called = words.empty() ? callee : region_.pool().versions().Of(callee, words);
  const ir::InstId made = EmitAs(inst, called.value, region_.EmitList(passed).value);
  Define(row, made);
}

// --- members -------------------------------------------------------------------------------------
std::optional<uint32_t> TypedRegion::ConstantOf(uint32_t row) const {
  const ir::Inst& inst = module().insts[row];
  if (inst.kind != InstKind::kConst) {
    return std::nullopt;
  }
  return module().consts[inst.As<ir::ConstInst>().value.value].a;
}

// The position of a part among those that are live. Of what is no struct any number is its own.
std::optional<uint32_t> TypedRegion::Position(ir::TypeId open, uint32_t member) {
  const ir::DeclId owner = types_.StructOf(open);
  if (!owner.valid()) {
    return member;
  }
  const std::optional<uint32_t> position = types_.LivePosition(owner, member);
  if (!position.has_value()) {
    ReportIllTyped(region_, "a member that is not there");
  }
  return position;
}

void TypedRegion::Access(uint32_t row, const ir::Inst& inst) {
  const auto access = inst.As<ir::AccessInst>();
  ir::TypeId open = module().insts[access.root.value].type;
  std::vector<uint32_t> steps;
  for (const uint32_t step : module().List(access.steps)) {
    const std::optional<uint32_t> constant = ConstantOf(step);
    ir::InstId specialised = Value(step);
    if (open.valid() && types_.StructOf(open).valid() && constant.has_value()) {
      const std::optional<uint32_t> position = Position(open, *constant);
      if (!position.has_value()) {
        return;
      }
      // A constant that stays is used again; only a position that moved needs a new one.
      specialised = *position == *constant ? specialised : region_.EmitUint(*position);
    }
    steps.push_back(specialised.value);
    open = open.valid() ? types_.PartOf(open, constant.value_or(0)) : open;
  }
  // A parameter that stands for a part is an access itself; its steps come first.
  ir::InstId root = Value(access.root.value);
  if (module().insts[access.root.value].kind == InstKind::kLocalRef &&
      region_.out().insts[root.value].kind == InstKind::kAccess) {
    const auto outer = region_.out().insts[root.value].As<ir::AccessInst>();
    const std::span<const uint32_t> before = region_.out().List(outer.steps);
    steps.insert(steps.begin(), before.begin(), before.end());
    root = outer.root;
  }
  const ir::TypeId type = types_.Type(inst.type);
  if (type.valid() && region_.pool()[type].kind == ir::TypeKind::kImage && !region_.failed()) {
    const ir::TypeId found = PlaceType(region_, root, steps);
    if (found.valid() && StandsFor(region_.pool(), found, type)) {
      return Define(row, region_.Emit({inst.kind, inst.flags, found, root.value,
                                       region_.EmitList(steps).value}));
    }
  }
  Define(row, EmitAs(inst, root.value, region_.EmitList(steps).value));
}

void TypedRegion::Extract(uint32_t row, const ir::Inst& inst) {
  const auto extract = inst.As<ir::ExtractInst>();
  const std::optional<uint32_t> position =
      Position(module().insts[extract.value.value].type, extract.index);
  if (position.has_value()) {
    Define(row, EmitAs(inst, Value(extract.value.value).value, *position));
  }
}

void TypedRegion::Insert(uint32_t row, const ir::Inst& inst) {
  const auto insert = inst.As<ir::InsertInst>();
  const std::span<const uint32_t> part = module().List(insert.part);
  std::vector<uint32_t> specialised{Value(part[0]).value};
  ir::TypeId open = inst.type;
  for (const uint32_t step : part.subspan(1)) {
    const std::optional<uint32_t> position =
        open.valid() ? Position(open, step) : std::optional(step);
    if (!position.has_value()) {
      return;
    }
    specialised.push_back(*position);
    open = open.valid() ? types_.PartOf(open, step) : open;
  }
  Define(row, EmitAs(inst, Value(insert.whole.value).value, region_.EmitList(specialised).value));
}

// Of a struct one operand for each field that is declared; those that are not live are left out.
void TypedRegion::Construct(uint32_t row, const ir::Inst& inst) {
  std::vector<uint32_t> operands = Values(inst.As<ir::ConstructInst>().operands);
  if (const ir::DeclId owner = types_.StructOf(inst.type); owner.valid()) {
    if (operands.size() != module().decls[owner.value].member_count) {
      return ReportIllTyped(region_, "a struct of another number of members");
    }
    std::vector<uint32_t> live;
    for (uint32_t i = 0; i < operands.size(); ++i) {
      if (types_.LivePosition(owner, i).has_value()) {
        live.push_back(operands[i]);
      }
    }
    operands = std::move(live);
  }
  Define(row, EmitAs(inst, inst.a, region_.EmitList(operands).value));
}

}  // namespace

bool SpecialiseTyped(RegionBuilder& region) { return TypedRegion(region).Run(); }

}  // namespace kiln::resolve
