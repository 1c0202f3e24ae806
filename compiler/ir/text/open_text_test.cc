// SPDX-License-Identifier: MIT
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/ir/text/parse_generic.h"
#include "compiler/ir/text/print_generic.h"
#include "compiler/ir/verify/verify.h"

namespace kiln::ir {
namespace {

using testing::HasSubstr;

constexpr std::string_view kModule = R"(module rpl 1
option global skinning : flag = true
option instance quality : enum = ["low", "high"]
option specialize instance bias : float = -1.5
cexpr ?1 = name "skinning"
cexpr ?2 = literal uint 4
cexpr ?3 = add ?2, ?2
cexpr ?4 = not ?1
cexpr ?5 = convert sint ?3
cexpr ?6 = literal string "x \x22 y"
cexpr ?7 = select ?1 [?2, ?3]
cexpr ?8 = invalid call "f" 2
cexpr ?9 = composite [?2, ?3] : f2
constant @"a.b" = ?2
setting @blend block 1 = ?1 where ?4
struct @light_t {
  position : f3 tags(a, b)
  lights : "light_t"[?3][?2] where ?1
  tail : f4...
  alias color = ["rgb", "x"] where ?4
  alias bad
}
container vertex_attributes @vertex where ?1 {
  position : f3 pack(float32)
}
buffer read_only_storage object @frame {
  x : f1
}
sampler material @linear : sampler
image read_only shared @albedo : image_color_2d[?2]
function @main(in $x : f3 where ?1, in_out $x#2 : "light_t" shadows [$x]) -> void where ?4 {
  var $y : f3[?2]
  alias $z where ?1
  exit $exit
  var $y#2 : u1 shadows [$y]
  %1 = name_ref "x" [$x, $x#2] : deferred
  %2 = const f1 1.0
  variable $y, %2
  alias $z {
    %3 = name_ref "y" [$y] : deferred
    %4 = member %3, "x" : deferred
    yield %4
  }
  when_region ?1 {
    variable $y#2, _
    when_region ?4 {
    }
  }
  when ?4 {
    return _
  }
  %5 = flag true : bool
  loop $exit {
    %6 = logical or %5 : bool {
      yield %5
    }
    yield %6
  } {
    %7 = name_binary less %1, %2 : deferred
    if %7 {
      break $exit
    }
  } {
    %8 = assign_op add %1, %2 : deferred
    statement %8
  }
  %9 = const f2 {f1 1.0, f1 -0.0}
  %10 = name_builtin sample [%1, %9] : f3
  %11 = name_construct [%10] : "light_t"
}
function relaxed @main() -> f3 {
  return _
}
)";

TEST(ParseModule, WhatWasPrinted_PrintsTheSame) {
  const Result<Module> parsed = ParseModule(kModule);
  ASSERT_TRUE(parsed.ok()) << parsed.error().context;
  const Result<void> verdict = VerifyIds(parsed->view());
  EXPECT_TRUE(verdict.ok()) << verdict.error().context;
  EXPECT_EQ(Print(parsed->view()), kModule);
}

TEST(ParseModule, WhatWasSaved_OpensToTheSameBytes) {
  const Result<Module> parsed = ParseModule(kModule);
  ASSERT_TRUE(parsed.ok());
  const Result<Module> again = ParseModule(Print(parsed->view()));
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(std::ranges::equal(parsed->image(), again->image()));
  const Result<ModuleView> opened = ModuleView::Open(parsed->image(), {});
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(Print(*opened), kModule);
}

TEST(ParseModule, PolicyWhole_KeepsEveryWhen) {
  const Result<Module> parsed = ParseModule(kModule, CutPolicy::kWhole);
  ASSERT_TRUE(parsed.ok());
  EXPECT_TRUE(VerifyIds(parsed->view()).ok());
  EXPECT_EQ(parsed->view().regions.size(), 2u);
  EXPECT_THAT(Print(parsed->view()), testing::Not(HasSubstr("when_region")));
}

TEST(ParseModule, WrongText_NamesLineAndReason) {
  const struct {
    std::string_view text, message;
  } rows[] = {
      {"module rpl", "expected a word"},
      {"module basic 1", "unknown word"},
      {"module rpl 1\ncexpr ?1 = not ?2", "line 2: no such cexpr above"},
      {"module rpl 1\ncexpr ?1 = name \"a\"\ncexpr ?1 = name \"b\"",
       "line 3: this number is taken"},
      {"module rpl 1\nvariant @x", "unknown word"},
      {"module rpl 1\nfunction @f() -> void { break $x }", "no such local above"},
      {"module rpl 1\nfunction @f() -> void { var $x : f1 var $x : f1 }", "this name is taken"},
      {"module rpl 1\nfunction @f() -> void { %1 = load %1 : f1 }", "not an instruction"},
      {"module rpl 1\nfunction @f() -> void {", "expected a word"},
  };
  for (const auto& row : rows) {
    const Result<Module> parsed = ParseModule(row.text);
    ASSERT_FALSE(parsed.ok()) << row.text;
    EXPECT_THAT(parsed.error().context, HasSubstr(row.message)) << row.text;
  }
}

// Rows that each use the one before: as deep as a module may be, and one level deeper.
TEST(ParseModule, RowsThatNest_HaveTheLimitOfModules) {
  const auto expressions = [](uint32_t levels) {
    std::string text = "module rpl 1\ncexpr ?1 = name \"a\"";
    for (uint32_t i = 2; i <= levels; ++i) {
      text += fmt::format("\ncexpr ?{} = not ?{}", i, i - 1);
    }
    return text;
  };
  const auto instructions = [](uint32_t levels) {
    std::string text = "module rpl 1\nfunction @f() -> void {\n%1 = const f1 1.0";
    for (uint32_t i = 2; i <= levels; ++i) {
      text += fmt::format("\n%{} = name_construct [%{}] : f1", i, i - 1);
    }
    return text + "\n}";
  };
  const std::string last = std::to_string(kMaxNesting + 2);  // the first line is the header
  const struct {
    std::string fits, deeper, message;
  } rows[] = {{expressions(kMaxNesting), expressions(kMaxNesting + 1),
               fmt::format("line {}: nested too deep at '{}'", last, kMaxNesting)},
              {instructions(kMaxNesting), instructions(40'000), "nested too deep"}};
  for (const auto& row : rows) {
    const Result<Module> fits = ParseModule(row.fits);
    EXPECT_TRUE(fits.ok()) << fits.error().context;
    const Result<Module> deeper = ParseModule(row.deeper);
    ASSERT_FALSE(deeper.ok());
    EXPECT_THAT(deeper.error().context, HasSubstr(row.message));
  }
}

// One wrong word in an otherwise good image, by table.
class BrokenModule {
 public:
  BrokenModule() : module_(ParseModule(kModule).value()), view_(module_.view()) {
    Own(types, view_.types);
    Own(consts, view_.consts);
    Own(cexprs, view_.cexprs);
    Own(options, view_.options);
    Own(decls, view_.decls);
    Own(members, view_.members);
    Own(locals, view_.locals);
    Own(regions, view_.regions);
    Own(insts, view_.insts);
    Own(blocks, view_.blocks);
    Own(block_insts, view_.block_insts);
    Own(extra, view_.extra);
    Own(string_ends, view_.string_ends);
    Own(string_bytes, view_.string_bytes);
  }
  bool Verifies() const { return VerifyIds(view_).ok(); }

  std::vector<Type> types;
  std::vector<Const> consts;
  std::vector<Cexpr> cexprs;
  std::vector<Option> options;
  std::vector<Decl> decls;
  std::vector<Member> members;
  std::vector<Local> locals;
  std::vector<Region> regions;
  std::vector<Inst> insts;
  std::vector<Block> blocks;
  std::vector<uint32_t> block_insts, extra, string_ends;
  std::vector<char> string_bytes;

 private:
  template <class Row>
  void Own(std::vector<Row>& rows, std::span<const Row>& view) {
    rows.assign(view.begin(), view.end());
    view = rows;
  }

  Module module_;
  ModuleView view_;
};

// The first row of which `is` holds.
template <class Row, class Is>
Row& Find(std::vector<Row>& rows, Is is) {
  return *std::ranges::find_if(rows, is);
}
Inst& FindInst(BrokenModule& m, InstKind kind) {
  return Find(m.insts, [&](const Inst& inst) { return inst.kind == kind; });
}

TEST(VerifyIds, OneWrongWord_IsFound) {
  const struct {
    const char* what;
    void (*break_it)(BrokenModule&);
  } rows[] = {
      {"string ends shrink", [](BrokenModule& m) { m.string_ends[1] = 0xffff; }},
      {"string bytes left over", [](BrokenModule& m) { m.string_ends.back() -= 1; }},
      {"a string that is no UTF-8", [](BrokenModule& m) { m.string_bytes[0] = '\xff'; }},
      {"type kind", [](BrokenModule& m) { m.types[1].kind = static_cast<TypeKind>(99); }},
      {"vector of five",
       [](BrokenModule& m) {
         Find(m.types, [](const Type& t) { return t.kind == TypeKind::kVector; }).rows = 5;
       }},
      {"array of itself",
       [](BrokenModule& m) {
         const auto array = std::ranges::find(m.types, TypeKind::kArray, &Type::kind);
         array->element = static_cast<uint32_t>(array - m.types.begin());
       }},
      {"extent with a composite",
       [](BrokenModule& m) {
         std::ranges::find(m.types, TypeKind::kArray, &Type::kind)->extent = 9;
       }},
      {"struct in a generic module",
       [](BrokenModule& m) {
         std::ranges::find(m.types, TypeKind::kNamed, &Type::kind)->kind = TypeKind::kStruct;
       }},
      {"constant of a later one", [](BrokenModule& m) { m.consts.back().a = 0xfffffffe; }},
      {"first cexpr", [](BrokenModule& m) { m.cexprs[0].a = 0; }},
      {"operand of a cexpr", [](BrokenModule& m) { m.cexprs[3].a = 3; }},
      {"operator of a cexpr", [](BrokenModule& m) { m.cexprs[3].op = static_cast<CexprOp>(99); }},
      {"one choice", [](BrokenModule& m) { m.extra[m.cexprs[7].b] = 1; }},
      {"option kind", [](BrokenModule& m) { m.options[0].kind = static_cast<OptionKind>(9); }},
      {"enum without values", [](BrokenModule& m) { m.options[1].values = {}; }},
      {"members shared", [](BrokenModule& m) { m.decls[3].first_member = 0; }},
      {"members left over", [](BrokenModule& m) { m.decls[2].member_count -= 1; }},
      {"flags", [](BrokenModule& m) { m.decls[3].flags = 77; }},
      {"condition", [](BrokenModule& m) { m.decls[3].condition = CexprId{99}; }},
      {"function without body", [](BrokenModule& m) { m.decls.back().body = 0; }},
      {"member type", [](BrokenModule& m) { m.members[0].type = {}; }},
      {"parameter in a struct",
       [](BrokenModule& m) { m.members[0].kind = MemberKind::kParameter; }},
      {"tag list", [](BrokenModule& m) { m.members[0].tags = ListId{0xfffffff0}; }},
      {"local kind", [](BrokenModule& m) { m.locals[2].kind = LocalKind::kLoopExit; }},
      {"shadows itself", [](BrokenModule& m) { m.extra[m.locals[1].shadowed.value + 1] = 1; }},
      {"region order", [](BrokenModule& m) { m.regions[1].parent = RegionId{2}; }},
      {"region of nothing", [](BrokenModule& m) { m.regions[2].function = DeclId{0}; }},
      {"insertion point missing",
       [](BrokenModule& m) {
         FindInst(m, InstKind::kWhenRegion) = ReturnInst{TypeId{0}, {}}.To();
       }},
      {"name of no region", [](BrokenModule& m) { m.regions[0].locals = {}; }},
      {"kind", [](BrokenModule& m) { m.insts[0].kind = static_cast<InstKind>(999); }},
      {"specialised kind", [](BrokenModule& m) { m.insts[0].kind = InstKind::kTemp; }},
      {"operator", [](BrokenModule& m) { FindInst(m, InstKind::kNameBinary).flags = 99; }},
      {"later operand", [](BrokenModule& m) { FindInst(m, InstKind::kNameBinary).a = 0xffff; }},
      {"operand of another block",
       [](BrokenModule& m) {
         const auto inside = std::ranges::find(m.insts, InstKind::kMember, &Inst::kind);
         FindInst(m, InstKind::kAssignOp).a = static_cast<uint32_t>(inside - m.insts.begin());
       }},
      {"two blocks of a loop",
       [](BrokenModule& m) { m.extra[FindInst(m, InstKind::kLoop).b] = 2; }},
      {"block in itself",
       [](BrokenModule& m) { FindInst(m, InstKind::kWhen).b = m.regions[0].block.value; }},
      {"value block without value",
       [](BrokenModule& m) { FindInst(m, InstKind::kLogical).b = FindInst(m, InstKind::kWhen).b; }},
      {"break out of a variable", [](BrokenModule& m) { FindInst(m, InstKind::kBreak).a = 2; }},
      {"range of a block", [](BrokenModule& m) { m.blocks[0].count = 0xfffffff0; }},
      {"instruction of a block", [](BrokenModule& m) { m.block_insts[0] = 0xfffffff0; }},
      {"instruction twice", [](BrokenModule& m) { m.block_insts[1] = m.block_insts[0]; }},
  };
  BrokenModule good;
  EXPECT_TRUE(good.Verifies());
  for (const auto& row : rows) {
    BrokenModule module;
    row.break_it(module);
    EXPECT_FALSE(module.Verifies()) << row.what;
  }
}

}  // namespace
}  // namespace kiln::ir
