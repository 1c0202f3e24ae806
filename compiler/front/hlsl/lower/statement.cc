// SPDX-License-Identifier: MIT
// A branch whose condition options decide is two `when`; one whose condition is known is the side
// that is taken. What is in a `when` computes its values itself, from variables and parameters, so
// it can be cut out.
#include "compiler/front/hlsl/lower/statement.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/lower/cexpr.h"
#include "compiler/front/hlsl/lower/type.h"
#include "compiler/front/hlsl/lower/value.h"
#include "compiler/ir/operands.h"

namespace kiln::hlsl {
namespace {

// Statements of one function. Scopes of HLSL are scopes of the IR, so names need not be
// changed.
class Statements {
 public:
  explicit Statements(LowerContext& context) : context_(context), none_(context.builder.Void()) {}

  // One statement. Blocks recurse as deep as the parser allows.
  void Lower(StmtId id) {
    CheckStop();
    const Stmt& stmt = context_.unit[id];
    context_.at = stmt.at;
    switch (stmt.kind) {
      case StmtKind::kExpression:
        ValueOf(context_, stmt.a);
        return;
      case StmtKind::kDeclare:
        return Declare(stmt);
      case StmtKind::kBlock:
        return stmt.Is(Stmt::kNoScope) ? All(stmt.children) : Scope(stmt.children);
      case StmtKind::kIf:
        return If(stmt);
      case StmtKind::kLoop:
        return Loop(stmt);
      case StmtKind::kSwitch:
        return Switch(stmt);
      case StmtKind::kBreak:
        context_.Emit(ir::BreakInst{none_, stmt.Is(Stmt::kOfSwitch) ? context_.switch_exits.back()
                                                                    : context_.loop_exits.back()});
        return;
      case StmtKind::kContinue:
        context_.Emit(ir::ContinueInst{none_, context_.loop_exits.back()});
        return;
      case StmtKind::kReturn: {
        const ir::InstId value = stmt.a.valid() ? ValueOf(context_, stmt.a) : ir::InstId{};
        context_.at = stmt.at;
        context_.Emit(ir::ReturnInst{none_, value});
        return;
      }
      case StmtKind::kDiscard:
        context_.Emit(ir::DemoteInst{none_});
        return;
      case StmtKind::kCase:
        break;
    }
    KILN_UNREACHABLE();
  }

  // The statements of what has a block of its own in the IR: no scope more.
  // What the IR gives a block to needs no scope in it.
  void Inner(StmtId body) {
    const Stmt& stmt = context_.unit[body];
    stmt.kind == StmtKind::kBlock ? All(stmt.children) : Lower(body);
  }

 private:
  // Without a scope of their own.
  void All(ListId list) {
    for (const uint32_t child : context_.unit.List(list)) {
      Lower(StmtId{child});
    }
  }
  template <class Fill>
  ir::BlockId Block(Fill fill) {
    const ir::BlockId block = context_.builder.BeginBlock();
    fill();
    context_.builder.EndBlock();
    return block;
  }
  void Scope(ListId list) {
    const TokenRange at = context_.at;
    const ir::BlockId block = Block([&] { All(list); });
    context_.at = at;
    context_.Emit(ir::ScopeInst{none_, block});
  }

  // From here on mentions of the variable find its storage.
  ir::LocalId AddLocal(const Stmt& stmt) {
    const Local& local = context_.unit[stmt.local];
    const ir::LocalId made = context_.builder.AddLocal(
        {.name = context_.builder.Text(local.name), .type = TypeOf(context_, local.type)},
        {.name = context_.SpanOf(local.at), .type = context_.SpanOf(local.at)});
    context_.locals[stmt.local.value] = made;
    return made;
  }

