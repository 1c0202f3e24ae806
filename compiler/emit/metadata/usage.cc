// SPDX-License-Identifier: MIT
#include "compiler/emit/metadata/usage.h"

#include <algorithm>

#include "compiler/base/flat_map.h"
#include "compiler/ir/builtins.h"
#include "compiler/ir/insts.h"
#include "compiler/ir/typing/typing.h"

namespace kiln::metadata {
namespace {

// The tables grow as far as they are needed; ids are dense, so rows are found by index.
template <class Row, class Value>
void SetAt(std::vector<Row>& rows, uint32_t row, Value value) {
  if (row >= rows.size()) {
    rows.resize(row + 1);
  }
  rows[row] = rows[row] | value;
}

// Mentions were collected when the region was specialised; here they are only joined, once for each
// stage that reaches it.
void AddMentions(const ir::SpecialisedRegion& region, ir::Stage stage, Usage& usage) {
  for (const ir::Mention& mention : region.mentions) {
    SetAt(usage.stages, mention.decl.value,
          static_cast<uint8_t>(1U << static_cast<uint32_t>(stage)));
    if (mention.member.valid()) {
      SetAt(usage.touches, mention.member.value, mention.touches);
    }
    if ((mention.touches & static_cast<uint8_t>(ir::MemberUse::kCompare)) != 0) {
      SetAt(usage.compared, mention.decl.value, true);
    }
  }
}

bool TakesSampler(const ir::Pool& pool, const ir::FunctionRef& function) {
  return std::ranges::any_of(function.signature->members,
                             [&pool](const ir::SpecialisedMember& member) {
                               return pool[member.type].kind == ir::TypeKind::kSampler;
                             });
}

// Samplers that reach a comparison through parameters. A comparison marks its parameter, a call
// hands the mark of a parameter on to its argument, until nothing changes.
class ComparedArguments {
 public:
  ComparedArguments(const ir::EntryRef& entry, Usage& usage) : entry_(entry), usage_(usage) {
    for (const ir::FunctionRef* function : entry.functions) {
      signatures_.Insert(function->function.value, function->signature);
    }
  }

  // Few entry points have functions that take samplers, and chains of calls are short; so this
  // repeats until nothing changes instead of sorting functions.
  void Run() {
    do {
      changed_ = false;
      // The order of functions does not matter, as marks only grow.
      for (const ir::FunctionRef* function : entry_.functions) {
        for (const ir::RegionRef& region : function->regions) {
          Visit(*region.specialised);
        }
      }
    } while (changed_);
  }

 private:
  void Visit(const ir::SpecialisedRegion& region) {
    for (const ir::Inst& inst : region.insts) {
      if (inst.kind == ir::InstKind::kBuiltinCall) {
        const auto call = inst.As<ir::BuiltinCallInst>();
        // The sampler is the first argument of every sampling function.
        if (ir::IsSampling(call.builtin) && ir::SamplesDepth(call.builtin)) {
          Mark(region, region.List(call.arguments)[0]);
        }
      } else if (inst.kind == ir::InstKind::kCall) {
        VisitCall(region, inst.As<ir::CallInst>());
      }
    }
  }
  void VisitCall(const ir::SpecialisedRegion& region, const ir::CallInst& call) {
    const ir::SpecialisedDecl* const* signature = signatures_.Find(call.function.value);
    // A call of what is not among the functions of this entry cannot hand on anything.
    if (signature == nullptr) {
      return;
    }
    const std::span<const uint32_t> arguments = region.List(call.arguments);
    for (size_t i = 0; i < arguments.size(); ++i) {
      const ir::LocalId parameter = (*signature)->members[i].local;
      if (parameter.value < marked_.size() && marked_[parameter.value]) {
        Mark(region, arguments[i]);
      }
    }
  }
  // A sampler is a global or a parameter: nothing else can be its value.
  void Mark(const ir::SpecialisedRegion& region, uint32_t place) {
    const ir::Inst& inst = region.insts[place];
    if (inst.kind == ir::InstKind::kGlobalRef) {
      SetAt(usage_.compared, inst.As<ir::GlobalRefInst>().decl.value, true);
    } else if (inst.kind == ir::InstKind::kLocalRef) {
      const uint32_t local = inst.As<ir::LocalRefInst>().local.value;
      // Only a new mark is a change, so the passes end.
      changed_ = changed_ || local >= marked_.size() || !marked_[local];
      SetAt(marked_, local, true);
    }
  }

  const ir::EntryRef& entry_;
  Usage& usage_;
  FlatMap<uint32_t, const ir::SpecialisedDecl*> signatures_;  // by DeclId
  std::vector<bool> marked_;                                  // by LocalId
  bool changed_ = false;
};

}  // namespace

Usage UsageOf(const ir::SpecialisedProgram& variant) {
  Usage usage;
  UsageOf(variant, usage);
  return usage;
}

// Cleared and not made anew, because a writer of many variants calls this for each.
void UsageOf(const ir::SpecialisedProgram& variant, Usage& usage) {
  std::ranges::fill(usage.stages, uint8_t{0});
  std::ranges::fill(usage.touches, uint8_t{0});
  usage.compared.assign(usage.compared.size(), false);
  for (const ir::EntryRef& entry : variant.entries) {
    bool takes_sampler = false;
    for (const ir::FunctionRef* function : entry.functions) {
      for (const ir::RegionRef& region : function->regions) {
        AddMentions(*region.specialised, entry.stage, usage);
      }
      takes_sampler = takes_sampler || TakesSampler(*variant.pool, *function);
    }
    // Most programs name their samplers directly and need no propagation.
    if (takes_sampler) {
      ComparedArguments(entry, usage).Run();
    }
  }
}

}  // namespace kiln::metadata
