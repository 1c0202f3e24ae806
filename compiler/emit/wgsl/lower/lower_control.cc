// SPDX-License-Identifier: MIT
// Control flow is structured on both sides. A value block that needs no statements stays an
// expression; otherwise its value goes through a variable. See spec/wgsl 2.7, 3.6.
#include "compiler/emit/wgsl/lower/lower_control.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/emit/wgsl/lower/lower_block.h"
#include "compiler/emit/wgsl/lower/lower_place.h"
#include "compiler/emit/wgsl/lower/lower_typed.h"

namespace kiln::wgsl {
namespace {

std::string Negated(const Expr& condition) {
  return "!" + (condition.binding == Binding::kBinary ? "(" + condition.text + ")"
                                                      : OperandText(condition));
}

void WriteBranch(RegionLowering& region, std::string_view head,
                 const RegionLowering::NestedBlock& branch) {
  region.Line(head);
  region.Write(branch);
}

// A block that ends in the assignment of what it yields.
void WriteValue(RegionLowering& region, const RegionLowering::NestedBlock& block,
                const std::string& variable) {
  region.Write(block);
  ++region.indent;
  region.Line(fmt::format("{} = {};", variable, block.yielded.text));
  --region.indent;
}

// What leaves this function if the callee has discarded: a loop that waits for what a discarded
// invocation no longer does would never end.
void LeaveIfDiscarded(RegionLowering& region, ir::DeclId callee) {
  const MarkKind when = region.loops > 0 ? MarkKind::kIfKills : MarkKind::kIfKillsInLoop;
  region.LineIf(when, callee.value,
                "if (kiln__discarded) { return" + Mark(MarkKind::kZero) + "; }");
}

}  // namespace

// Both branches are lowered before the first line is written: whether there is an else at all, and
// whether control goes on, is known only from their text.
void LowerIf(RegionLowering& region, const ir::IfInst& inst) {
  const std::span<const uint32_t> blocks = region.source().List(inst.blocks);
  // The condition is taken before Flush, so that it may stay in place; everything else that waits
  // gets its name in front of the branch, where it is computed once.
  const Expr condition = region.Take(inst.condition);
  region.Flush();
  const RegionLowering::NestedBlock yes = region.Capture(ir::BlockId{blocks[0]});
  RegionLowering::NestedBlock no;
  if (blocks.size() > 1) {
    no = region.Capture(ir::BlockId{blocks[1]});
  }
  WriteBranch(region, fmt::format("if ({}) {{", condition.text), yes);
  if (!no.text.empty()) {
    WriteBranch(region, "} else {", no);
  }
  region.Line("}");
  region.ends = yes.ends && no.ends;
}

// The condition is a value block that may need statements of its own, so it stands at the head of
// the body, and the loop is left there. The continuing block of WGSL takes the third block;
// `continue` leads to it in both.
void LowerLoop(RegionLowering& region, const ir::LoopInst& inst) {
  if (region.typed()) {
    return LowerTypedLoop(region, inst);
  }
  const std::span<const uint32_t> blocks = region.source().List(inst.blocks);
  region.Flush();
  ++region.loops;
  const RegionLowering::NestedBlock condition = region.Capture(ir::BlockId{blocks[0]});
  // The body is a block of its own inside of the loop, which keeps its names apart from those of
  // the condition.
  ++region.indent;
  const RegionLowering::NestedBlock body = region.Capture(ir::BlockId{blocks[1]});
  const RegionLowering::NestedBlock next = region.Capture(ir::BlockId{blocks[2]});
  --region.indent;
  --region.loops;
  region.Open("loop {");
  region.Write(condition);
  region.Line(fmt::format("if ({}) {{ break; }}", Negated(condition.yielded)));
  if (!body.text.empty()) {
    region.Line("{");
    region.Write(body);
    region.Line("}");
  }
  if (!next.text.empty()) {
    region.Line("continuing {");
    region.Write(next);
    region.Line("}");
  }
  region.Close();
}

void LowerReturn(RegionLowering& region, const ir::ReturnInst& inst) {
  if (!region.source().io.empty()) {
    return LowerTypedReturn(region);
  }
  region.Line(inst.value.valid() ? fmt::format("return {};", region.Take(inst.value).text)
                                 : "return;");
  region.ends = true;
}

// Control flows on behind a discard, so that what is sampled later has its neighbours; what the
// invocation writes from now on does not count. Only loops are left, so that they end.
void LowerDiscard(RegionLowering& region) {
  if (region.typed()) {
    region.Line("discard;");
    return LowerUnreachable(region);
  }
  // The flag is there only if some loop of the module asks for it. It is set before the discard,
  // since nothing that is written afterwards counts.
  region.LineIf(MarkKind::kIfFlag, 0, "kiln__discarded = true;");
  region.Line("discard;");
  if (region.loops > 0) {
    region.Line("return" + Mark(MarkKind::kZero) + ";");
    region.ends = true;
  } else {
    region.LineIf(MarkKind::kIfInLoop, 0, "return" + Mark(MarkKind::kZero) + ";");
  }
}

void LowerInsertionPoint(RegionLowering& region, const ir::InsertionPointInst& inst) {
  region.Flush();
  region.InsertionPoint(inst.region);
}

void LowerLogical(RegionLowering& region, ir::InstId id, const ir::LogicalInst& inst) {
  const bool both = inst.op == ir::LogicalOp::kAnd;
  Expr left = region.Take(inst.left);
  const RegionLowering::NestedBlock right = region.Capture(inst.right);
  // The right operand needs no statement, so WGSL's own operator evaluates it as the IR says: only
  // if the left one does not decide.
  if (right.text.empty()) {
    region.Define(id, {.text = fmt::format("{} {} {}", OperandText(left), both ? "&&" : "||",
                                           OperandText(right.yielded)),
                       .binding = Binding::kBinary,
                       .reads = left.reads || right.yielded.reads,
                       .depth = std::max(left.depth, right.yielded.depth) + 1});
    return;
  }
  // Otherwise the left value goes to a variable and the statements of the right one to an `if`.
  region.Flush();
  const std::string variable = region.NewVariable("bool", left.text);
  region.Line(fmt::format("if ({}{}) {{", both ? "" : "!", variable));
  WriteValue(region, right, variable);
  region.Line("}");
  region.Define(id, {.text = variable});
}

// Always a variable and a branch: WGSL's select evaluates both sides.
void LowerSelectBlocks(RegionLowering& region, ir::InstId id, const ir::SelectBlocksInst& inst) {
  const std::span<const uint32_t> blocks = region.source().List(inst.blocks);
  const Expr condition = region.Take(inst.condition);
  region.Flush();
  const RegionLowering::NestedBlock yes = region.Capture(ir::BlockId{blocks[0]});
  const RegionLowering::NestedBlock no = region.Capture(ir::BlockId{blocks[1]});
  const std::string variable = region.NewVariable(region.Type(inst.type));
  region.Line(fmt::format("if ({}) {{", condition.text));
  WriteValue(region, yes, variable);
  region.Line("} else {");
  WriteValue(region, no, variable);
  region.Line("}");
  region.Define(id, {.text = variable});
}

void LowerCall(RegionLowering& region, ir::InstId id, const ir::CallInst& inst) {
  std::string call = Mark(MarkKind::kFunction, inst.function.value) + "(";
  std::string_view separator;
  // Values go as they are, handles by the name of what they are bound to, places as pointers.
  for (const uint32_t argument : region.source().List(inst.arguments)) {
    call += separator;
    separator = ", ";
    const ir::InstId value{argument};
    if (!region.IsPlace(value)) {
      call += ArgumentText(region.Take(value));
    } else if (region.IsHandle(region.InstOf(value).type)) {
      const HandleText handle = HandleOf(region, value);
      // A function cannot be handed a texture that is chosen while it runs: every element is a
      // variable of its own.
      if (handle.dynamic) {
        region.Report(Code::kWgsl8202, id, {{"op", "call with an image that a value chooses"}});
      }
      call += handle.text;
    } else {
      call += "&" + PlaceOf(region, value).text;
    }
  }
  call += Mark(MarkKind::kArguments, inst.function.value) + ")";
  // The callee may write to anything, so what reads memory gets its value now.
  region.Flush();
  if (region.pool()[inst.type].kind == ir::TypeKind::kVoid) {
    region.Line(call + ";");
  } else {
    region.DefineHere(id, {.text = std::move(call)});
  }
  if (!region.typed()) {
    LeaveIfDiscarded(region, inst.function);
  }
}

}  // namespace kiln::wgsl