  // A variable of a case was declared before its switch; here it only gets its value. Without
  // one it keeps whatever it has, which is undefined.
  void Declare(const Stmt& stmt) {
    const bool hoisted = context_.locals[stmt.local.value].valid() && hoisting_ > 0;
    const ir::InstId value = stmt.a.valid() ? ValueOf(context_, stmt.a) : ir::InstId{};
    context_.at = stmt.at;
    if (!hoisted) {
      context_.Emit(ir::VariableInst{none_, AddLocal(stmt), value});
    } else if (value.valid()) {
      const ir::TypeId type = TypeOf(context_, context_.unit[stmt.local].type);
      const ir::InstId place =
          context_.Emit(ir::LocalRefInst{type, context_.locals[stmt.local.value]});
      context_.Emit(ir::StoreInst{none_, place, value});
    }
  }

  // --- branches
  // The value of a condition that is constant.
  std::optional<Scalar> Known(ExprId id) const {
    const Expr& expr = context_.Get(id);
    return expr.kind == ExprKind::kConstant ? std::optional(context_.unit.ScalarsOf(expr)[0])
                                            : std::nullopt;
  }

  // The block of a `when` holds a scope, since it may end in a jump that what follows must not
  // stand behind.
  // The jump ends the scope alone, so what follows the `when` is still reached where it is cut
  // out.
  void When(ir::CexprId condition, ir::SpanId run, StmtId body, TokenRange at) {
    const ir::BlockId block = Block([&] { Wrapped(body); });
    context_.at = at;
    context_.builder.Add(ir::WhenInst{none_, condition, block},
                         {.main = context_.SpanOf(at), .aux = run});
  }
  void Wrapped(StmtId body) {
    const TokenRange at = context_.at;
    const ir::BlockId block = Block([&] { Inner(body); });
    context_.at = at;
    context_.Emit(ir::ScopeInst{none_, block});
  }

  // spec/hlsl 8.3. The side that is not chosen is not closed in a variant.
  void If(const Stmt& stmt) {
    const std::span<const uint32_t> children = context_.unit.List(stmt.children);
    const bool has_else = children.size() > 1;
    if (const std::optional<Scalar> known = Known(stmt.a)) {
      if (known->bits != 0) {
        Lower(StmtId{children[0]});
      } else if (has_else) {
        Lower(StmtId{children[1]});
      }
      return;
    }
    if (context_.Get(stmt.a).rate == Rate::kOption) {
      ir::SpanId run;
      // The condition again, negated: in a variant one of two is true.
      const ir::CexprId condition = CexprOf(context_, stmt.a, &run);
      When(condition, run, StmtId{children[0]}, stmt.at);
      if (has_else) {
        const ir::CexprId other = Negated(context_, condition);
        const ir::SpanId other_run = context_.builder.AddRun(std::vector<Span>(
            context_.cexpr_nodes[other.value], context_.WrittenAt(context_.Get(stmt.a).at)));
        When(other, other_run, StmtId{children[1]}, stmt.at);
      }
      return;
    }
    const ir::InstId condition = ValueOf(context_, stmt.a);
    std::vector<ir::BlockId> blocks{Block([&] { Inner(StmtId{children[0]}); })};
    if (has_else) {
      blocks.push_back(Block([&] { Inner(StmtId{children[1]}); }));
    }
    context_.at = stmt.at;
    ir::Inst made = ir::IfInst{none_, condition, context_.builder.Ids(blocks)}.To();
    made.flags = stmt.hint;
    context_.Emit(made);
  }

