// SPDX-License-Identifier: MIT
// What only typed modules have: attributes, variables, images, cases of switches.
#include "compiler/base/check.h"
#include "compiler/ir/operands.h"
#include "compiler/ir/typing/image_typing.h"
#include "tests/support/random_module_rows.h"

namespace kiln::ir {

// What is written otherwise in typed modules.
void RandomModule::AddTypedDecl(Decl& decl, std::vector<Member>& members) {
  if (decl.kind == DeclKind::kEntry && functions_.empty()) {
    decl.kind = DeclKind::kPrivate;
  }
  if (decl.kind == DeclKind::kSetting) {
    decl.aux = functions_.empty() || Chance(50) ? kNoRow : Pick(functions_).value;
    decl.flags = static_cast<uint16_t>(Chance(30) ? Below(9) : 0);  // 1 + block
  } else if (decl.kind == DeclKind::kPrivate) {
    decl.type = Pick(types_);
    decl.body = Chance(50) ? kNoRow : Pick(cexprs_).value;
    if (decl.body == kNoRow && Chance(50)) {
      decl.aux = AddInitialiser(decl.type).value;
    }
  } else if (decl.kind == DeclKind::kEntry) {
    decl.flags = static_cast<uint16_t>(Any<Stage>());
    decl.name = builder_.Text({});
    decl.body = Pick(functions_).value;
  } else if (decl.kind == DeclKind::kSampler && Chance(50)) {
    decl.type = builder_.Array(decl.type, Pick(cexprs_));
  } else if (decl.kind == DeclKind::kBuffer && Chance(30)) {
    if (!structs_.empty()) {
      const TypeId type = Pick(structs_);
      decl.type = Chance(50) ? type : builder_.Array(type, Pick(cexprs_));
      members.clear();
    }
  }
}

// A function that computes a variable.
DeclId RandomModule::AddInitialiser(TypeId type) {
  const DeclId function = builder_.BeginFunction(
      {.kind = DeclKind::kFunction, .name = Text(), .condition = kTrue, .type = type},
      {.name = Spans()});
  FillBlock(1, false);
  builder_.EndFunction();
  locals_.clear();
  return function;
}

void RandomModule::AddAttributes(bool of_member, uint32_t owner) {
  for (uint32_t i = 0; i < Below(3); ++i) {
    Attribute attribute{.of_member = static_cast<uint16_t>(of_member ? 1 : 0),
                        .key = Any<AttributeKey>(),
                        .owner = owner};
    const AttributeFacts& facts = FactsOf(attribute.key);
    if (facts.owners == (of_member ? AttributeOwners::kDecl : AttributeOwners::kMember)) {
      continue;
    }
    const auto word = [this](AttributeWord kind) -> uint32_t {
      switch (kind) {
        case AttributeWord::kNone:
          return 0;
        case AttributeWord::kNumber:
          return Below(UINT32_MAX);
        case AttributeWord::kText:
          return Text().value;
        case AttributeWord::kInterpolation:
          return Below(CountOf<Interpolation>());
        case AttributeWord::kRate:
          return Below(CountOf<Rate>());
        case AttributeWord::kFormat:
          return Below(CountOf<ImageFormat>());
        case AttributeWord::kRuleSet:
          return Below(CountOf<RuleSet>());
      }
      KILN_UNREACHABLE();
    };
    attribute.a = word(facts.a);
    attribute.b = word(facts.b);
    builder_.Add(attribute);
  }
}

uint32_t RandomModule::AnyLiteral(InstKind kind) {
  switch (kind) {
    case InstKind::kSwizzle: {
      const uint8_t letters[4] = {3, 0, 2, 1};
      return PackSwizzle(1 + Below(4), letters);
    }
    case InstKind::kImage: {
      const bool sampler = FactsOf(static_cast<ImageOp>(literal_)).operands.starts_with('S');
      return Below(1u << CountOf<ImageOperand>()) | (sampler && Chance(50) ? kCombinedSampler : 0);
    }
    case InstKind::kAtomic:
      return Pack(
          AtomicMode{.scope = static_cast<MemoryScope>(1 + Below(4)), .order = Any<MemoryOrder>()});
    case InstKind::kBarrier:
      return Pack(BarrierMode{.execution = Any<MemoryScope>(),
                              .scope = static_cast<MemoryScope>(1 + Below(4)),
                              .kinds = static_cast<uint8_t>(Below(8))});
    default:
      return Below(2);
  }
}

std::vector<uint32_t> RandomModule::AnyImageOperands(uint16_t op, uint32_t keywords) {
  std::vector<uint32_t> operands;
  const size_t count = OperandCountsOf(static_cast<ImageOp>(op), keywords).all();
  while (operands.size() < count) {
    operands.push_back(AnyValue().value);
  }
  return operands;
}

uint32_t RandomModule::AnyPart() {
  std::vector<uint32_t> part{AnyValue().value};
  for (uint32_t i = 0; i < 1 + Below(3); ++i) {
    part.push_back(Below(UINT32_MAX));
  }
  return builder_.List(part).value;
}

uint32_t RandomModule::AnyCases(uint32_t depth) {
  std::vector<uint32_t> words{AnyValue().value};
  for (uint32_t i = 0; i < Below(4); ++i) {
    const uint32_t labels = Below(3);
    words.push_back(CaseHead(labels, labels == 0 || Chance(30), Chance(30)));
    for (uint32_t label = 0; label < labels; ++label) {
      words.push_back(builder_.ScalarConst(scalars_[1], Below(9)).value);
    }
    words.push_back(NewBlock(depth - 1, false).value);
  }
  return builder_.NewList(words).value;
}

DeclId RandomModule::AnyDecl(InstKind kind) {
  return kind == InstKind::kCall ? Pick(functions_) : Pick(globals_);
}

}  // namespace kiln::ir
