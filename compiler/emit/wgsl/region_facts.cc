// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/region_facts.h"

#include <algorithm>
#include <optional>

#include "compiler/base/threads/stop.h"
#include "compiler/ir/builtins.h"
#include "compiler/ir/operands.h"
#include "compiler/ir/typing/image_typing.h"
#include "compiler/ir/typing/typing.h"

namespace kiln::wgsl {
namespace {

// Operations that need all invocations of a group at one place: implicit derivatives, derivatives
// and barriers.
bool IsCollective(ir::Builtin builtin) {
  return ir::IsImplicitLod(builtin) || ir::IsBarrier(builtin) ||
         (builtin >= ir::Builtin::kDdx && builtin <= ir::Builtin::kDdyCoarse);
}

// Walks a region once, in the order in which it runs, and keeps along the way whether it is in a
// loop, behind a branch, or where the function may have been left already.
class Scan {
 public:
  Scan(const ir::SpecialisedRegion& region, Types& types) : region_(region), types_(types) {}

  RegionFacts Run() {
    Block(region_.body);
    return std::move(facts_);
  }

 private:
  const ir::Inst& InstOf(ir::InstId id) const { return region_.insts[id.value]; }
  ir::SpanId SpanOf(ir::InstId id) const {
    return id.value < region_.spans.size() ? region_.spans[id.value] : ir::SpanId{};
  }
  void Block(ir::BlockId block);
  void Inst(ir::InstId id);
  void Nested(const ir::Inst& inst);
  void Call(const ir::CallInst& call);
  void Builtin(ir::InstId id, const ir::BuiltinCallInst& call);
  void Image(ir::InstId id, const ir::ImageInst& inst);
  void Atomic(ir::InstId place);
  std::optional<SamplerRoot> RootOf(ir::InstId id) const;

