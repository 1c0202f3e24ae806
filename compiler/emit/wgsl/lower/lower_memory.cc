// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/lower/lower_memory.h"

#include <fmt/format.h>

#include "compiler/emit/wgsl/lower/lower_place.h"
#include "compiler/emit/wgsl/lower/rows.h"
#include "compiler/ir/typing/typing.h"

namespace kiln::wgsl {
namespace {

// WGSL's exchange may fail although the values are equal, so it is tried until it has not.
void LowerCompareExchange(RegionLowering& region, ir::InstId id, const std::string& place,
                          const Expr& expected_value, const Expr& new_value) {
  const std::string type = region.Type(region.InstOf(id).type);
  // Both values are read in every round, so they get names in front of the loop.
  const Expr expected = region.Named(type, expected_value);
  const Expr desired = region.Named(type, new_value);
  const std::string old = region.NewVariable(type);
  const std::string attempt = region.NewName();
  region.Open("loop {");
  region.Line(fmt::format("let {} = atomicCompareExchangeWeak(&{}, {}, {});", attempt, place,
                          expected.text, desired.text));
  region.Line(fmt::format("{} = {}.old_value;", old, attempt));
  region.Line(
      fmt::format("if ({0}.exchanged || ({1} != {2})) {{ break; }}", attempt, old, expected.text));
  region.Close();
  region.SetText(id, old);
}

void LowerAtomic(RegionLowering& region, ir::InstId id, const ir::BuiltinCallInst& inst) {
  const std::span<const uint32_t> operands = region.source().List(inst.arguments);
  const ir::InstId target{operands[0]};
  const PlaceText place = PlaceOf(region, target);
  const Expr value = region.Take(ir::InstId{operands[1]});
  // Only leaves of a declaration can be atomic. The finding is reported and the value is zero, so
  // that lowering can go on.
  if (!region.types().HoldsAtomic(place.type, place.atomic, place.leaf)) {
    region.Report(Code::kWgsl8202, id, {{"op", "atomic on a component of a vector"}});
    region.SetText(id, region.Type(inst.type) + "()");
    return;
  }
  if (inst.builtin == ir::Builtin::kAtomicCompareExchange) {
    const Expr desired = region.Take(ir::InstId{operands[2]});
    region.Flush();
    return LowerCompareExchange(region, id, place.text, value, desired);
  }
  // An atomic stands where it is written in the source: it gets a name here, after everything that
  // must be read before it.
  region.Flush();
  region.DefineHere(id, {.text = fmt::format("{}(&{}, {})", RowOf(inst.builtin).text, place.text,
                                             ArgumentText(value))});
}

// What reads memory must be read before the barrier.
void LowerBarrier(RegionLowering& region, const ir::BuiltinCallInst& inst) {
  region.Flush();
  region.Line(fmt::format("{}();", RowOf(inst.builtin).text));
  // A storage barrier of RPL orders images as well; WGSL has a barrier of its own for them, which
  // only modules with images that are read and written accept.
  if (inst.builtin == ir::Builtin::kStorageBarrier) {
    region.LineIf(MarkKind::kIfWritesImages, 0, "textureBarrier();");
  }
}

}  // namespace

void LowerMemory(RegionLowering& region, ir::InstId id, const ir::BuiltinCallInst& inst) {
  if (ir::IsBarrier(inst.builtin)) {
    return LowerBarrier(region, inst);
  }
  if (ir::IsAtomic(inst.builtin)) {
    return LowerAtomic(region, id, inst);
  }
  const PlaceText place = PlaceOf(region, ir::InstId{region.source().List(inst.arguments)[0]});
  region.Define(id, {.text = fmt::format("arrayLength(&{})", place.text)});
}

}  // namespace kiln::wgsl