  // --- loops
  // The IR's loop has a condition before each round, the body, and what runs between two
  // rounds. An empty condition is true.
  void Loop(const Stmt& stmt) {
    const ir::LocalId exit = context_.builder.AddLocal({.kind = ir::LocalKind::kLoopExit}, {});
    const bool is_do = stmt.Is(Stmt::kDo);
    const auto yield_condition = [&] {
      const ir::InstId value = ValueOf(context_, stmt.a);
      context_.Emit(ir::YieldInst{none_, value});
    };
    const ir::BlockId condition = Block([&] {
      const std::optional<Scalar> known = stmt.a.valid() ? Known(stmt.a) : BoolValue(true);
      if (!is_do && !(known && known->bits != 0)) {
        yield_condition();
      }
    });
    context_.loop_exits.push_back(exit);
    const ir::BlockId body = Block([&] { Inner(StmtId{context_.unit.List(stmt.children)[0]}); });
    context_.loop_exits.pop_back();
    // The step runs after `continue`, too; of `do` this block asks whether to go on.
    const ir::BlockId continuing = Block([&] {
      if (is_do) {
        yield_condition();
      } else if (stmt.b.valid()) {
        ValueOf(context_, stmt.b);
      }
    });
    context_.at = stmt.at;
    ir::Inst made =
        ir::LoopInst{none_, exit, context_.builder.Ids({condition, body, continuing})}.To();
    made.flags = static_cast<uint16_t>(stmt.hint | stmt.rounds << 8);
    context_.Emit(made);
  }

  // --- switch
  // Known or known with options.
  bool ByOptions(const Stmt& stmt) const { return context_.Get(stmt.a).rate <= Rate::kOption; }
  bool HasOpenLabel(const Stmt& stmt) const {
    for (const uint32_t child : context_.unit.List(stmt.children)) {
      for (const uint32_t label : context_.unit.List(context_.unit[StmtId{child}].labels)) {
        if (context_.Get(ExprId{label}).kind != ExprKind::kConstant) {
          return true;
        }
      }
    }
    return false;
  }
  // Variables of a case are seen in those behind it: they are declared before the switch.
  void Hoist(const Stmt& stmt) {
    for (const uint32_t child : context_.unit.List(stmt.children)) {
      for (const uint32_t inner : context_.unit.List(context_.unit[StmtId{child}].children)) {
        const Stmt& row = context_.unit[StmtId{inner}];
        if (row.kind == StmtKind::kDeclare) {
          context_.at = row.at;
          context_.Emit(ir::VariableInst{none_, AddLocal(row), ir::InstId{}});
        }
      }
    }
  }

  // A switch is in a scope of its own, which has the variables of its cases.
  void Switch(const Stmt& stmt) {
    const TokenRange at = stmt.at;
    const ir::BlockId block = Block([&] {
      Hoist(stmt);
      ++hoisting_;
      if (!SwitchByOptions(stmt)) {
        HasOpenLabel(stmt) ? SwitchByChain(stmt) : SwitchByValue(stmt);
      }
      --hoisting_;
    });
    context_.at = at;
    context_.Emit(ir::ScopeInst{none_, block});
  }

  ir::LocalId AddExit() {
    return context_.builder.AddLocal({.kind = ir::LocalKind::kSwitchExit}, {});
  }

  // Emits the switch over `cases`, which BlockOf fills.
  struct Case {
    std::vector<ir::ConstId> labels;
    bool is_default = false;
    bool through = false;
    ir::BlockId block;
  };
  void EmitSwitch(const Stmt& stmt, ir::LocalId exit, ir::InstId selector,
                  std::span<const Case> cases) {
    std::vector<uint32_t> words{selector.value};
    for (const Case& one : cases) {
      words.push_back(ir::CaseHead(one.labels.size(), one.is_default, one.through));
      for (const ir::ConstId label : one.labels) {
        words.push_back(label.value);
      }
      words.push_back(one.block.value);
    }
    context_.at = stmt.at;
    context_.Emit(ir::SwitchInst{none_, static_cast<ir::BranchHint>(stmt.hint), exit,
                                 context_.builder.NewList(words)});
  }

