// SPDX-License-Identifier: MIT
#include "compiler/front/rpl/lower.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "compiler/front/rpl/front.h"

namespace kiln::rpl {
namespace {

class Lowered {
 public:
  explicit Lowered(std::string text)
      : source_("test.rpl", std::move(text)), module_(Parse(source_, {}, 0)) {
    for (const Diagnostic& d : module_.diagnostics) {
      EXPECT_NE(d.severity, Severity::kError) << Message(d);
    }
  }

  const ir::ModuleView& view() const { return module_.value->view(); }
  std::string_view Text(ir::SpanId span) const { return TextOf(source_.text, view().SpanOf(span)); }
  std::string_view Text(ir::SpanId run, uint32_t offset) const {
    return Text(ir::SpanId{run.value + offset});
  }

  // Candidates of each mention of `name`, as names of the lines that declare them: "2,1 2".
  std::string Mentions(std::string_view name) const {
    std::string out;
    for (const ir::Inst& inst : view().insts) {
      if (inst.kind != ir::InstKind::kNameRef ||
          view().Text(inst.As<ir::NameRefInst>().name) != name) {
        continue;
      }
      std::string locals;
      for (const uint32_t local : view().List(inst.As<ir::NameRefInst>().candidates)) {
        locals += (locals.empty() ? "" : ",") + LineOf(view().local_spans[local].name);
      }
      out += (out.empty() ? "" : " ") + (locals.empty() ? "-" : locals);
    }
    return out;
  }

  std::string LineOf(ir::SpanId span) const {
    const std::string_view before =
        std::string_view(source_.text).substr(0, view().SpanOf(span).begin);
    return std::to_string(std::count(before.begin(), before.end(), '\n') + 1);
  }

