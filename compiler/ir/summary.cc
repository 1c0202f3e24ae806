// SPDX-License-Identifier: MIT
// One walk over the instructions of a region, in order.
#include "compiler/ir/summary.h"

#include <algorithm>

#include "compiler/ir/operands.h"
#include "compiler/ir/typing/image_typing.h"
#include "compiler/ir/typing/typing.h"

namespace kiln::ir {
namespace {

// Collects what a region mentions, so that later steps never walk its instructions for it.
class Summary {
 public:
  explicit Summary(SpecialisedRegion& region) : region_(region) {}

  // Each instruction exactly once, so lists below are in the order of the source.
  void Walk(BlockId block) {
    for (const uint32_t number : region_.InstsOf(block)) {
      const Inst& inst = region_.insts[number];
      Add(inst);
      ForEachOwnedBlock(
          inst, [this](ListId id) { return region_.List(id); },
          [this](uint32_t owned) { Walk(BlockId{owned}); });
    }
  }

 private:
  // In the order of their first mention. A region mentions a handful of things, so they are
  // searched in a row.
  Mention& MentionOf(DeclId decl, MemberId member, Direction direction) {
    for (Mention& mention : region_.mentions) {
      if (mention.decl == decl && mention.member == member && mention.direction == direction) {
        return mention;
      }
    }
    region_.mentions.push_back({.decl = decl, .member = member, .direction = direction});
    return region_.mentions.back();
  }

  // Marks the global that `place` is part of, if it is one.
  void Touched(InstId place, MemberUse touch) {
    // An access is a path into something; what counts is the variable at its beginning.
    Inst root = region_.insts[place.value];
    if (root.kind == InstKind::kAccess) {
      root = region_.insts[root.As<AccessInst>().root.value];
    }
    if (root.kind == InstKind::kGlobalRef) {
      const GlobalRefInst global = root.As<GlobalRefInst>();
      MentionOf(global.decl, global.member, global.direction).touches |=
          static_cast<uint8_t>(touch);
    }
  }

  // The sampler stands before the image.
  void AddSampling(const BuiltinCallInst& call) {
    // A region that was not verified yet may have too few operands; it is then left alone here and
    // refused there.
    const std::span<const uint32_t> arguments = region_.List(call.arguments);
    if (!IsSampling(call.builtin) || arguments.size() < 2) {
      return;
    }
    // Every sampling function of RPL counts here, those that are given a level included.
    region_.uses_implicit_lod = true;
    Touched(InstId{arguments[0]},
            SamplesDepth(call.builtin) ? MemberUse::kCompare : MemberUse::kSample);
    Touched(InstId{arguments[1]}, MemberUse::kSample);
  }

  // Images stand first here and samplers behind them.
  void AddImage(const ImageInst& image) {
    const std::span<const uint32_t> operands = region_.List(image.operands);
    if (operands.empty()) {
      return;
    }
    region_.uses_implicit_lod =
        region_.uses_implicit_lod || IsImplicitLod(image.op, image.keywords);
    const bool compares = image.op == ImageOp::kSampleDref || image.op == ImageOp::kGatherDref;
    if (OperandCountsOf(image.op, image.keywords).handles == 2 && operands.size() > 1) {
      Touched(InstId{operands[1]}, compares ? MemberUse::kCompare : MemberUse::kSample);
    }
    Touched(InstId{operands[0]}, image.op == ImageOp::kWrite  ? MemberUse::kWrite
                                 : image.op == ImageOp::kRead ? MemberUse::kRead
                                                              : MemberUse::kSample);
  }

  // A compare-exchange reads and writes, like every operation but load and store.
  void AddAtomic(const AtomicInst& atomic) {
    const std::span<const uint32_t> operands = region_.List(atomic.operands);
    if (operands.empty()) {
      return;
    }
    InstId place{operands[0]};
    // An atomic on a texel touches the image that the texel is of.
    if (region_.insts[place.value].kind == InstKind::kTexel) {
      place = region_.insts[place.value].As<TexelInst>().image;
    }
    if (atomic.op != AtomicOp::kStore) {
      Touched(place, MemberUse::kRead);
    }
    if (atomic.op != AtomicOp::kLoad) {
      Touched(place, MemberUse::kWrite);
    }
  }

  // Only kinds that leave a trace in the summary have a branch.
  void Add(const Inst& inst) {
    if (inst.kind == InstKind::kGlobalRef) {
      const GlobalRefInst global = inst.As<GlobalRefInst>();
      MentionOf(global.decl, global.member, global.direction);
      // A region that uses an input or output belongs to the stage that has them.
      region_.bound = region_.bound || global.direction != Direction::kNone;
    } else if (inst.kind == InstKind::kCall) {
      MentionOf(inst.As<CallInst>().function, {}, Direction::kNone);
    } else if (inst.kind == InstKind::kLoad) {
      Touched(inst.As<LoadInst>().place, MemberUse::kRead);
    } else if (inst.kind == InstKind::kStore) {
      Touched(inst.As<StoreInst>().place, MemberUse::kWrite);
    } else if (inst.kind == InstKind::kBuiltinCall) {
      AddSampling(inst.As<BuiltinCallInst>());
    } else if (inst.kind == InstKind::kInsertionPoint) {
      region_.insertion_points.push_back(inst.As<InsertionPointInst>().region);
    } else if (inst.kind == InstKind::kImage) {
      AddImage(inst.As<ImageInst>());
    } else if (inst.kind == InstKind::kAtomic) {
      AddAtomic(inst.As<AtomicInst>());
    } else if (inst.kind == InstKind::kDiscard || inst.kind == InstKind::kDemote) {
      region_.discards = true;
      region_.bound = true;
    } else if (inst.kind == InstKind::kStageRef) {
      const StageVariable variable = inst.As<StageRefInst>().variable;
      region_.bound = true;
      if (std::ranges::find(region_.stage_variables, variable) == region_.stage_variables.end()) {
        region_.stage_variables.push_back(variable);
      }
    }
  }

  SpecialisedRegion& region_;
};

}  // namespace

// Requires: the region was made by specialisation. Nothing about its operands has been
// verified.
void Summarise(SpecialisedRegion& region) {
  // Cleared first, because a region may be summarised again after it was changed.
  region.mentions.clear();
  region.insertion_points.clear();
  region.stage_variables.clear();
  region.discards = false;
  region.bound = false;
  region.uses_implicit_lod = false;
  Summary(region).Walk(region.body);
}

}  // namespace kiln::ir