  // spec/hlsl 12: labels are constants. Cases fall through into the next one unless they end.
  void SwitchByValue(const Stmt& stmt) {
    const ir::InstId selector = ValueOf(context_, stmt.a);
    const ir::TypeId type = TypeOf(context_, context_.Get(stmt.a).type);
    const ir::LocalId exit = AddExit();
    context_.switch_exits.push_back(exit);
    std::vector<Case> cases;
    const std::span<const uint32_t> children = context_.unit.List(stmt.children);
    for (size_t i = 0; i < children.size(); ++i) {
      const Stmt& row = context_.unit[StmtId{children[i]}];
      Case one{.is_default = row.Is(Stmt::kDefault)};
      for (const uint32_t label : context_.unit.List(row.labels)) {
        const Scalar value = context_.unit.ScalarsOf(context_.Get(ExprId{label}))[0];
        one.labels.push_back(context_.builder.ScalarConst(type, BitsOf(value)));
      }
      if (one.labels.empty() && !one.is_default) {
        // It was checked, and nothing reaches it.
        continue;  // what stands before the first label
      }
      one.block = Block([&] { All(row.children); });
      one.through = !row.Is(Stmt::kEnds) && i + 1 < children.size();
      cases.push_back(std::move(one));
    }
    context_.switch_exits.pop_back();
    if (cases.empty()) {
      return;
    }
    EmitSwitch(stmt, exit, selector, cases);
  }

  bool IsOwnBreak(StmtId id) const {
    const Stmt& stmt = context_.unit[id];
    return stmt.kind == StmtKind::kBreak && stmt.Is(Stmt::kOfSwitch);
  }
  // Does a case leave its switch anywhere but at its end?
  // A stack over the statements of a case. Inner switches have their own breaks, loops do not
  // show theirs: a break in one is of the loop.
  bool BreaksEarly(StmtId one) const {
    const std::span<const uint32_t> list = context_.unit.List(context_.unit[one].children);
    const bool ends_so = !list.empty() && IsOwnBreak(StmtId{list.back()});
    std::vector<uint32_t> pending(list.begin(), list.end() - (ends_so ? 1 : 0));
    while (!pending.empty()) {
      const StmtId id{pending.back()};
      pending.pop_back();
      if (IsOwnBreak(id)) {
        return true;
      }
      const Stmt& stmt = context_.unit[id];
      if (stmt.kind != StmtKind::kSwitch) {
        const std::span<const uint32_t> inner = context_.unit.List(stmt.children);
        pending.insert(pending.end(), inner.begin(), inner.end());
      }
    }
    return false;
  }
  // The statements of a case without the `break` that ends it, if nothing is left by it.
  void CaseBody(const Stmt& row, bool in_switch) {
    std::span<const uint32_t> list = context_.unit.List(row.children);
    if (!in_switch && !list.empty() && IsOwnBreak(StmtId{list.back()})) {
      list = list.first(list.size() - 1);
    }
    for (const uint32_t child : list) {
      Lower(StmtId{child});
    }
  }

  // A selector and labels that options decide, with cases that end each: one `when` for each case.
  // Where one leaves the switch from inside they stand in a switch with nothing but a default.
  // spec/hlsl 8.3.
  bool SwitchByOptions(const Stmt& stmt) {
    const std::span<const uint32_t> children = context_.unit.List(stmt.children);
    const bool all_end = std::ranges::all_of(
        children.first(children.empty() ? 0 : children.size() - 1),
        [&](uint32_t child) { return context_.unit[StmtId{child}].Is(Stmt::kEnds); });
    if (!ByOptions(stmt) || !all_end || children.empty()) {
      return false;
    }
    if (std::ranges::none_of(children,
                             [&](uint32_t child) { return BreaksEarly(StmtId{child}); })) {
      WhensOf(stmt, children, false);
      return true;
    }
    const ir::LocalId exit = AddExit();
    context_.switch_exits.push_back(exit);
    const ir::BlockId block = Block([&] { WhensOf(stmt, children, true); });
    context_.switch_exits.pop_back();
    const Case whole{.is_default = true, .block = block};
    EmitSwitch(stmt, exit, context_.Uint(0), std::span(&whole, 1));
    return true;
  }

