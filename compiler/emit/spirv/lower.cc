// SPDX-License-Identifier: MIT
#include "compiler/emit/spirv/lower.h"

#include "compiler/base/check.h"
#include "compiler/base/stop.h"
#include "compiler/emit/spirv/lower_decl.h"
#include "compiler/emit/spirv/lower_segment.h"

namespace kiln::spirv {

using spv::Op;
using spv::StorageClass;

SegmentLowering::SegmentLowering(const ir::SpecialisedRegion& segment, CodeObjectTable& table)
    : segment_(segment),
      table_(table),
      pool_(table.pool()),
      globals_(table.globals()),
      writer_(table.SegmentWriter()),
      scratch_(table.scratch()),
      cache_(scratch_.cache),
      values_(scratch_.values),
      steps_(scratch_.steps),
      marked_(scratch_.marked),
      relaxed_(scratch_.relaxed),
      marked_relaxed_(scratch_.marked_relaxed) {
  scratch_.Clear();
  values_.assign(segment.insts.size(), Ref{});
}

CodeObjectId SegmentLowering::Run() {
  if (!segment_.relaxed.empty()) {
    relaxed_.resize(segment_.insts.size());
    for (const uint32_t inst : segment_.relaxed) {
      relaxed_[inst] = true;
    }
  }
  ReserveNames();
  LowerBlock(segment_.body);
  writer_.end = terminated_ ? End::kTerminated : unreachable_ ? End::kUnreachable : End::kFlows;
  return table_.store().Add(writer_);
}

bool SegmentLowering::IsHandle(ir::TypeId type) const {
  const ir::TypeKind kind = pool_[type].kind;
  return kind == ir::TypeKind::kSampler || kind == ir::TypeKind::kImage;
}

// Reserved names take the first ids, in source order; a loop exit takes two.
void SegmentLowering::ReserveNames() {
  CodeObjectStore& store = table_.store();
  std::vector<LoweringScratch::OwnName>& names = scratch_.own_names;
  for (const ir::SpecialisedLocal& local : segment_.locals) {
    if (local.local.value >= names.size()) {
      names.resize(local.local.value + size_t{1});
    }
    names[local.local.value] = {scratch_.epoch, writer_.Reserve(store.Local(local.local))};
    if (local.kind == ir::LocalKind::kLoopExit) {
      writer_.Reserve(store.Local(local.local, LocalRole::kContinue));
    }
  }
  for (const ir::SpecialisedLocal& local : segment_.locals) {
    const Ref id = names[local.local.value].id;
    if (local.kind == ir::LocalKind::kLoopExit) {
      continue;
    }
    if (table_.target().debug != target::Debug::kNone) {
      writer_.Op(Part::kDebug, Op::OpName).Use(id).Text(pool_.Text(local.name));
    }
    if (local.relaxed) {
      MarkRelaxed(id);
    }
    if (local.kind == ir::LocalKind::kVariable) {
      writer_.Op(Part::kVariables, Op::OpVariable)
          .Use(globals_.Pointer(StorageClass::Function, Type(local.type)))
          .Use(id)
          .Word(StorageClass::Function);
    }
  }
}

Ref SegmentLowering::LowerName(ir::LocalId local, LocalRole role) {
  const std::vector<LoweringScratch::OwnName>& names = scratch_.own_names;
  if (local.value < names.size() && names[local.value].epoch == scratch_.epoch) {
    return Ref::Own(names[local.value].id.number() + static_cast<uint32_t>(role));
  }
  return Ref::Of(table_.store().Local(local, role));
}

void SegmentLowering::LowerBlock(ir::BlockId block) {
  KILN_CHECK(++depth_ <= ir::kMaxNesting);
  for (const uint32_t row : segment_.InstsOf(block)) {
    CheckStop();
    const ir::InstId id{row};
    LowerInst(id, InstOf(id));
  }
  --depth_;
}

Ref SegmentLowering::LowerValueBlock(ir::BlockId block) {
  yielded_ = {};
  LowerBlock(block);
  KILN_CHECK(yielded_.valid(), "a value block must yield");
  return yielded_;
}

// A line lasts to the end of its block; what is repeated is left out.
void SegmentLowering::MarkLine(ir::InstId id) {
  const SourceLines* lines = table_.lines();
  if (lines == nullptr || id.value >= segment_.spans.size() || terminated_) {
    return;
  }
  const SourceLines::Position line = lines->At(segment_.module, segment_.spans[id.value]);
  if (line.line == 0 || line == line_) {
    return;
  }
  line_ = line;
  Code(Op::OpLine)
      .Use(globals_.SourceFile(lines->FileOf(segment_.module)))
      .Word(line.line)
      .Word(line.column);
}

void SegmentLowering::LowerInst(ir::InstId id, const ir::Inst& inst) {
  switch (ir::FactsOf(inst.kind).result) {
    case ir::ResultSchema::kValue:
      if (terminated_) {
        OpenUnreachable();
      }
      MarkLine(id);
      values_[id.value] = LowerValue(inst);
      if (!relaxed_.empty()) {
        FollowRelaxed(id, inst);
      }
      return;
    case ir::ResultSchema::kPlace:
      if (inst.kind == ir::InstKind::kTemp) {
        values_[id.value] = LowerTemp(inst.type);
      }
      return;
    case ir::ResultSchema::kVoid:
      if (terminated_ && inst.kind != ir::InstKind::kScope) {
        OpenUnreachable();
      }
      MarkLine(id);
      LowerStatement(inst);
      return;
    case ir::ResultSchema::kDeferred:
      break;
  }
  KILN_UNREACHABLE();
}

void SegmentLowering::LowerStatement(const ir::Inst& inst) {
  using enum ir::InstKind;
  switch (inst.kind) {
    case kYield:
      yielded_ = ValueOf(inst.As<ir::YieldInst>().value);
      return;
    case kScope:
      LowerBlock(inst.As<ir::ScopeInst>().block);
      return;
    case kIf:
      LowerIf(inst.As<ir::IfInst>());
      return;
    case kLoop:
      LowerLoop(inst.As<ir::LoopInst>());
      return;
    case kBreak:
      Branch(LowerName(inst.As<ir::BreakInst>().exit, LocalRole::kBreak));
      return;
    case kContinue:
      Branch(LowerName(inst.As<ir::ContinueInst>().exit, LocalRole::kContinue));
      return;
    case kReturn:
      LowerReturn(inst.As<ir::ReturnInst>());
      return;
    case kDiscard:
      LowerDiscard();
      return;
    case kStore:
      LowerStore(inst.As<ir::StoreInst>());
      return;
    case kHole:
      LowerHole(inst.As<ir::HoleInst>().segment);
      return;
    case kConst:
    case kFlag:
    case kText:
    case kNameRef:
    case kMember:
    case kIndex:
    case kNameCall:
    case kNameConstruct:
    case kNameUnary:
    case kNameBinary:
    case kAssign:
    case kAssignOp:
    case kNameBuiltin:
    case kNameSelect:
    case kVariable:
    case kAlias:
    case kStatement:
    case kWhen:
    case kWhenSegment:
    case kLogical:
    case kGlobalRef:
    case kStageRef:
    case kLocalRef:
    case kTemp:
    case kConstPlace:
    case kSpecConst:
    case kAccess:
    case kParam:
    case kLoad:
    case kUnary:
    case kBinary:
    case kConstruct:
    case kSplat:
    case kConvert:
    case kExtract:
    case kSwizzle:
    case kBuiltinCall:
    case kCall:
    case kSelect:
    case kSelectBlocks:
      break;
  }
  KILN_CHECK(false, "{} is no closed statement", ir::FactsOf(inst.kind).mnemonic);
}

Ref SegmentLowering::LowerValue(const ir::Inst& inst) {
  using enum ir::InstKind;
  switch (inst.kind) {
    case kConst:
      return Ref::Of(globals_.Constant(inst.As<ir::ConstInst>().value));
    case kFlag:
      return Ref::Of(globals_.Flag(inst.As<ir::FlagInst>().value != 0));
    case kLogical:
      return LowerLogical(inst.As<ir::LogicalInst>());
    case kSpecConst: {
      const auto spec = inst.As<ir::SpecConstInst>();
      return Ref::Of(globals_.SpecConstant(inst.type, spec.id, spec.bits));
    }
    case kParam:
      return LowerName(inst.As<ir::ParamInst>().local);
    case kLoad:
      return LowerLoad(inst.As<ir::LoadInst>());
    case kUnary:
      return LowerUnary(inst.As<ir::UnaryInst>());
    case kBinary:
      return LowerBinary(inst.As<ir::BinaryInst>());
    case kConstruct:
      return LowerConstruct(inst.As<ir::ConstructInst>());
    case kSplat:
      return LowerSplat(inst.As<ir::SplatInst>());
    case kConvert:
      return LowerConvert(inst.As<ir::ConvertInst>());
    case kExtract: {
      const auto extract = inst.As<ir::ExtractInst>();
      return Extract(Type(inst.type), ValueOf(extract.value), extract.index);
    }
    case kSwizzle:
      return LowerSwizzle(inst.As<ir::SwizzleInst>());
    case kBuiltinCall:
      return LowerBuiltin(inst.As<ir::BuiltinCallInst>());
    case kCall:
      return LowerCall(inst.As<ir::CallInst>());
    case kSelect:
      return LowerSelect(inst.As<ir::SelectInst>());
    case kSelectBlocks:
      return LowerSelectBlocks(inst.As<ir::SelectBlocksInst>());
    case kText:
    case kNameRef:
    case kMember:
    case kIndex:
    case kNameCall:
    case kNameConstruct:
    case kNameUnary:
    case kNameBinary:
    case kAssign:
    case kAssignOp:
    case kNameBuiltin:
    case kNameSelect:
    case kVariable:
    case kAlias:
    case kStatement:
    case kWhen:
    case kWhenSegment:
    case kYield:
    case kScope:
    case kIf:
    case kLoop:
    case kBreak:
    case kContinue:
    case kReturn:
    case kDiscard:
    case kGlobalRef:
    case kStageRef:
    case kLocalRef:
    case kTemp:
    case kConstPlace:
    case kAccess:
    case kStore:
    case kHole:
      break;
  }
  KILN_CHECK(false, "{} is no closed value", ir::FactsOf(inst.kind).mnemonic);
  return {};
}

Ref SegmentLowering::Compute(Op op, SymbolId type, Ref a, Ref b) {
  const Ref result = writer_.NewId();
  Code(op).Use(type).Use(result).Use(a).Use(b);
  return result;
}

Ref SegmentLowering::Compute(Op op, SymbolId type, Ref a) {
  const Ref result = writer_.NewId();
  Code(op).Use(type).Use(result).Use(a);
  return result;
}

CodeObjectId Lower(const ir::SpecialisedRegion& segment, const target::Target& target,
                   CodeObjectTable& table) {
  KILN_CHECK(target == table.target(), "a piece table serves one target");
  return SegmentLowering(segment, table).Run();
}

void Prepare(const ir::SpecialisedProgram& variant, CodeObjectTable& table) {
  for (const ir::SpecialisedDecl* decl : variant.interface) {
    if (table.Find(decl) == nullptr) {
      LowerDecl(*decl, table);
    }
  }
  for (const ir::EntryRef& entry : variant.entries) {
    for (const ir::FunctionRef* function : entry.functions) {
      if (!table.AddPrepared(*function)) {
        continue;
      }
      if (table.Find(function->signature) == nullptr) {
        LowerDecl(*function->signature, table);
      }
      for (const ir::RegionRef& ref : function->segments) {
        if (!table.Find(ref.closed).valid()) {
          table.Bind(*ref.closed, Lower(*ref.closed, table.target(), table));
        }
      }
    }
  }
}

}  // namespace kiln::spirv
