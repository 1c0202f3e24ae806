// SPDX-License-Identifier: MIT
// Loops and switches are those of WGSL. Inputs are parameters of the entry point, outputs what it
// returns: they are kept until the return that follows, as nothing can be read back from them.
#include "compiler/emit/wgsl/lower/lower_typed.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/emit/wgsl/function_object.h"
#include "compiler/emit/wgsl/lower/lower_block.h"
#include "compiler/emit/wgsl/lower/lower_place.h"
#include "compiler/emit/wgsl/typed/builtin_values.h"
#include "compiler/ir/operands.h"

namespace kiln::wgsl {
namespace {

constexpr std::string_view kOldValue = ".old_value";

// Whether all of "(…)" is one pair of brackets.
bool IsBracketed(std::string_view text) {
  if (!text.starts_with('(')) {
    return false;
  }
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : 0;
    depth -= text[i] == ')' ? 1 : 0;
    if (depth == 0) {
      return i + 1 == text.size();
    }
  }
  return false;
}

// Of a condition that is negated already the negation is taken away: text must not grow when it is
// read and written again.
std::string Negated(const Expr& condition) {
  if (condition.binding == Binding::kUnary && condition.text.starts_with('!')) {
    std::string rest = condition.text.substr(1);
    const bool inner = IsBracketed(rest) && rest[1] != '*';
    return inner ? rest.substr(1, rest.size() - 2) : rest;
  }
  if (condition.text == "true" || condition.text == "false") {
    return condition.text == "true" ? "false" : "true";
  }
  return "!" + OperandText(condition);
}

void Write(RegionLowering& region, std::string_view head,
           const RegionLowering::NestedBlock& block) {
  region.Line(head);
  region.Write(block);
  region.Line("}");
}

RegionLowering::NestedBlock CaptureDeeper(RegionLowering& region, ir::BlockId block) {
  ++region.indent;
  RegionLowering::NestedBlock captured = region.Capture(block);
  --region.indent;
  return captured;
}

}  // namespace

// A built-in value may have other signs and more components in WGSL.
Expr InputText(RegionLowering& region, uint32_t row) {
  const ir::InterfaceRow& input = region.source().io[row];
  region.typed_region.io_used[row] = true;
  Expr value{.text = region.typed_region.io[row]};
  const BuiltinValue* builtin = BuiltinValueOf(region.pool(), input);
  if (builtin == nullptr || region.pool()[input.type].kind != ir::TypeKind::kVector) {
    return value;
  }
  const ir::Type type = region.pool()[input.type];
  if (type.rows < builtin->rows) {
    value.text += std::string(".xyz").substr(0, 1 + size_t{type.rows});
  }
  if (type.scalar != builtin->scalar) {
    value.text = fmt::format("bitcast<{}>({})", region.Type(input.type), value.text);
  }
  return value;
}

// Variables stand in front of the body and begin as zero there; in a loop that is only true once.
bool IsFirstZero(const RegionLowering& region, const ir::StoreInst& inst) {
  if (!region.is_body() || !region.source().insertion_points.empty() || region.loops != 0 ||
      region.InstOf(inst.place).kind != ir::InstKind::kLocalRef) {
    return false;
  }
  const ir::LocalId id = region.InstOf(inst.place).As<ir::LocalRefInst>().local;
  const auto local = std::ranges::find(region.source().locals, id, &ir::SpecialisedLocal::local);
  return local != region.source().locals.end() && local->kind == ir::LocalKind::kVariable &&
         !region.typed_region.IsTouched(id) && IsZero(region.source(), region.pool(), inst.value);
}