  // The condition of a case is that one of its labels is equal; that of default, that none is.
  // Conditions exclude each other, so at most one `when` is live.
  void WhensOf(const Stmt& stmt, std::span<const uint32_t> children, bool in_switch) {
    const ir::CexprId selector = CexprOf(context_, stmt.a, nullptr);
    std::vector<ir::CexprId> conditions;
    std::optional<ir::CexprId> any;
    for (const uint32_t child : children) {
      std::optional<ir::CexprId> own;
      for (const uint32_t label : context_.unit.List(context_.unit[StmtId{child}].labels)) {
        const ir::CexprId equal = Equal(context_, stmt.a, ExprId{label}, selector);
        own = own ? Either(context_, *own, equal) : equal;
        any = any ? Either(context_, *any, equal) : equal;
      }
      conditions.push_back(own.value_or(context_.builder.Literal(ir::ValueKind::kFlag, 0)));
      context_.cexpr_nodes.Insert(conditions.back().value, 1);
    }
    for (size_t i = 0; i < children.size(); ++i) {
      const Stmt& row = context_.unit[StmtId{children[i]}];
      ir::CexprId condition = conditions[i];
      if (row.Is(Stmt::kDefault)) {
        condition = any ? Either(context_, condition, Negated(context_, *any)) : ir::kTrue;
        context_.cexpr_nodes.Insert(condition.value, 1);
      }
      const ir::SpanId run = context_.builder.AddRun(
          std::vector<Span>(context_.cexpr_nodes[condition.value], context_.WrittenAt(row.at)));
      const ir::BlockId block = Block([&] {
        const ir::BlockId inner = Block([&] { CaseBody(row, in_switch); });
        context_.Emit(ir::ScopeInst{none_, inner});
      });
      context_.at = row.at;
      context_.builder.Add(ir::WhenInst{none_, condition, block},
                           {.main = context_.SpanOf(row.at), .aux = run});
    }
  }

  // Labels that options decide, of a selector that they do not: the number of the case is found
  // first, by comparisons from the first label on, and is what the switch is over.
  // The cost is a comparison for each label. Cases keep their order, and may fall through as
  // before.
  void SwitchByChain(const Stmt& stmt) {
    const ir::InstId selector = ValueOf(context_, stmt.a);
    const ir::TypeId number = context_.Vector(ir::Scalar::kU32, 1);
    const ir::TypeId flag = context_.Vector(ir::Scalar::kBool, 1);
    const std::span<const uint32_t> children = context_.unit.List(stmt.children);
    auto otherwise = static_cast<uint32_t>(children.size());
    std::vector<std::pair<ir::InstId, uint32_t>> tests;
    for (uint32_t i = 0; i < children.size(); ++i) {
      const Stmt& row = context_.unit[StmtId{children[i]}];
      otherwise = row.Is(Stmt::kDefault) ? i : otherwise;
      for (const uint32_t label : context_.unit.List(row.labels)) {
        const ir::InstId value = ValueOf(context_, ExprId{label});
        tests.emplace_back(
            context_.Emit(ir::BinaryInst{flag, ir::BinaryOp::kEqual, selector, value}), i);
      }
    }
    // From the last label on: the first one that is equal wins.
    ir::InstId chosen = context_.Uint(otherwise);
    for (size_t i = tests.size(); i > 0; --i) {
      chosen = context_.Emit(
          ir::SelectInst{number, tests[i - 1].first,
                         context_.builder.Ids({context_.Uint(tests[i - 1].second), chosen})});
    }
    const ir::LocalId exit = AddExit();
    context_.switch_exits.push_back(exit);
    std::vector<Case> cases;
    for (uint32_t i = 0; i < children.size(); ++i) {
      const Stmt& row = context_.unit[StmtId{children[i]}];
      cases.push_back({.labels = {context_.builder.ScalarConst(number, i)},
                       .through = !row.Is(Stmt::kEnds) && i + 1 < children.size(),
                       .block = Block([&] { All(row.children); })});
    }
    context_.switch_exits.pop_back();
    EmitSwitch(stmt, exit, chosen, cases);
  }

  LowerContext& context_;
  const ir::TypeId none_;
  uint32_t hoisting_ = 0;  // switches around
};

}  // namespace

void LowerBody(LowerContext& context, StmtId id) { Statements(context).Inner(id); }

}  // namespace kiln::hlsl