 private:
  SourceFile source_;
  Diagnosed<ir::Module> module_;
};

TEST(Lower, Mentions_ListVisibleLocalsInnermostFirst) {
  const Lowered lowered(R"(void f (in f1 a)
{
f1 b = a;
{
f1 a = a;
a;
}
a;
b;
g;
}
void g (void) { a; b; }
)");
  EXPECT_EQ(lowered.Mentions("a"), "1 1 5 1 -");
  EXPECT_EQ(lowered.Mentions("b"), "3 -");
  EXPECT_EQ(lowered.Mentions("g"), "-");
}

TEST(Lower, ConditionalAliases_AreAllCandidates) {
  const Lowered lowered(R"(void f (void)
{
conditional (q) alias (p, x)
conditional (!q) alias (p, y)
p;
conditional (q)
{
alias (p, z)
p;
}
p;
}
)");
  EXPECT_EQ(lowered.Mentions("p"), "4,3 8 4,3");
  const ir::ModuleView& view = lowered.view();
  ASSERT_EQ(view.locals.size(), 3u);
  EXPECT_TRUE(view.List(view.locals[0].shadowed).empty());
  EXPECT_EQ(view.List(view.locals[1].shadowed).size(), 1u);
  EXPECT_EQ(view.List(view.locals[2].shadowed).size(), 2u);
}

TEST(Lower, LoopVariable_LivesInTheLoop) {
  const Lowered lowered(R"(void f (void)
{
for (u1 i = i; i < n;
 i = i + 1u) { i; }
i;
}
)");
  EXPECT_EQ(lowered.Mentions("i"), "- 3 3 3 3 -");
}

TEST(Lower, Jumps_NameTheInnermostLoop) {
  const Lowered lowered("void f (void) { while (a) { while (b) { break; } continue; } break; }");
  std::string exits;
  for (const ir::Inst& inst : lowered.view().insts) {
    if (inst.kind == ir::InstKind::kBreak || inst.kind == ir::InstKind::kContinue) {
      const ir::LocalId exit = inst.As<ir::BreakInst>().exit;
      exits += exit.valid() ? std::to_string(exit.value) : "none";
      exits += ' ';
    }
  }
  EXPECT_EQ(exits, "1 0 none ");
}

TEST(Lower, Conditions_AreInternedButSpansAreNot) {
  const Lowered lowered(
      "conditional (a && b) constant k = 1u;\nconditional (a && b) constant l = 1u;\n");
  const ir::ModuleView& view = lowered.view();
  ASSERT_EQ(view.decls.size(), 2u);
  EXPECT_EQ(view.decls[0].condition, view.decls[1].condition);
  EXPECT_NE(view.decl_spans[0].condition, view.decl_spans[1].condition);
}

// Spans of a compile-time expression: one per node, before its operands, left before right.
TEST(Lower, CexprSpans_AreInPreOrder) {
  const Lowered lowered("constant k = (1u + n) * -2 == u1 {x} && !y || s.t;");
  const ir::SpanId run = lowered.view().decl_spans[0].value;
  const char* expected[] = {
      "(1u + n) * -2 == u1 {x} && !y || s.t",
      "(1u + n) * -2 == u1 {x} && !y",
      "(1u + n) * -2 == u1 {x}",
      "(1u + n) * -2",
      "1u + n",
      "1u",
      "n",
      "-2",
      "u1 {x}",
      "x",
      "!y",
      "y",
      "s.t",
  };
  for (uint32_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(lowered.Text(run, i), expected[i]) << i;
  }
}

TEST(Lower, WrongCexprs_AreRowsToBeAskedFor) {
  const struct {
    std::string_view text;
    ir::InvalidCexpr kind;
  } cases[] = {
      {"a.b", ir::InvalidCexpr::kFieldAccess},
      {"a[0u]", ir::InvalidCexpr::kIndex},
      {"a = b", ir::InvalidCexpr::kAssignment},
      {"f (a)", ir::InvalidCexpr::kCall},
      {"f2 {a}", ir::InvalidCexpr::kConstructorType},
      {"u1 {a, b}", ir::InvalidCexpr::kConstructorCount},
      {"u1 {}", ir::InvalidCexpr::kConstructorCount},
  };
  for (const auto& c : cases) {
    const Lowered lowered("constant k = " + std::string(c.text) + ";");
    const ir::Cexpr& row = lowered.view().cexprs[lowered.view().decls[0].body];
    EXPECT_EQ(row.op, ir::CexprOp::kInvalid) << c.text;
    EXPECT_EQ(row.kind, static_cast<uint16_t>(c.kind)) << c.text;
  }
}

TEST(Lower, SignsOfLiterals_AreFolded) {
  const Lowered lowered("constant a = -2147483648;\nconstant b = -0.0;\nconstant c = -1u;\n");
  const ir::ModuleView& view = lowered.view();
  const ir::Cexpr& a = view.cexprs[view.decls[0].body];
  EXPECT_EQ(a.op, ir::CexprOp::kLiteral);
  EXPECT_EQ(a.a, 0x80000000u);
  EXPECT_EQ(view.cexprs[view.decls[1].body].a, 0x80000000u);
  EXPECT_EQ(view.cexprs[view.decls[2].body].op, ir::CexprOp::kNegate);
}

TEST(Lower, FieldAliases_HoldTheirPath) {
  const Lowered lowered("struct s { f4 a; alias (b, a.x.y) alias (c, a[0u].x) };");
  const ir::ModuleView& view = lowered.view();
  ASSERT_EQ(view.members.size(), 3u);
  std::string path;
  for (const uint32_t item : view.List(ir::ListId{view.members[1].value})) {
    path += std::string(view.Text(ir::StringId{item})) + "/";
  }
  EXPECT_EQ(path, "a/x/y/");
  EXPECT_EQ(lowered.Text(view.member_spans[1].value, 2), "y");
  EXPECT_EQ(view.members[2].value, ir::kNoRow);
  EXPECT_EQ(lowered.Text(view.member_spans[2].value), "a[0u].x");
}

TEST(Lower, Types_CountOutermostFirst) {
  const Lowered lowered("struct s { f4[2u][3u] a; other... b; };");
  const ir::ModuleView& view = lowered.view();
  const ir::Type& outer = view.types[view.members[0].type.value];
  ASSERT_EQ(outer.kind, ir::TypeKind::kArray);
  EXPECT_EQ(view.cexprs[outer.extent].a, 2u);
  const ir::Type& inner = view.types[outer.element];
  ASSERT_EQ(inner.kind, ir::TypeKind::kArray);
  EXPECT_EQ(view.cexprs[inner.extent].a, 3u);
  EXPECT_EQ(view.types[inner.element], ir::VectorType(ir::Scalar::kF32, 4));
  const ir::SpanId spans = view.member_spans[0].type;
  EXPECT_EQ(lowered.Text(spans, 0), "f4");
  EXPECT_EQ(lowered.Text(spans, 1), "2u");
  EXPECT_EQ(lowered.Text(spans, 2), "3u");
  EXPECT_EQ(view.types[view.members[1].type.value].kind, ir::TypeKind::kRuntimeArray);
}

TEST(Lower, Calls_KnowInbuiltFunctions) {
  const Lowered lowered("void f (void) { min_u3 (a, b); sample (s, i, c); pi (); g (); }");
  std::string kinds;
  for (const ir::Inst& inst : lowered.view().insts) {
    if (inst.kind == ir::InstKind::kNameBuiltin) {
      const auto call = inst.As<ir::NameBuiltinInst>();
      const ir::Type& type = lowered.view().types[call.type.value];
      kinds += std::string(ir::FactsOf(call.builtin).name) + ":" +
               (type.kind == ir::TypeKind::kVector ? "vector " : "deferred ");
    } else if (inst.kind == ir::InstKind::kNameCall) {
      kinds += "call ";
    }
  }
  EXPECT_EQ(kinds, "min:vector sample:deferred pi:deferred call ");
}

TEST(Lower, ShortCircuit_OwnsItsRightOperand) {
  const Lowered lowered("void f (void) { x = a && (b || c) && d; }");
  const ir::ModuleView& view = lowered.view();
  // the body holds x, a, two `logical`, the assignment and its statement; b, c and d are in blocks
  const ir::BlockId body = view.regions[0].block;
  EXPECT_EQ(view.InstsOf(body).size(), 6u);
  EXPECT_EQ(view.blocks.size(), 4u);
}

TEST(Lower, LongSums_Succeed) {
  std::string sum = "1u";
  for (int i = 0; i < 20000; ++i) {
    sum += " + 1u";
  }
  const Lowered lowered("constant k = " + sum + ";\nvoid f (void) { x = " + sum + "; }");
  EXPECT_GT(lowered.view().insts.size(), 40000u);
}

TEST(Lower, Twice_GivesEqualBytes) {
  const std::string text =
      "global a: flag true;\nstruct s { meta (x, y) f4 b; };\nconditional (a) f1 f (in f1 c) "
      "{ conditional (a) { alias (d, c) return d * 2.0; } return s.b.x; }\n";
  const SourceFile source("a.rpl", text);
  const Diagnosed<ir::Module> first = Parse(source, {}, 0);
  const Diagnosed<ir::Module> second = Parse(source, {}, 7);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_TRUE(std::ranges::equal(first.value->image(), second.value->image()));
}

}  // namespace
}  // namespace kiln::rpl