void FinishTyped(RegionLowering& region) {
  TypedRegion& typed = region.typed_region;
  if (!region.ends && std::ranges::any_of(region.source().io, [](const ir::InterfaceRow& row) {
        return row.direction == ir::Direction::kOut;
      })) {
    LowerTypedReturn(region);
  }
  // Of a region that others stand in it is not known what they mention.
  std::string lines;
  for (const ir::SpecialisedLocal& local : region.source().locals) {
    const bool needed = !region.source().insertion_points.empty() || typed.IsTouched(local.local);
    if (local.kind == ir::LocalKind::kVariable && needed && typed.CopyOf(local.local) == nullptr) {
      lines +=
          fmt::format("  var {} : {};\n", region.LocalText(local.local), region.Type(local.type));
    }
  }
  region.PutInFront(lines);
  std::vector<std::string> io = typed.io;
  for (size_t i = 0; i < io.size(); ++i) {
    if (!typed.io_used[i]) {
      io[i].clear();
    }
  }
  region.SetInterface(std::move(io));
}

// The condition stands at the head of the body. `continuing` yields whether there is another round.
void LowerTypedLoop(RegionLowering& region, const ir::LoopInst& inst) {
  const std::span<const uint32_t> blocks = region.source().List(inst.blocks);
  region.Flush();
  ++region.loops;
  region.typed_region.exits.push_back(inst.exit);
  const RegionLowering::NestedBlock condition = region.Capture(ir::BlockId{blocks[0]});
  const RegionLowering::NestedBlock body = region.Capture(ir::BlockId{blocks[1]});
  const RegionLowering::NestedBlock next = CaptureDeeper(region, ir::BlockId{blocks[2]});
  region.typed_region.exits.pop_back();
  --region.loops;
  region.Open("loop {");
  region.Write(condition);
  if (!condition.yielded.text.empty()) {
    region.Open(fmt::format("if ({}) {{", Negated(condition.yielded)));
    region.Line("break;");
    region.Close();
  }
  region.Write(body);
  if (!next.text.empty() || !next.yielded.text.empty()) {
    region.Open("continuing {");
    region.Write(next);
    if (!next.yielded.text.empty()) {
      region.Line(fmt::format("break if {};", Negated(next.yielded)));
    }
    region.Close();
  }
  region.Close();
}

void LowerSwitch(RegionLowering& region, const ir::SwitchInst& inst) {
  const std::span<const uint32_t> words = region.source().List(inst.cases);
  const Expr selector = region.Take(ir::InstId{words[0]});
  region.Flush();
  region.typed_region.exits.push_back(inst.exit);
  std::vector<std::pair<std::string, RegionLowering::NestedBlock>> cases;
  bool has_default = false;
  ir::ForEachCase(words, [&](const ir::SwitchCase& one) {
    CheckStop();
    std::string head = one.labels.empty() ? "" : "case ";
    for (const uint32_t label : one.labels) {
      head += label == one.labels[0] ? "" : ", ";
      head += ConstantLabel(region.pool(), ir::ConstId{label});
    }
    if (one.is_default) {
      has_default = true;
      head += one.labels.empty() ? "default" : ", default";
    }
    cases.emplace_back(head + ": {", CaptureDeeper(region, ir::BlockId{one.block}));
  });
  region.typed_region.exits.pop_back();
  region.Open(fmt::format("switch ({}) {{", selector.text));
  for (const auto& [head, block] : cases) {
    Write(region, head, block);
  }
  if (!has_default) {
    region.Line("default: {");
    region.Line("}");
  }
  region.Close();
}

// WGSL leaves what is innermost, and so do the languages that are read.
void LowerBreak(RegionLowering& region, ir::InstId id, const ir::BreakInst& inst) {
  const std::vector<ir::LocalId>& exits = region.typed_region.exits;
  if (region.typed() && (exits.empty() || exits.back() != inst.exit)) {
    region.Report(Code::kWgsl8202, id, {{"op", "a break out of several loops and switches"}});
  }
  region.Line("break;");
  region.ends = true;
}