  const ir::SpecialisedRegion& region_;
  Types& types_;
  RegionFacts facts_;
  uint32_t loops_ = 0;
  uint32_t branches_ = 0;  // loops included
  Flow flow_ = Flow::kUniform;
};

void Scan::Block(ir::BlockId block) {
  for (const uint32_t inst : region_.InstsOf(block)) {
    CheckStop();
    Inst(ir::InstId{inst});
  }
}

// Behind a nested block control may be split up for good only if the function may be left there.
void Scan::Nested(const ir::Inst& inst) {
  const Flow before = flow_;
  const bool left_before = facts_.leaves_early;
  // A scope alone changes nothing about control.
  const bool scope = inst.kind == ir::InstKind::kScope;
  const bool loop = inst.kind == ir::InstKind::kLoop;
  loops_ += loop ? 1 : 0;
  branches_ += scope ? 0 : 1;
  // A scope always runs. Everything else that owns a block may run it for some invocations only.
  flow_ = scope ? flow_ : Flow::kUnknown;
  const auto lists = [&](ir::ListId list) { return region_.List(list); };
  ir::ForEachOwnedBlock(inst, lists, [&](uint32_t block) { Block(ir::BlockId{block}); });
  loops_ -= loop ? 1 : 0;
  branches_ -= scope ? 0 : 1;
  const bool left = facts_.leaves_early && !left_before;
  flow_ = left ? Flow::kUnknown : scope ? flow_ : before;
}

// Only what says something about the function is looked at; the rest computes values.
void Scan::Inst(ir::InstId id) {
  const ir::Inst& inst = InstOf(id);
  switch (inst.kind) {
    case ir::InstKind::kScope:
    case ir::InstKind::kIf:
    case ir::InstKind::kLoop:
    case ir::InstKind::kSwitch:
    case ir::InstKind::kLogical:
    case ir::InstKind::kSelectBlocks:
      Nested(inst);
      return;
    // A return that always happens leaves nobody behind; one in a branch may leave some.
    case ir::InstKind::kReturn:
      facts_.leaves_early = facts_.leaves_early || branches_ > 0;
      return;
    // Outside of loops control goes on behind a discard (spec/wgsl 2.7), so it leaves nothing
    // early. Inside of one the function returns.
    case ir::InstKind::kDiscard:
      facts_.discards = true;
      facts_.leaves_early = facts_.leaves_early || loops_ > 0 || (types_.typed && branches_ > 0);
      return;
    case ir::InstKind::kImage:
      Image(id, inst.As<ir::ImageInst>());
      return;
    case ir::InstKind::kAtomic:
      Atomic(ir::InstId{region_.List(inst.As<ir::AtomicInst>().operands)[0]});
      return;
    case ir::InstKind::kInsertionPoint:
      facts_.insertion_points.push_back(
          {inst.As<ir::InsertionPointInst>().region, loops_ > 0, flow_});
      return;
    case ir::InstKind::kCall:
      Call(inst.As<ir::CallInst>());
      return;
    case ir::InstKind::kBuiltinCall:
      Builtin(id, inst.As<ir::BuiltinCallInst>());
      return;
    default:
      return;
  }
}

// The sampler behind an operand: a declaration or a parameter. Everything that is no sampler has
// none.
std::optional<SamplerRoot> Scan::RootOf(ir::InstId id) const {
  const ir::Inst& inst = InstOf(id);
  if (types_.pool()[inst.type].kind != ir::TypeKind::kSampler) {
    return std::nullopt;
  }
  if (inst.kind == ir::InstKind::kGlobalRef) {
    return SamplerRoot{.decl = inst.As<ir::GlobalRefInst>().decl};
  }
  return SamplerRoot{.parameter = inst.As<ir::LocalRefInst>().local};
}

void Scan::Call(const ir::CallInst& call) {
  facts_.calls.push_back({call.function, loops_ > 0, flow_});
  // Only samplers are followed through calls; their type must be known where they are declared.
  const std::span<const uint32_t> arguments = region_.List(call.arguments);
  for (uint32_t i = 0; i < arguments.size(); ++i) {
    if (const std::optional<SamplerRoot> root = RootOf(ir::InstId{arguments[i]})) {
      facts_.flows.push_back({.callee = call.function, .argument = i, .root = *root});
    }
  }
}

void Scan::Builtin(ir::InstId id, const ir::BuiltinCallInst& call) {
  const std::span<const uint32_t> arguments = region_.List(call.arguments);
  if (IsCollective(call.builtin)) {
    // Noted with the flow of this place; whether it matters depends on the callers.
    facts_.collectives.push_back({call.builtin, SpanOf(id), flow_});
  }
  if (ir::IsSampling(call.builtin)) {
    facts_.samplers.push_back({.root = RootOf(ir::InstId{arguments[0]}).value_or(SamplerRoot{}),
                               .compares = ir::SamplesDepth(call.builtin),
                               .span = SpanOf(id)});
  }
  if (ir::IsAtomic(call.builtin)) {
    Atomic(ir::InstId{arguments[0]});
  }
}

// Of typed modules, where the image stands first.
void Scan::Image(ir::InstId id, const ir::ImageInst& inst) {
  const bool compares = inst.op == ir::ImageOp::kSampleDref || inst.op == ir::ImageOp::kGatherDref;
  if (ir::IsImplicitLod(inst.op, inst.keywords)) {
    facts_.collectives.push_back(
        {compares ? ir::Builtin::kSampleDref : ir::Builtin::kSample, SpanOf(id), flow_});
  }
  if (!compares && inst.op != ir::ImageOp::kSample && inst.op != ir::ImageOp::kGather) {
    return;
  }
  const ir::InstId sampler{region_.List(inst.operands)[1]};
  facts_.samplers.push_back(
      {.root = RootOf(sampler).value_or(SamplerRoot{}), .compares = compares, .span = SpanOf(id)});
}

// Finds which leaf of a declaration an atomic touches: the member of a struct counts, the item of
// an array does not, since all items have one type.
void Scan::Atomic(ir::InstId place) {
  ir::InstId root = place;
  std::span<const uint32_t> steps;
  if (InstOf(place).kind == ir::InstKind::kAccess) {
    const auto access = InstOf(place).As<ir::AccessInst>();
    root = access.root;
    steps = region_.List(access.steps);
  }
  ir::TypeId type = InstOf(root).type;
  uint32_t leaf = 0;
  // Steps into structs are constants; those into arrays may be anything.
  for (const uint32_t step : steps) {
    const ir::Type t = types_.pool()[type];
    if (t.kind == ir::TypeKind::kStruct) {
      const uint32_t member = types_.pool()[InstOf(ir::InstId{step}).As<ir::ConstInst>().value].a;
      leaf += types_.LeafOfMember(type, member);
      type = types_.pool().Members(type)[member].type;
    } else if (t.kind == ir::TypeKind::kArray || t.kind == ir::TypeKind::kRuntimeArray) {
      type = ir::TypeId{t.element};
    } else {
      return;  // a component is no atomic: lowering says so
    }
  }
  // A vector is no atomic either.
  if (types_.pool()[type].rows != 1) {
    return;
  }
  const RegionFacts::AtomicUse use{.decl = InstOf(root).As<ir::GlobalRefInst>().decl, .leaf = leaf};
  // A type with too many leaves to tell apart keeps no atomics; lowering then refuses the
  // operation.
  if (leaf <= kMaxLeaves && std::ranges::find(facts_.atomics, use) == facts_.atomics.end()) {
    facts_.atomics.push_back(use);
  }
}

}  // namespace

RegionFacts FactsOf(const ir::SpecialisedRegion& region, Types& types) {
  return Scan(region, types).Run();
}

}  // namespace kiln::wgsl
