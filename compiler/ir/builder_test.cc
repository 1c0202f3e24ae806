// SPDX-License-Identifier: MIT
#include "compiler/ir/builder.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kiln::ir {
namespace {

using testing::ElementsAre;

// Adds a statement of one inbuilt call without arguments.
void AddCall(Builder& b, Builtin builtin) {
  const InstId call = b.Add(NameBuiltinInst{b.Deferred(), builtin, 0, b.List({})}, {});
  b.Add(StatementInst{b.Void(), call}, {});
}

void AddReturn(Builder& b) { b.Add(ReturnInst{b.Void(), {}}, {}); }
void AddPi(Builder& b) { AddCall(b, Builtin::kPi); }
void AddDiscard(Builder& b) { AddCall(b, Builtin::kStageDiscard); }

template <class Fill>
void AddWhen(Builder& b, Fill fill) {
  const BlockId block = b.BeginBlock();
  fill(b);
  b.EndBlock();
  b.Add(WhenInst{b.Void(), b.Name("skinning"), block}, {});
}

template <class Fill>
void AddScope(Builder& b, Fill fill) {
  const BlockId block = b.BeginBlock();
  fill(b);
  b.EndBlock();
  b.Add(ScopeInst{b.Void(), block}, {});
}

template <class Then, class Else>
void AddIf(Builder& b, Then then, Else otherwise) {
  const InstId condition = b.Add(NameRefInst{b.Deferred(), b.Text("c"), {}}, {});
  const BlockId first = b.BeginBlock();
  then(b);
  b.EndBlock();
  const BlockId second = b.BeginBlock();
  otherwise(b);
  b.EndBlock();
  b.Add(IfInst{b.Void(), condition, b.Ids({first, second})}, {});
}

void AddLoopThatBreaks(Builder& b) {
  const LocalId exit = b.AddLocal({.kind = LocalKind::kLoopExit}, {});
  std::vector<BlockId> blocks;
  blocks.push_back(b.BeginBlock());
  b.Add(YieldInst{b.Void(), b.Add(NameRefInst{b.Deferred(), b.Text("c"), {}}, {})}, {});
  b.EndBlock();
  blocks.push_back(b.BeginBlock());
  b.Add(BreakInst{b.Void(), exit}, {});
  b.EndBlock();
  blocks.push_back(b.BeginBlock());
  b.EndBlock();
  b.Add(LoopInst{b.Void(), exit, b.Ids(blocks)}, {});
}

// A function whose body is what `fill` adds.
template <class Fill>
Module FunctionOf(Fill fill, CutPolicy policy = CutPolicy::kCut) {
  Builder b({}, policy);
  b.BeginFunction({.kind = DeclKind::kFunction, .name = b.Text("main"), .type = b.Void()}, {});
  fill(b);
  b.EndFunction();
  return b.Finish({});
}

size_t RegionsOf(const Module& module) { return module.view().regions.size(); }

TEST(EndFunction, WhenThatFlowsOn_IsCutOut) {
  const struct {
    const char* what;
    void (*fill)(Builder&);
    size_t regions;
  } rows[] = {
      {"empty", [](Builder&) {}, 2},
      {"flows on", AddPi, 2},
      {"return", AddReturn, 1},
      {"stage discard", AddDiscard, 1},
      {"return in a scope", [](Builder& b) { AddScope(b, AddReturn); }, 1},
      {"return in a kept when", [](Builder& b) { AddWhen(b, AddReturn); }, 1},
      {"nested whens that flow on", [](Builder& b) { AddWhen(b, AddPi); }, 3},
      {"return in both branches", [](Builder& b) { AddIf(b, AddReturn, AddDiscard); }, 1},
      {"return in one branch", [](Builder& b) { AddIf(b, AddReturn, AddPi); }, 2},
      {"break of its own loop", AddLoopThatBreaks, 2},
  };
  for (const auto& row : rows) {
    const Module module = FunctionOf([&](Builder& b) { AddWhen(b, row.fill); });
    EXPECT_EQ(RegionsOf(module), row.regions) << row.what;
  }
}

TEST(EndFunction, PolicyWhole_CutsNothing) {
  const auto fill = [](Builder& b) { AddWhen(b, AddPi); };
  EXPECT_EQ(RegionsOf(FunctionOf(fill, CutPolicy::kWhole)), 1u);
}

TEST(EndFunction, NestedWhens_ArePreOrderRows) {
  // main { when { when {} } when {} }
  const Module module = FunctionOf([](Builder& b) {
    AddWhen(b, [](Builder& inner) { AddWhen(inner, AddPi); });
    AddWhen(b, AddPi);
  });
  std::vector<uint32_t> parents;
  for (const Region& region : module.view().regions) {
    parents.push_back(region.parent.value);
    EXPECT_EQ(region.function, DeclId{0});
  }
  EXPECT_THAT(parents, ElementsAre(kNoRow, 0, 1, 0));
  EXPECT_EQ(module.view().regions[0].condition, kTrue);
  EXPECT_FALSE(module.view().regions[1].condition == kTrue);
}

TEST(EndFunction, EachRegion_ListsTheNamesItDeclares) {
  Builder b({});
  b.BeginFunction({.kind = DeclKind::kFunction, .name = b.Text("main"), .type = b.Void()}, {});
  const LocalId p = b.AddParameter({.name = b.Text("p"), .type = b.Vector(Scalar::kF32, 1)}, {});
  const auto variable = [&](std::string_view name) {
    const LocalId local = b.AddLocal({.name = b.Text(name), .type = b.Vector(Scalar::kF32, 1)}, {});
    b.Add(VariableInst{b.Void(), local, {}}, {});
    return local;
  };
  const LocalId x = variable("x");
  LocalId y;
  AddWhen(b, [&](Builder&) { y = variable("y"); });
  const LocalId z = variable("z");
  b.EndFunction();
  const Module module = b.Finish({});
  const ModuleView& view = module.view();
  ASSERT_EQ(view.regions.size(), 2u);
  EXPECT_THAT(view.List(view.regions[0].locals), ElementsAre(p.value, x.value, z.value));
  EXPECT_THAT(view.List(view.regions[1].locals), ElementsAre(y.value));
  EXPECT_EQ(view.decls[0].member_count, 1u);
  EXPECT_EQ(view.members[0].value, p.value);
}

TEST(Blocks, FilledWhileOuterOnesAreOpen_AreContiguousRanges) {
  const Module module = FunctionOf([](Builder& b) {
    AddPi(b);
    AddScope(b, AddPi);
    AddPi(b);
  });
  const ModuleView& view = module.view();
  const BlockId body = view.regions[0].block;
  std::vector<InstKind> kinds;
  for (const uint32_t inst : view.InstsOf(body)) {
    kinds.push_back(view.insts[inst].kind);
  }
  EXPECT_THAT(kinds, ElementsAre(InstKind::kNameBuiltin, InstKind::kStatement, InstKind::kScope,
                                 InstKind::kNameBuiltin, InstKind::kStatement));
  EXPECT_EQ(view.InstsOf(view.insts[view.InstsOf(body)[2]].As<ScopeInst>().block).size(), 2u);
}

TEST(Interning, EqualRows_AreOne) {
  Builder b({});
  EXPECT_EQ(b.Text("a"), b.Text("a"));
  EXPECT_EQ(b.Literal(ValueKind::kFlag, 1), kTrue);
  EXPECT_EQ(b.Name("a"), b.Name("a"));
  EXPECT_FALSE(b.Name("a") == b.Name("b"));
  EXPECT_EQ(b.Array(b.Named("t"), b.Name("n")), b.Array(b.Named("t"), b.Name("n")));
  EXPECT_EQ(b.List(std::vector<uint32_t>{1, 2}), b.List(std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(b.ScalarConst(b.Vector(Scalar::kF32, 1), 7),
            b.ScalarConst(b.Vector(Scalar::kF32, 1), 7));
}

Module ModuleWithSpans(Span span) {
  Builder b({});
  const SpanId name = b.AddSpan(span);
  b.Add(Option{.name = b.Text("skinning"), .span = name});
  const Member members[] = {{.name = b.Text("x"), .type = b.Named("t")}};
  const MemberSpans member_spans[] = {{.name = name}};
  b.Add({.kind = DeclKind::kStruct, .name = b.Text("s")}, {.name = name}, members, member_spans);
  return b.Finish({});
}

TEST(Image, OpenedAndHashed_IsTheSame) {
  const Module module = ModuleWithSpans({1, 2});
  const Result<ModuleView> opened = ModuleView::Open(module.image(), {});
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(opened->Text(opened->options[0].name), "skinning");
  EXPECT_EQ(opened->Text(opened->MembersOf(opened->decls[0])[0].name), "x");
  EXPECT_EQ(opened->SpanOf(opened->options[0].span), (Span{1, 2}));
}

TEST(Image, MovedSpans_KeepTheSemanticId) {
  const Module first = ModuleWithSpans({1, 2});
  const Module second = ModuleWithSpans({3, 4});
  EXPECT_EQ(first.semantic_id(), second.semantic_id());
  EXPECT_FALSE(HashBytes(first.image()) == HashBytes(second.image()));
}

TEST(Image, OfAnotherFingerprint_IsNotOpened) {
  const Module module = ModuleWithSpans({1, 2});
  const Result<ModuleView> opened = ModuleView::Open(module.image(), HashBytes(AsBytes("other")));
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::kFailedPrecondition);
}

TEST(Image, CutOffAnywhere_IsNotOpened) {
  const Module module = ModuleWithSpans({1, 2});
  Bytes image(module.image().begin(), module.image().end());
  while (!image.empty()) {
    image.pop_back();
    const Result<ModuleView> opened = ModuleView::Open(image, {});
    EXPECT_FALSE(opened.ok()) << image.size();
  }
}

}  // namespace
}  // namespace kiln::ir