// In the order of the rows. Behind a return nothing of them is left.
void LowerTypedReturn(RegionLowering& region) {
  std::vector<std::string> values;
  for (size_t i = 0; i < region.source().io.size(); ++i) {
    const ir::InterfaceRow& row = region.source().io[i];
    if (row.direction == ir::Direction::kOut) {
      std::string& value = region.typed_region.outputs[i];
      values.push_back(value.empty() ? ZeroText(ValueTypeOf(region.pool(), row), region.types())
                                     : std::move(value));
      value.clear();
    }
  }
  if (values.empty()) {
    region.Line("return;");
  } else if (values.size() == 1) {
    region.Line(fmt::format("return {};", values[0]));
  } else {
    region.Line(fmt::format("return {}({});", Mark(MarkKind::kResult), fmt::join(values, ", ")));
  }
  region.ends = true;
}

void LowerUnreachable(RegionLowering& region) {
  if (!region.source().io.empty()) {
    return LowerTypedReturn(region);
  }
  region.Line("return" + Mark(MarkKind::kZero) + ";");
  region.ends = true;
}

// A constant that is no number must not be computed by WGSL.
void LowerBitcast(RegionLowering& region, ir::InstId id, const ir::BitcastInst& inst) {
  Expr value = region.Take(inst.value);
  if (value.constant) {
    value = region.Hidden(region.InstOf(inst.value).type, value);
  }
  value.text = fmt::format("bitcast<{}>({})", region.Type(inst.type), ArgumentText(value));
  value.binding = Binding::kPrimary;
  value.depth += 1;
  region.Define(id, std::move(value));
}

// A copy with a part replaced.
void LowerInsert(RegionLowering& region, ir::InstId id, const ir::InsertInst& inst) {
  const std::span<const uint32_t> words = region.source().List(inst.part);
  const Expr part = region.Take(ir::InstId{words[0]});
  const Expr whole = region.Take(inst.whole);
  const std::string name = region.NewVariable(region.Type(inst.type), whole.text);
  std::string path = name;
  ir::TypeId type = inst.type;
  for (const uint32_t step : words.subspan(1)) {
    const ir::Type t = region.pool()[type];
    if (t.kind == ir::TypeKind::kStruct) {
      const ir::ShapeMember& member = region.pool().Members(type)[step];
      path += "." + region.types().Member(region.pool().Text(member.name));
      type = member.type;
    } else {
      path += t.kind == ir::TypeKind::kVector ? fmt::format(".{}", "xyzw"[step])
                                              : fmt::format("[{}u]", step);
      type = t.kind == ir::TypeKind::kArray    ? ir::TypeId{t.element}
             : t.kind == ir::TypeKind::kMatrix ? region.pool().Vector(t.scalar, t.rows)
                                               : region.pool().Vector(t.scalar, 1);
    }
  }
  region.Line(fmt::format("{} = {};", path, part.text));
  region.SetText(id, name);
}

std::string InbuiltMember(const RegionLowering& region, const ir::ExtractInst& inst) {
  const std::string_view name =
      region.pool().Text(region.pool().ShapeOf(region.InstOf(inst.value).type).name);
  const bool exchange = name.starts_with("__atomic");
  if (inst.index == 0) {
    return exchange ? ".old_value" : ".fract";
  }
  return exchange ? ".exchanged" : name.starts_with("__frexp") ? ".exp" : ".whole";
}

ir::InstId FirstArgument(const RegionLowering& region, uint32_t call) {
  const ir::Inst& inst = region.InstOf(ir::InstId{call});
  return ir::InstId{region.source().List(inst.As<ir::BuiltinCallInst>().arguments)[0]};
}

Expr ExchangedText(RegionLowering& region, ir::InstId old) {
  const std::string text = region.Take(old).text;
  return {.text = text.substr(0, text.size() - kOldValue.size()) + ".exchanged"};
}

