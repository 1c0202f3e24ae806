// SPDX-License-Identifier: MIT
// One function for each kind. Blocks nest as deep as the parser allows; a ladder of `else if` does
// not count there, so it is walked by a loop: its steps are checked from the first to the last and
// put together from the last to the first.
#include "compiler/front/hlsl/check/statement.h"

#include <optional>
#include <string>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/flat_map.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/check/attribute.h"
#include "compiler/front/hlsl/check/build.h"
#include "compiler/front/hlsl/check/expression.h"
#include "compiler/front/hlsl/check/global.h"
#include "compiler/front/hlsl/check/name.h"
#include "compiler/front/hlsl/check/resources/handle.h"
#include "compiler/front/hlsl/check/type_of.h"
#include "compiler/ir/insts.h"

namespace kiln::hlsl {
namespace {

using Kind = syntax::StmtKind;
using syntax::Modifier;

// Steps of `else if` around a statement, together. The parser counts a ladder as one level, the IR
// each step: its blocks nest 1024 deep, of which brackets take no more than three for each level.
constexpr uint32_t kMaxLadders = 128;
constexpr uint32_t kMaxLabels = 16'383;  // of a `switch`, as in SPIR-V

// A checked statement. No row: nothing is to be done.
struct StmtResult {
  StmtId id;
  bool ends = false;
};

class Body {
 public:
  explicit Body(CheckContext& context) : context_(context) {}

  StmtResult Block(uint32_t row, uint8_t flags = 0);

 private:
  // Something that `break` leaves.
  struct Exit {
    bool is_switch = false;
    bool has_break = false;
  };

  const syntax::Stmt& At(uint32_t row) const { return context_.ast.stmts[row]; }
  static TokenRange RangeOf(const syntax::Stmt& row) { return {row.begin, row.end}; }
  StmtResult Make(const Stmt& stmt, bool ends = false) { return {context_.Add(stmt), ends}; }

  StmtResult Statement(uint32_t row);
  StmtResult Scoped(uint32_t row);
  StmtResult Simple(const syntax::Stmt& row);
  StmtResult Jump(const syntax::Stmt& row);
  StmtResult Return(const syntax::Stmt& row);
  StmtResult Expression(const syntax::Stmt& row);
  void Add(uint32_t row, std::vector<StmtId>& into, bool& ends);
  void Declarations(const syntax::Stmt& row, std::vector<StmtId>& into, bool of_head = false);
  void Variable(const syntax::Variable& variable, std::vector<StmtId>& into, bool of_head);
  StmtResult If(uint32_t row);
  StmtResult Loop(uint32_t row);
  StmtResult For(uint32_t row);
  StmtResult Switch(uint32_t row);
  struct Case {
    std::vector<ExprId> labels;
    std::vector<StmtId> children;
    bool is_default = false;
    bool ends = false;
    TokenRange at;
  };
  struct Cases {
    std::vector<Case> rows;
    FlatMap<uint64_t, bool> labels;  // that are constants
    uint32_t label_count = 0;
    bool has_default = false;
  };
  ExprId Selector(const syntax::Stmt& stmt);
  ExprId Label(const syntax::Stmt& row, TypeId selector);
  void AddLabel(const syntax::Stmt& inner, TypeId selector, Cases& cases);

