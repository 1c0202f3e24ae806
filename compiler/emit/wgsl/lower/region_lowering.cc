// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/lower/region_lowering.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/emit/wgsl/lower/lower_block.h"
#include "compiler/emit/wgsl/lower/typed_parts.h"
#include "compiler/emit/wgsl/names.h"
#include "compiler/ir/operands.h"
#include "compiler/ir/typing/image_typing.h"
#include "compiler/ir/typing/typing.h"

namespace kiln::wgsl {
namespace {

// Text without a name is no deeper and no longer than a reader follows.
// Text grows by the text of its operands, so both are asked for.
constexpr uint32_t kMaxDepth = 8;
constexpr size_t kMaxText = 200;
constexpr size_t kMaxRepeated = 40;  // of a constant that is mentioned twice

}  // namespace

RegionLowering::RegionLowering(const ir::SpecialisedRegion& region, const LoweringInputs& inputs)
    : source_(region),
      types_(inputs.types),
      names_(inputs.names),
      atomics_(inputs.atomics),
      most_bytes_(inputs.most_bytes),
      is_body_(inputs.is_body),
      values_(region.insts.size()) {
  CountUses();
  if (typed()) {
    FoldStructs();
    PrepareTyped(*this);
    DropUnused();
    PrepareParts(*this);
  }
}

// Places are no values: their text is written where they are used.
bool RegionLowering::IsPlace(ir::InstId id) const {
  return ir::FactsOf(InstOf(id).kind).result == ir::ResultSchema::kPlace;
}

bool RegionLowering::IsHandle(ir::TypeId type) const {
  const ir::TypeKind kind = pool()[type].kind;
  return kind == ir::TypeKind::kSampler || kind == ir::TypeKind::kImage;
}

// A step of a place is evaluated wherever the place is used.
// If the place is used twice, or in another block, its text is repeated there. A value that stands
// in it would be computed again, so it must have a name.
void RegionLowering::CountStep(ir::InstId access, ir::InstId step) {
  const Value& place = values_[access.value];
  Value& value = values_[step.value];
  value.local = value.local && place.uses == 1 && place.local && place.block == value.block;
}

// The coordinate of an image with layers is taken apart if it was put together for it alone.
void RegionLowering::TakeApart(ir::InstId image, ir::InstId coordinate) {
  const bool layers = ir::UnpackImage(TypeOf(image).extent).arrayed;
  if (!layers || InstOf(coordinate).kind != ir::InstKind::kConstruct) {
    return;
  }
  Value& whole = values_[coordinate.value];
  const std::span<const uint32_t> parts =
      source_.List(InstOf(coordinate).As<ir::ConstructInst>().operands);
  if (whole.uses != 1 || !whole.local || parts.size() != 2) {
    return;
  }
  const auto is_layer = [&](ir::Scalar scalar) {
    return scalar == ir::Scalar::kU32 || (typed() && scalar == ir::Scalar::kS32);
  };
  whole.taken_apart = true;
  const ir::InstId layer{parts[1]};
  Value& converted = values_[layer.value];
  if (InstOf(layer).kind == ir::InstKind::kConvert && converted.uses == 1 && converted.local &&
      is_layer(TypeOf(InstOf(layer).As<ir::ConvertInst>().value).scalar)) {
    converted.taken_apart = true;
  } else if (TypeOf(layer).scalar == ir::Scalar::kF32) {
    whole.taken_apart = false;  // a layer that is a float needs to be rounded
  }
}

// The same of typed modules, whose operations have the image first.
void RegionLowering::TakeCoordinateApart(const ir::ImageInst& inst) {
  const std::span<const uint32_t> operands = source_.List(inst.operands);
  const std::string_view letters = ir::FactsOf(inst.op).operands;
  const bool sampler = letters.starts_with('S');
  if (!letters.empty() && (inst.keywords & ir::kCombinedSampler) == 0) {
    TakeApart(ir::InstId{operands[0]}, ir::InstId{operands[sampler ? 2 : 1]});
  }
}

// Counts who uses each value before anything is lowered, in three passes over the region: which
// block computes it, how often and where it is used, and whether coordinates can be taken apart.
// Linear in the rows. With it Define knows at once whether a value needs a name.
void RegionLowering::CountUses() {
  for (uint32_t block = 0; block < source_.blocks.size(); ++block) {
    for (const uint32_t inst : source_.InstsOf(ir::BlockId{block})) {
      values_[inst].block = block;
    }
  }
  const auto lists = [&](ir::ListId list) { return source_.List(list); };
  for (uint32_t block = 0; block < source_.blocks.size(); ++block) {
    for (const uint32_t inst : source_.InstsOf(ir::BlockId{block})) {
      ir::ForEachInstOperand(source_.insts[inst], lists, [&](uint32_t operand) {
        Value& value = values_[operand];
        ++value.uses;
        value.local = value.local && value.block == block;
      });
    }
  }
  for (const ir::Inst& inst : source_.insts) {
    if (inst.kind == ir::InstKind::kImage) {
      TakeCoordinateApart(inst.As<ir::ImageInst>());
    }
    if (inst.kind != ir::InstKind::kBuiltinCall) {
      continue;
    }
    const auto call = inst.As<ir::BuiltinCallInst>();
    const std::span<const uint32_t> operands = source_.List(call.arguments);
    if (ir::IsSampling(call.builtin)) {
      TakeApart(ir::InstId{operands[1]}, ir::InstId{operands[2]});
    } else if (ir::TakesImage(call.builtin) && operands.size() > 1 &&
               call.builtin != ir::Builtin::kImageSize) {
      TakeApart(ir::InstId{operands[0]}, ir::InstId{operands[1]});
    }
  }
  // Last, because it asks for the final count of the places.
  for (uint32_t i = 0; i < source_.insts.size(); ++i) {
    if (source_.insts[i].kind == ir::InstKind::kAccess) {
      for (const uint32_t step : lists(source_.insts[i].As<ir::AccessInst>().steps)) {
        CountStep(ir::InstId{i}, ir::InstId{step});
      }
    }
  }
}

// A struct that is put together and only taken apart again is neither: who extracts a part is a
// user of what it was made of. Linear.
void RegionLowering::FoldStructs() {
  std::vector<bool> folds(source_.insts.size());
  const auto lists = [&](ir::ListId list) { return source_.List(list); };
  for (uint32_t i = 0; i < source_.insts.size(); ++i) {
    folds[i] = source_.insts[i].kind == ir::InstKind::kConstruct &&
               pool()[source_.insts[i].type].kind == ir::TypeKind::kStruct && values_[i].uses != 0;
  }
  for (const ir::Inst& inst : source_.insts) {
    if (inst.kind != ir::InstKind::kExtract) {
      ir::ForEachInstOperand(inst, lists, [&](uint32_t operand) { folds[operand] = false; });
    }
  }
  for (uint32_t i = 0; i < source_.insts.size(); ++i) {
    const ir::Inst& inst = source_.insts[i];
    if (folds[i]) {
      values_[i].taken_apart = true;
      MarkWeak(inst);
      for (const uint32_t part : lists(inst.As<ir::ConstructInst>().operands)) {
        --values_[part].uses;
      }
    } else if (inst.kind == ir::InstKind::kExtract) {
      const auto extract = inst.As<ir::ExtractInst>();
      if (folds[extract.value.value]) {
        Value& part =
            values_[lists(InstOf(extract.value).As<ir::ConstructInst>().operands)[extract.index]];
        ++part.uses;
        part.local = part.local && part.block == values_[i].block;
      }
    }
  }
}

// What atomicCompareExchangeWeak gives is a struct of its own, made of the old value and of whether
// it is the one that was expected.
void RegionLowering::MarkWeak(const ir::Inst& construct) {
  const std::span<const uint32_t> parts = source_.List(construct.As<ir::ConstructInst>().operands);
  if (!types_.IsInbuilt(construct.type) || parts.size() != 2) {
    return;
  }
  const ir::Inst& old = source_.insts[parts[0]];
  const ir::Inst& same = source_.insts[parts[1]];
  if (old.kind == ir::InstKind::kAtomic && same.kind == ir::InstKind::kBinary &&
      old.As<ir::AtomicInst>().op == ir::AtomicOp::kCompareExchange &&
      same.As<ir::BinaryInst>().left.value == parts[0]) {
    values_[parts[0]].weak = true;
    values_[parts[1]].weak = true;
  }
}

// What nobody needs is not written, and needs nothing itself. Operands precede their users, so one
// walk from the last row to the first finds all.
void RegionLowering::DropUnused() {
  const auto lists = [&](ir::ListId list) { return source_.List(list); };
  for (size_t i = source_.insts.size(); i-- > 0;) {
    const ir::Inst& inst = source_.insts[i];
    const bool unused = values_[i].uses == 0 && IsPure(inst);
    if ((unused || typed_region.left_out[i]) && !values_[i].taken_apart) {
      typed_region.left_out[i] = true;
      ir::ForEachInstOperand(inst, lists, [&](uint32_t operand) { --values_[operand].uses; });
    }
  }
}

// Leaves of a declaration that a reached function uses atomically (spec/wgsl 3.7); none of
// most.
std::span<const uint32_t> RegionLowering::AtomicLeavesOf(ir::DeclId decl) const {
  const auto found = std::ranges::find(atomics_, decl, &AtomicDecl::decl);
  return found == atomics_.end() ? std::span<const uint32_t>{}
                                 : std::span<const uint32_t>(found->leaves);
}

// Whoever writes a type needs its structs declared before, and `enable f16` if it holds halves.
std::string RegionLowering::Type(ir::TypeId type) {
  types_.AddStructs(type, needs().structs);
  needs().half = types_.HoldsHalf(type) || needs().half;
  return types_.Text(type);
}

std::string RegionLowering::VectorType(ir::Scalar scalar, uint32_t rows) {
  return Type(pool().Vector(scalar, rows));
}

void RegionLowering::Append(std::string_view line) {
  text_.append(size_t{2} * indent, ' ');
  text_ += line;
  text_ += '\n';
}

void RegionLowering::Line(std::string_view text) {
  Append(text);
  object_.bytes += size_t{2} * indent + text.size() + 1;
}

// The line is there only if the condition of the mark holds when the function is put together.
void RegionLowering::LineIf(MarkKind when, uint32_t id, std::string_view text) {
  text_ += Mark(when, id);
  Append(text);
  text_ += Mark(MarkKind::kEnd);
}

// The depth goes in front, because the lines that will stand here are moved to it when the function
// is put together.
void RegionLowering::InsertionPoint(ir::RegionId region) {
  text_ += Mark(MarkKind::kIndent, indent);
  text_ += Mark(MarkKind::kInsertionPoint, region.value);
}

// Behind names that are taken: what was a variable of kiln's is one of the source when it is read
// back.
std::string RegionLowering::NewName() {
  std::string name = ValueName(next_name_++);
  while (typed_region.names.Has(name)) {
    name = ValueName(next_name_++);
  }
  return name;
}

// Those of typed modules stand in front, like the variables of the source, so that a second round
// finds nothing to move.
std::string RegionLowering::NewVariable(const std::string& type, std::string_view value) {
  std::string name = NewName();
  if (!typed()) {
    Line(value.empty() ? fmt::format("var {} : {};", name, type)
                       : fmt::format("var {} : {} = {};", name, type, value));
    return name;
  }
  Declare(name, type);
  if (!value.empty()) {
    Line(fmt::format("{} = {};", name, value));
  }
  return name;
}

void RegionLowering::Declare(const std::string& name, const std::string& type) {
  const std::string line = fmt::format("  var {} : {};\n", name, type);
  declared_ += line;
  object_.bytes += line.size();
}

// A value that a name stands for stays constant, if it was.
Expr RegionLowering::Named(const std::string& type, const Expr& value) {
  const std::string name = NewName();
  Line(fmt::format("let {} : {} = {};", name, type, value.text));
  return {.text = name, .constant = value.constant};
}

// A `var`, so that WGSL does not take the value for a constant (spec/wgsl 3.5).
Expr RegionLowering::Hidden(ir::TypeId type, const Expr& value) {
  return {.text = NewVariable(Type(type), value.text)};
}

void RegionLowering::Report(Code code, ir::InstId where, std::vector<kiln::Argument> arguments) {
  const ir::SpanId span =
      where.value < source_.spans.size() ? source_.spans[where.value] : ir::SpanId{};
  object_.findings.push_back({.code = code, .span = span, .arguments = std::move(arguments)});
}

// Each once, in the order of first mention, which is that of the text.
void RegionLowering::Mention(const VariableUse& variable) {
  if (std::ranges::find(needs().variables, variable) == needs().variables.end()) {
    needs().variables.push_back(variable);
  }
}

// The decision between text and name. Text that is used once, in its own block, stands where it is
// used. Short constants are repeated. Everything else, and what would grow too deep, gets a `let`.
// Without the bounds a chain of operations would be one line of any length.
void RegionLowering::Define(ir::InstId id, Expr value) {
  Value& row = values_[id.value];
  const bool short_enough = value.depth <= kMaxDepth && value.text.size() <= kMaxText;
  const bool repeated = value.constant && value.text.size() <= kMaxRepeated;
  if (row.uses == 0 || repeated || (row.uses == 1 && row.local && short_enough)) {
    row.waits = row.uses != 0 && value.reads;
    row.expr = std::move(value);
    if (row.waits) {
      waiting_.push_back(id);
    }
    return;
  }
  DefineHere(id, value);
}

void RegionLowering::DefineHere(ir::InstId id, const Expr& value) {
  const ir::TypeId shown = values_[id.value].shown;
  const ir::TypeId type = shown.valid() ? shown : InstOf(id).type;
  if (types_.IsInbuilt(type)) {  // a type that has no name
    const std::string name = NewName();
    Line(fmt::format("let {} = {};", name, value.text));
    values_[id.value].expr = {.text = name};
    return;
  }
  values_[id.value].expr = Named(Type(type), value);
}

// Text that is taken is part of other text, which waits in its place.
Expr RegionLowering::Take(ir::InstId id) {
  Value& row = values_[id.value];
  KILN_CHECK(!row.expr.text.empty(), "instruction {} has no value", id.value);
  if (row.waits) {
    row.waits = false;
    std::erase(waiting_, id);
  }
  return row.expr;
}

// What is not a primary expression gets parentheses (spec/wgsl 3.5).
std::string OperandText(const Expr& value) {
  return value.binding == Binding::kPrimary ? value.text : "(" + value.text + ")";
}

std::string ArgumentText(const Expr& value) {
  return value.binding == Binding::kBinary ? "(" + value.text + ")" : value.text;
}

// In order of definition, so that names are given in the order in which the values were computed.
void RegionLowering::Flush() {
  for (const ir::InstId id : std::exchange(waiting_, {})) {
    values_[id.value].waits = false;
    DefineHere(id, Expr(values_[id.value].expr));
  }
}

// The text of a nested block is written aside. What waits outside must not be named inside, where
// it would not be computed on all paths.
RegionLowering::NestedBlock RegionLowering::Capture(ir::BlockId block) {
  std::string outer = std::exchange(text_, {});
  std::vector<ir::InstId> outer_waiting = std::exchange(waiting_, {});
  const bool outer_ends = std::exchange(ends, false);
  ++indent;
  yielded = {};
  LowerBlock(*this, block);
  --indent;
  NestedBlock captured{.text = std::exchange(text_, std::move(outer)),
                       .yielded = std::exchange(yielded, {}),
                       .ends = std::exchange(ends, outer_ends)};
  waiting_ = std::move(outer_waiting);
  return captured;
}

// A local of a region around has its name from there: a mark stands for it until then.
std::string RegionLowering::LocalText(ir::LocalId local) const {
  const auto own = std::ranges::find(object_.names, local, &LocalName::local);
  return own != object_.names.end() ? own->name : Mark(MarkKind::kLocal, local.value);
}

TextObject RegionLowering::Finish() {
  object_.code = Split(declared_ + text_);
  object_.ends = ends;
  return std::move(object_);
}

}  // namespace kiln::wgsl