namespace {

std::string_view NameOf(ir::AtomicOp op) {
  switch (op) {
    case ir::AtomicOp::kLoad:
      return "atomicLoad";
    case ir::AtomicOp::kStore:
      return "atomicStore";
    case ir::AtomicOp::kAdd:
      return "atomicAdd";
    case ir::AtomicOp::kSub:
      return "atomicSub";
    case ir::AtomicOp::kMin:
      return "atomicMin";
    case ir::AtomicOp::kMax:
      return "atomicMax";
    case ir::AtomicOp::kAnd:
      return "atomicAnd";
    case ir::AtomicOp::kOr:
      return "atomicOr";
    case ir::AtomicOp::kXor:
      return "atomicXor";
    case ir::AtomicOp::kExchange:
      return "atomicExchange";
    case ir::AtomicOp::kCompareExchange:
      return "atomicCompareExchangeWeak";
  }
  KILN_UNREACHABLE();
}

// Until it has not failed for no reason, as a source that knows no weak exchange means it.
void Exchange(RegionLowering& region, ir::InstId id, const std::string& place,
              std::span<const uint32_t> operands) {
  const Expr expected = region.Take(ir::InstId{operands[1]});
  const Expr desired = region.Take(ir::InstId{operands[2]});
  region.Flush();
  const auto call = [&](const Expr& a, const Expr& b) {
    return fmt::format("atomicCompareExchangeWeak(&{}, {}, {})", place, ArgumentText(a),
                       ArgumentText(b));
  };
  if (region.IsWeak(id)) {
    const std::string name = region.NewName();
    region.Line(fmt::format("let {} = {};", name, call(expected, desired)));
    region.SetText(id, name + std::string(kOldValue));
    return;
  }
  const std::string type = region.Type(region.InstOf(id).type);
  const Expr wanted = region.Named(type, expected);
  const Expr value = region.Named(type, desired);
  const std::string old = region.NewVariable(type);
  const std::string attempt = region.NewName();
  region.Open("loop {");
  region.Line(fmt::format("let {} = {};", attempt, call(wanted, value)));
  region.Line(fmt::format("{} = {}{};", old, attempt, kOldValue));
  region.Open(fmt::format("if ({}.exchanged || ({} != {})) {{", attempt, old, wanted.text));
  region.Line("break;");
  region.Close();
  region.Close();
  region.SetText(id, old);
}

}  // namespace

void LowerAtomicOf(RegionLowering& region, ir::InstId id, const ir::AtomicInst& inst) {
  const std::span<const uint32_t> operands = region.source().List(inst.operands);
  const PlaceText place = PlaceOf(region, ir::InstId{operands[0]});
  if (!region.types().HoldsAtomic(place.type, place.atomic, place.leaf)) {
    region.Report(Code::kWgsl8202, id, {{"op", "atomic on a component of a vector"}});
    region.SetText(id, "0");
    return;
  }
  if (inst.op == ir::AtomicOp::kCompareExchange) {
    return Exchange(region, id, place.text, operands);
  }
  std::string call = fmt::format("{}(&{}", NameOf(inst.op), place.text);
  for (const uint32_t operand : operands.subspan(1)) {
    call += ", " + ArgumentText(region.Take(ir::InstId{operand}));
  }
  call += ")";
  region.Flush();
  if (inst.op == ir::AtomicOp::kStore) {
    return region.Line(call + ";");
  }
  region.DefineHere(id, {.text = std::move(call)});
}

// One function for each kind of memory; all of them wait.
void LowerBarrierOf(RegionLowering& region, const ir::BarrierInst& inst) {
  const ir::BarrierMode mode = ir::UnpackBarrier(inst.mode);
  const auto orders = [&](ir::MemoryKind kind) {
    return (mode.kinds >> static_cast<uint32_t>(kind) & 1u) != 0;
  };
  region.Flush();
  if (orders(ir::MemoryKind::kBuffer)) {
    region.Line("storageBarrier();");
  }
  if (orders(ir::MemoryKind::kImage)) {
    region.Line("textureBarrier();");
  }
  if (orders(ir::MemoryKind::kWorkgroup) || mode.kinds == 0) {
    region.Line("workgroupBarrier();");
  }
}

}  // namespace kiln::wgsl
