// SPDX-License-Identifier: MIT
// The drawing of a random module in progress. Used by random_module.cc, which has the rows of all
// modules, and random_typed_rows.cc, which has those of typed ones.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "compiler/base/digest.h"
#include "compiler/ir/enum_names.h"
#include "tests/support/random_module.h"

namespace kiln::ir {

inline constexpr std::string_view kWords[] = {"skinning", "x", "y",        "light_t",
                                              "a.b",      "",  "\x01\"\\", "f4"};

class RandomModule {
 public:
  RandomModule(uint32_t seed, const RandomModuleSize& size)
      : state_(Mix64(seed + 1)), size_(size), typed_(size.typed), builder_(Header(seed, size)) {}

  Module Make() {
    AddCexprs();
    AddTypes();
    for (uint32_t i = 0; i < Below(4); ++i) {
      AddOption();
    }
    for (uint32_t i = 0; i < size_.functions; ++i) {
      AddDecl();
      AddFunction();
    }
    return builder_.Finish({});
  }

 private:
  static ModuleHeader Header(uint32_t seed, const RandomModuleSize& size) {
    if (!size.typed) {
      return {};
    }
    return {.language = Language::kHlsl, .typed = 1, .rules = seed % 3 == 0 ? seed & kAllRules : 0};
  }
  // A number in [0, bound).
  uint32_t Below(uint32_t bound) {
    state_ = Mix64(state_ + 0x9e3779b97f4a7c15u);
    return static_cast<uint32_t>(state_ >> 32) % bound;
  }
  bool Chance(uint32_t percent) { return Below(100) < percent; }
  template <class T>
  T Pick(const std::vector<T>& values) {
    return values[Below(static_cast<uint32_t>(values.size()))];
  }
  template <class Enum>
  Enum Any() {
    return static_cast<Enum>(Below(CountOf<Enum>()));
  }
  StringId Text() { return builder_.Text(kWords[Below(std::size(kWords))]); }
  CexprId Condition() { return Chance(70) ? kTrue : Pick(cexprs_); }
  SpanId Spans() { return Chance(50) ? SpanId{} : builder_.AddSpan({Below(9), 9 + Below(9)}); }

  void AddCexprs();
  Cexpr AnyCexpr();
  void AddTypes();
  void AddOption();
  void AddDecl();
  std::vector<Member> Members(DeclKind kind);
  void AddFunction();
  LocalId NewLocal(LocalKind kind);
  void FillBlock(uint32_t depth, bool yields);
  BlockId NewBlock(uint32_t depth, bool yields);
  void AddStatement(uint32_t depth);
  uint16_t AnyFlags(FlagSchema schema);
  uint32_t AnyOperand(InstKind kind, OperandSchema schema, uint32_t depth);
  uint32_t AnyLocal(InstKind kind);
  ListId AnyBlocks(InstKind kind, uint32_t depth);
  InstId AnyValue();
  InstId AddInst(const Inst& inst) {
    const InstId id = builder_.AddInst(inst, {Spans(), Spans()});
    if (FactsOf(inst.kind).result != ResultSchema::kVoid) {
      values_.push_back(id);
    }
    return id;
  }

  void AddTypedDecl(Decl& decl, std::vector<Member>& members);
  DeclId AddInitialiser(TypeId type);
  void AddAttributes(bool of_member, uint32_t owner);
  uint32_t AnyLiteral(InstKind kind);
  std::vector<uint32_t> AnyImageOperands(uint16_t op, uint32_t keywords);
  uint32_t AnyPart();
  uint32_t AnyCases(uint32_t depth);
  DeclId AnyDecl(InstKind kind);

  uint64_t state_;
  RandomModuleSize size_;
  const bool typed_;
  Builder builder_;
  std::vector<CexprId> cexprs_{kTrue};
  std::vector<TypeId> types_;
  std::vector<TypeId> scalars_;
  // of the function
  std::vector<LocalId> locals_;  // parameters, variables, aliases that may be mentioned
  std::vector<LocalId> loops_;   // exits of the loops that are open
  std::vector<InstId> values_;   // that have run in an open block
  // of typed modules
  std::vector<LocalId> leaves_;  // exits of the switches that are open
  std::vector<DeclId> functions_;
  std::vector<DeclId> globals_;
  std::vector<TypeId> structs_;
  uint32_t members_ = 0;
  uint32_t literal_ = 0;  // of the instruction that is drawn
};

}  // namespace kiln::ir