  CheckContext& context_;
  std::vector<Exit> exits_;
  uint32_t ladders_ = 0;            // steps of `else if` around the statement
  std::vector<bool> of_loop_head_;  // by local of the unit, 2018 only
};

// --- blocks
// ---------------------------------------------------------------------------------------

// Appends a statement; those behind an end are checked and dropped, with one warning.
void Body::Add(uint32_t row, std::vector<StmtId>& into, bool& ends) {
  CheckStop();
  const syntax::Stmt& stmt = At(row);
  std::vector<StmtId> made;
  bool ends_now = false;
  if (stmt.kind == Kind::kDecl) {
    Declarations(stmt, made);
  } else if (const StmtResult checked = Statement(row); checked.id.valid()) {
    made.push_back(checked.id);
    ends_now = checked.ends;
  }
  if (!ends) {
    into.insert(into.end(), made.begin(), made.end());
    ends = ends_now;
  }
}

StmtResult Body::Block(uint32_t row, uint8_t flags) {
  std::vector<StmtId> children;
  bool ends = false;
  bool said = false;
  for (uint32_t child = row + 1; child < At(row).next; child = At(child).next) {
    if (ends && !said && At(child).kind != Kind::kEmpty) {
      context_.Say(
          context_.At(Code::kHlsl3009, RangeOf(At(child)))
              .With("text", context_.Text(TokenRange{At(row + 1).begin, At(row + 1).end})));
      said = true;
    }
    Add(child, children, ends);
  }
  return Make({.kind = StmtKind::kBlock,
               .flags = flags,
               .at = RangeOf(At(row)),
               .children = context_.AddList(children)},
              ends);
}

StmtResult Body::Scoped(uint32_t row) {
  context_.scopes.Enter();
  std::vector<StmtId> children;
  bool ends = false;
  if (At(row).kind == Kind::kBlock) {
    const StmtResult block = Block(row);
    context_.scopes.Leave();
    return block;
  }
  Add(row, children, ends);
  context_.scopes.Leave();
  return Make(
      {.kind = StmtKind::kBlock, .at = RangeOf(At(row)), .children = context_.AddList(children)},
      ends);
}

StmtResult Body::Statement(uint32_t row) {
  const syntax::Stmt& stmt = At(row);
  switch (stmt.kind) {
    case Kind::kBlock: {
      SayNoAttributes(context_, stmt);
      return Scoped(row);
    }
    case Kind::kIf:
      return If(row);
    case Kind::kSwitch:
      return Switch(row);
    case Kind::kFor:
      return For(row);
    case Kind::kWhile:
    case Kind::kDo:
      return Loop(row);
    case Kind::kDecl:
    case Kind::kExpression:
    case Kind::kEmpty:
    case Kind::kBreak:
    case Kind::kContinue:
    case Kind::kDiscard:
    case Kind::kReturn:
    case Kind::kCase:
    case Kind::kDefault:
      SayNoAttributes(context_, stmt);
      return Simple(stmt);
  }
  KILN_UNREACHABLE();
}

StmtResult Body::Simple(const syntax::Stmt& row) {
  switch (row.kind) {
    case Kind::kExpression:
      return Expression(row);
    case Kind::kReturn:
      return Return(row);
    case Kind::kDiscard:
      return Make({.kind = StmtKind::kDiscard, .at = RangeOf(row)});
    case Kind::kBreak:
    case Kind::kContinue:
      return Jump(row);
    case Kind::kCase:
    case Kind::kDefault:
      context_.Say(context_.At(Code::kHlsl3001, row.begin)
                       .With("keyword", row.kind == Kind::kCase ? "case" : "default")
                       .With("what", "'switch'"));
      return {};
    default:
      return {};
  }
}

StmtResult Body::Expression(const syntax::Stmt& row) {
  const ExprId value = CheckExpr(context_, row.value);
  const Expr& expr = context_.Get(value);
  if (expr.kind != ExprKind::kFailed && !expr.Is(Expr::kEffect)) {
    context_.Say(context_.At(Code::kHlsl2043, expr.at).With("text", context_.Text(expr.at)));
    return {};
  }
  return Make({.kind = StmtKind::kExpression, .at = RangeOf(row), .a = value});
}

StmtResult Body::Jump(const syntax::Stmt& row) {
  const bool breaks = row.kind == Kind::kBreak;
  size_t at = exits_.size();
  while (at > 0 && !breaks && exits_[at - 1].is_switch) {
    --at;  // `continue` is of the loop around a switch
  }
  if (at == 0) {
    context_.Say(context_.At(Code::kHlsl3001, row.begin)
                     .With("keyword", breaks ? "break" : "continue")
                     .With("what", breaks ? "a loop or 'switch'" : "a loop"));
    return {};
  }
  exits_[at - 1].has_break = exits_[at - 1].has_break || breaks;
  const bool of_switch = breaks && exits_[at - 1].is_switch;
  return Make({.kind = breaks ? StmtKind::kBreak : StmtKind::kContinue,
               .flags = of_switch ? Stmt::kOfSwitch : uint8_t{0},
               .at = RangeOf(row)},
              true);
}

// HLSL3004 where a value is missing or too many. Behind an error control has returned all the
// same.
StmtResult Body::Return(const syntax::Stmt& row) {
  const Function& function = context_.unit[context_.function];
  const TypeId expected = function.result;
  const bool is_void = expected == context_.types().Void();
  Stmt made{.kind = StmtKind::kReturn, .at = RangeOf(row)};
  if (row.value.empty() != is_void) {
    std::string found = "nothing";
    if (!row.value.empty()) {
      const ExprId value = CheckExpr(context_, row.value);
      if (context_.Get(value).kind == ExprKind::kFailed) {
        return Make(made, true);
      }
      found = context_.TypeText(value);
      if (context_.TypeOf(value) == context_.types().Void()) {  // return f (); of nothing
        std::vector<StmtId> children{
            context_.Add(Stmt{.kind = StmtKind::kExpression, .at = made.at, .a = value}),
            context_.Add(made)};
        return Make({.kind = StmtKind::kBlock,
                     .flags = Stmt::kNoScope,
                     .at = made.at,
                     .children = context_.AddList(children)},
                    true);
      }
    }
    context_.Say(context_.At(Code::kHlsl3004, RangeOf(row))
                     .With("name", function.name)
                     .With("expected", context_.types().Text(expected))
                     .With("found", found));
  } else if (!is_void) {
    made.a = CheckInitialiser(context_, row.value, expected);
  }
  return Make(made, true);
}

// --- variables
// ------------------------------------------------------------------------------------

void Body::Declarations(const syntax::Stmt& row, std::vector<StmtId>& into, bool of_head) {
  for (uint32_t decl = row.decl; decl < row.decl_end; decl = context_.ast.decls[decl].next) {
    const syntax::Decl& declaration = context_.ast.decls[decl];
    if (declaration.kind == syntax::DeclKind::kRecord) {
      DeclareRecord(context_, decl);
    } else if (declaration.kind == syntax::DeclKind::kAlias) {
      DeclareAlias(context_, decl);
    } else if (declaration.kind == syntax::DeclKind::kEnum) {
      DeclareEnum(context_, decl);
    } else if (declaration.kind == syntax::DeclKind::kVariables) {
      for (uint32_t i = 0; i < declaration.items.count; ++i) {
        Variable(context_.ast.variables[declaration.items.first + i], into, of_head);
      }
    }
  }
}

// A local variable. A resource that is initialised stands for what it is made of; a static is a
// global.
void Body::Variable(const syntax::Variable& variable, std::vector<StmtId>& into, bool of_head) {
  CheckStop();
  TypeId type = TypeOfVariable(context_, variable);
  const syntax::Type& written = context_.ast.types[variable.type];
  const TokenRange at{variable.name, variable.name + 1};
  const bool shared = written.Has(Modifier::kGroupShared);
  if (!shared && context_.types()[type].kind == TypeKind::kObject &&
      !variable.initialiser.empty() && !IsList(context_, variable.initialiser)) {
    return DeclareHandle(context_, variable, type, into);
  }
  if (shared || context_.types().HoldsObject(type)) {
    context_.Refuse(at, context_.Text(variable.name),
                    shared ? "groupshared variables of functions" : "resources as values");
    type = context_.types().Failed();
  }
  if (written.Has(Modifier::kConst) && variable.initialiser.empty()) {
    context_.Say(
        context_.At(Code::kHlsl2041, variable.name).With("name", context_.Text(variable.name)));
  }
  if (written.Has(Modifier::kStatic)) {
    Declare(context_, variable.name, MakeStaticLocal(context_, variable, type));
    return;
  }
  Stmt made{.kind = StmtKind::kDeclare, .at = {variable.begin, variable.end}};
  if (!variable.initialiser.empty()) {
    made.a = CheckInitialiser(context_, variable.initialiser, type);
  }
  Local local{.name = context_.Text(variable.name),
              .type = type,
              .at = at,
              .constant = written.Has(Modifier::kConst)};
  // Constants that are known with options stand for their value wherever they are named.
  if (local.constant && made.a.valid() && context_.Get(made.a).rate <= Rate::kOption) {
    local.known = made.a;
  }
  made.local = context_.AddLocal(std::move(local));
  context_.unit[context_.function].locals.push_back(made.local);
  const Symbol symbol{.kind = SymbolKind::kLocal, .id = made.local.value, .type = type};
  // 2018: the variable of a loop lives on, and the next loop may have one of the same name.
  Symbol* taken = context_.scopes.FindIn(context_.scopes.current(), context_.NameOf(variable.name));
  of_loop_head_.resize(context_.unit.locals.size());
  of_loop_head_[made.local.value] = of_head;
  if (taken != nullptr && taken->kind == SymbolKind::kLocal && taken->id < of_loop_head_.size() &&
      of_loop_head_[taken->id]) {
    context_.Say(
        context_.At(Code::kHlsl2037, variable.name).With("name", context_.Text(variable.name)));
    *taken = symbol;
    taken->token = variable.name;
  } else if (!Declare(context_, variable.name, symbol)) {
    return;
  }
  if (!context_.types().IsFailed(type)) {
    into.push_back(context_.Add(made));
  }
}

// --- branches
// -------------------------------------------------------------------------------------

// A condition that is known decides whether control ends: the branch that is never taken does
// not count.
StmtResult Body::If(uint32_t row) {
  struct StepOf {
    uint32_t row;
    ExprId condition;
    StmtResult then;
    ir::BranchHint hint;
  };
  std::vector<StepOf> steps;
  StmtResult otherwise;
  const uint32_t before = ladders_;
  while (true) {
    const syntax::Stmt& stmt = At(row);
    const ir::BranchHint hint = BranchHintOf(context_, stmt);
    const ExprId condition = Condition(context_, CheckExpr(context_, stmt.condition), "'if'");
    const uint32_t then = row + 1;
    if (ladders_ == kMaxLadders) {
      context_.Say(context_.At(Code::kHlsl1008, stmt.begin)
                       .With("text", "else if")
                       .With("limit", kMaxLadders));
      break;
    }
    ladders_ += steps.empty() ? 0 : 1;
    steps.push_back({row, condition, Scoped(then), hint});
    if ((stmt.flags & syntax::Stmt::kHasElse) == 0) {
      break;
    }
    const uint32_t next = At(then).next;
    if (At(next).kind != Kind::kIf) {
      otherwise = Scoped(next);
      break;
    }
    row = next;
  }
  ladders_ = before;
  for (size_t i = steps.size(); i > 0; --i) {
    const StepOf& step = steps[i - 1];
    std::vector<StmtId> children{step.then.id};
    if (otherwise.id.valid()) {
      children.push_back(otherwise.id);
    }
    const std::optional<Scalar> known = ScalarOf(context_, step.condition);
    const bool other_ends = otherwise.id.valid() && otherwise.ends;
    const bool ends =
        known ? (known->bits != 0 ? step.then.ends : other_ends) : step.then.ends && other_ends;
    otherwise = Make({.kind = StmtKind::kIf,
                      .hint = static_cast<uint8_t>(step.hint),
                      .at = RangeOf(At(step.row)),
                      .a = step.condition,
                      .children = context_.AddList(children)},
                     ends);
  }
  return otherwise;
}

// spec/hlsl 12: labels are known when options are, and convert to the type of the selector.
ExprId Body::Label(const syntax::Stmt& row, TypeId selector) {
  const ExprId value = CheckExpr(context_, row.value);
  const ExprId label =
      ConvertTo(context_, value, selector, ConversionUse::kImplicit, context_.Get(value).at);
  const Expr& expr = context_.Get(label);
  if (expr.kind != ExprKind::kFailed && expr.rate > Rate::kOption) {
    context_.Say(context_.At(Code::kHlsl2028, expr.at).With("text", context_.Text(expr.at)));
    return context_.Failed(expr.at);
  }
  return label;
}

// The value that is compared with labels: an integer, as enums and booleans are.
// Flags and enums are compared as integers.
ExprId Body::Selector(const syntax::Stmt& stmt) {
  const ExprId selector = Natural(context_, CheckExpr(context_, stmt.condition));
  const Type type = context_.types()[context_.TypeOf(selector)];
  if (type.kind == TypeKind::kEnum) {
    return ConvertItems(context_, selector, type.item);
  }
  const bool scalar = context_.types().IsScalar(context_.TypeOf(selector));
  if (scalar && !IsFloat(type.item)) {
    return type.item == Item::kBool ? ConvertItems(context_, selector, Item::kInt) : selector;
  }
  if (context_.Get(selector).kind != ExprKind::kFailed) {
    context_.Say(context_.At(Code::kHlsl2016, context_.Get(selector).at)
                     .With("what", "'switch'")
                     .With("type", context_.TypeText(selector)));
  }
  return context_.Failed(RangeOf(stmt));
}

// Labels that follow each other belong to one case; a statement between them begins another.
void Body::AddLabel(const syntax::Stmt& inner, TypeId selector, Cases& cases) {
  if (cases.rows.empty() || !cases.rows.back().children.empty() || cases.rows.back().ends) {
    cases.rows.push_back({.at = RangeOf(inner)});
  }
  Case& one = cases.rows.back();
  const auto twice = [&](TokenRange at, std::string_view text) {
    context_.Say(context_.At(Code::kHlsl3003, at).With("text", text));
  };
  if (inner.kind == Kind::kDefault) {
    if (cases.has_default) {
      twice(RangeOf(inner), "default");
    }
    cases.has_default = true;
    one.is_default = true;
    return;
  }
  const ExprId id = Label(inner, selector);
  const std::optional<Scalar> value = ScalarOf(context_, id);
  if (value && !cases.labels.Insert(value->bits, true).second) {
    const TokenRange at = context_.Get(id).at;
    return twice(at, context_.Text(at));
  }
  one.labels.push_back(id);
  ++cases.label_count;
}

// Cases are what stands between labels, in the scope of the switch. What stands before the
// first label is never reached (HLSL3009) and kept, so that it is checked.
StmtResult Body::Switch(uint32_t row) {
  const syntax::Stmt& stmt = At(row);
  const ir::BranchHint hint = BranchHintOf(context_, stmt);
  const ExprId selector = Selector(stmt);
  exits_.push_back({.is_switch = true});
  context_.scopes.Enter();
  Cases cases;
  const uint32_t block = row + 1;
  for (uint32_t child = block + 1; child < At(block).next; child = At(child).next) {
    const syntax::Stmt& inner = At(child);
    if (inner.kind == Kind::kCase || inner.kind == Kind::kDefault) {
      AddLabel(inner, context_.TypeOf(selector), cases);
      continue;
    }
    if (cases.rows.empty()) {
      context_.Say(context_.At(Code::kHlsl3009, RangeOf(inner)).With("text", "switch"));
      cases.rows.push_back({.at = RangeOf(inner)});
    }
    Add(child, cases.rows.back().children, cases.rows.back().ends);
  }
  context_.scopes.Leave();
  if (cases.label_count > kMaxLabels) {
    context_.Say(context_.At(Code::kHlsl1007, RangeOf(stmt))
                     .With("what", "'switch'")
                     .With("size", std::to_string(cases.label_count) + " labels")
                     .With("limit", kMaxLabels));
  }
  const bool has_break = exits_.back().has_break;
  exits_.pop_back();
  std::vector<StmtId> rows;
  for (const Case& one : cases.rows) {
    rows.push_back(
        context_.Add(Stmt{.kind = StmtKind::kCase,
                          .flags = static_cast<uint8_t>((one.is_default ? Stmt::kDefault : 0) |
                                                        (one.ends ? Stmt::kEnds : 0)),
                          .at = one.at,
                          .labels = context_.AddList(one.labels),
                          .children = context_.AddList(one.children)}));
  }
  // Control ends in a switch if every way through it does: a default, no break, and the last
  // case ends.
  const bool ends = cases.has_default && !has_break && cases.rows.back().ends;
  return Make({.kind = StmtKind::kSwitch,
               .hint = static_cast<uint8_t>(hint),
               .at = RangeOf(stmt),
               .a = selector,
               .children = context_.AddList(rows)},
              ends);
}

// --- loops
// ----------------------------------------------------------------------------------------

// `while` and `do`. The condition of `do` is checked behind the body and sees none of its
// names, which were a scope of their own.
StmtResult Body::Loop(uint32_t row) {
  const syntax::Stmt& stmt = At(row);
  Stmt loop{.kind = StmtKind::kLoop,
            .flags = stmt.kind == Kind::kDo ? Stmt::kDo : uint8_t{0},
            .at = RangeOf(stmt)};
  ReadLoopHint(context_, stmt, loop);
  if (stmt.kind == Kind::kWhile) {
    loop.a = Condition(context_, CheckExpr(context_, stmt.condition), "'while'");
  }
  exits_.push_back({});
  const StmtResult body = Scoped(row + 1);
  if (stmt.kind == Kind::kDo) {
    loop.a = Condition(context_, CheckExpr(context_, stmt.condition), "'do'");
  }
  const bool has_break = exits_.back().has_break;
  exits_.pop_back();
  loop.children = context_.AddList(std::vector<StmtId>{body.id});
  const std::optional<Scalar> known = ScalarOf(context_, loop.a);
  return Make(loop, known && known->bits != 0 && !has_break);
}

// In 2021 the head is a scope of its own; in 2018 its variables live on behind the loop.
// A block with the first part and a loop whose step is the third part.
StmtResult Body::For(uint32_t row) {
  const syntax::Stmt& stmt = At(row);
  const bool own_scope = context_.dialect() == Dialect::k2021;
  if (own_scope) {
    context_.scopes.Enter();
  }
  std::vector<StmtId> children;
  const uint32_t first = row + 1;
  bool unused = false;
  if (At(first).kind == Kind::kDecl) {
    Declarations(At(first), children, true);
  } else if (At(first).kind == Kind::kExpression) {
    Add(first, children, unused);
  }
  Stmt loop{.kind = StmtKind::kLoop, .at = RangeOf(stmt)};
  ReadLoopHint(context_, stmt, loop);
  if (!stmt.condition.empty()) {
    loop.a = Condition(context_, CheckExpr(context_, stmt.condition), "'for'");
  }
  if (!stmt.value.empty()) {
    const ExprId step = CheckExpr(context_, stmt.value);
    const Expr& expr = context_.Get(step);
    if (expr.kind != ExprKind::kFailed && !expr.Is(Expr::kEffect)) {
      context_.Say(context_.At(Code::kHlsl2043, expr.at).With("text", context_.Text(expr.at)));
    } else {
      loop.b = step;
    }
  }
  exits_.push_back({});
  const StmtResult body = Scoped(At(first).next);
  const bool has_break = exits_.back().has_break;
  exits_.pop_back();
  if (own_scope) {
    context_.scopes.Leave();
  }
  loop.children = context_.AddList(std::vector<StmtId>{body.id});
  const std::optional<Scalar> known =
      loop.a.valid() ? ScalarOf(context_, loop.a) : std::optional(BoolValue(true));
  children.push_back(context_.Add(loop));
  return Make({.kind = StmtKind::kBlock,
               .flags = own_scope ? uint8_t{0} : Stmt::kNoScope,
               .at = RangeOf(stmt),
               .children = context_.AddList(children)},
              known && known->bits != 0 && !has_break);
}

}  // namespace

CheckedBody CheckBody(CheckContext& context, uint32_t stmt) {
  const StmtResult block = Body(context).Block(stmt);
  return {block.id, block.ends};
}

}  // namespace kiln::hlsl
