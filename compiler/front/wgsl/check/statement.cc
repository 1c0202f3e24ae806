// SPDX-License-Identifier: MIT
// Blocks recurse as deep as the parser allows. Behind an error the statement is dropped and the
// next one is checked: one error for each.
#include "compiler/front/wgsl/check/statement.h"

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/wgsl/check/assignment.h"
#include "compiler/front/wgsl/check/expressions/expression.h"
#include "compiler/front/wgsl/check/expressions/value.h"

namespace kiln::wgsl::front {
namespace {

// WGSL, "Behavior Analysis": how control may leave a statement, as bits. Of a sequence: behind
// what does not go on to the next statement nothing counts, though it is checked.
constexpr uint8_t kNext = static_cast<uint8_t>(Way::kNext);
constexpr uint8_t kBreak = static_cast<uint8_t>(Way::kBreak);
constexpr uint8_t kContinue = static_cast<uint8_t>(Way::kContinue);
constexpr uint8_t kReturn = static_cast<uint8_t>(Way::kReturn);

class Statements {
 public:
  explicit Statements(CheckContext& context) : context_(context) {}

  CheckedBody Body(syntax::StmtId body) {
    const StatementResult made = All(context_.ast[body]);
    return {.body = Add({.kind = StmtKind::kBlock, .at = context_.ast[body].at}, made.children),
            .ways = made.ways};
  }

 private:
  struct StatementResult {
    std::vector<uint32_t> children;
    uint8_t ways = kNext;
    std::vector<uint32_t> skipped;  // names of what a loop declares behind a `continue`
  };
  struct One {
    StmtId id;  // invalid: nothing to do, or an error
    uint8_t ways = kNext;
  };
  // What `break` and `continue` belong to.
  // kContinuing reaches through switches, not through loops in it: those have their own
  // `break`.
  enum class Around : uint8_t { kNothing, kLoop, kSwitch, kContinuing };

  static bool IsDeclaration(syntax::StmtKind kind) {
    return kind == syntax::StmtKind::kVar || kind == syntax::StmtKind::kLet ||
           kind == syntax::StmtKind::kConst;
  }
  StmtId Add(Stmt row, std::span<const uint32_t> children) {
    row.children = context_.unit.AddList(children);
    return context_.Add(row);
  }
  TypeId Flag() { return context_.types().Scalar(ScalarKind::kBool); }

  // Statements one after another, in the scope that the caller opened. `of_loop`: they are the
  // body of the innermost loop, and what they declare is seen in its continuing block.
  enum class BlockRole : uint8_t { kPlain, kOfLoop };
  StatementResult All(const syntax::Stmt& block, BlockRole role = BlockRole::kPlain) {
    StatementResult made;
    for (const uint32_t child : context_.ast.List(block.children)) {
      CheckStop();
      const syntax::Stmt& stmt = context_.ast[syntax::StmtId{child}];
      const One one = Check(syntax::StmtId{child});
      if (role == BlockRole::kOfLoop && has_continue_ && IsDeclaration(stmt.kind)) {
        made.skipped.push_back(stmt.token);
      }
      if (one.id.valid()) {
        made.children.push_back(one.id.value);
      }
      // Only what can be reached adds ways; kNext is taken away by whoever does not have it.
      if ((made.ways & kNext) != 0) {
        made.ways = static_cast<uint8_t>((made.ways & ~kNext) | one.ways);
      }
    }
    return made;
  }

  One Block(syntax::StmtId id) {
    context_.scopes.Open();
    const StatementResult made = All(context_.ast[id]);
    context_.scopes.Close();
    return {Add({.kind = StmtKind::kBlock, .at = context_.ast[id].at}, made.children), made.ways};
  }
  // `around_` is what it was before, also behind an error: nothing returns early in between.
  One BlockIn(syntax::StmtId id, Around around) {
    const Around before = std::exchange(around_, around);
    const One made = Block(id);
    around_ = before;
    return made;
  }
  // The only child of a loop.
  syntax::StmtId BodyOf(const syntax::Stmt& stmt) const {
    return syntax::StmtId{context_.ast.List(stmt.children)[0]};
  }

  One Check(syntax::StmtId id) {
    const syntax::Stmt& stmt = context_.ast[id];
    switch (stmt.kind) {
      case syntax::StmtKind::kBlock:
        return Block(id);
      case syntax::StmtKind::kVar:
      case syntax::StmtKind::kLet:
      case syntax::StmtKind::kConst:
        return Declare(stmt);
      case syntax::StmtKind::kAssign:
        return {CheckAssignment(context_, stmt), kNext};
      case syntax::StmtKind::kIncrement:
        return {CheckIncrement(context_, stmt), kNext};
      case syntax::StmtKind::kCall:
        return {CheckCallStatement(context_, stmt), kNext};
      case syntax::StmtKind::kIf:
        return If(stmt);
      case syntax::StmtKind::kSwitch:
        return Switch(stmt);
      case syntax::StmtKind::kLoop:
        return Loop(stmt);
      case syntax::StmtKind::kFor:
        return For(stmt);
      case syntax::StmtKind::kWhile:
        return While(stmt);
      case syntax::StmtKind::kBreak:
        return Break(stmt);
      case syntax::StmtKind::kContinue:
        return Continue(stmt);
      case syntax::StmtKind::kReturn:
        return Return(stmt);
      // The stage is judged at the entry points that reach this function.
      case syntax::StmtKind::kDiscard:
        if (context_.Function().needs_fragment == kNoRow) {
          context_.Function().needs_fragment = stmt.at.begin;
        }
        return {context_.Add(Stmt{.kind = StmtKind::kDiscard, .at = stmt.at}), kNext};
      case syntax::StmtKind::kConstAssert:
        Assert(stmt);
        return {};
      case syntax::StmtKind::kBreakIf:
        context_.Forbid(stmt.at, "'break if' ends a continuing block");
        return {};
      case syntax::StmtKind::kCase:
        break;
    }
    KILN_UNREACHABLE();
  }

  // --- declarations
  // WGSL, "Declaration and Scope": a name is declared once in a scope.
  void DeclareName(uint32_t token, const Expr& value) {
    const std::string_view name = context_.Text(token);
    if (!context_.scopes.Declare(name, {.value = value, .token = token})) {
      context_.Say(context_.At(Code::kWgsl2003, token)
                       .With("name", name)
                       .Label(LabelKind::kDeclaredHere,
                              context_.Where({context_.scopes.Find(name)->token,
                                              context_.scopes.Find(name)->token + 1}),
                              {{"name", name}}));
    }
  }

  // A name is declared behind its value, which may mention one of the same name outside. After
  // an error it is declared as failed, so that its uses are silent.
  One Declare(const syntax::Stmt& stmt) {
    const bool is_const = stmt.kind == syntax::StmtKind::kConst;
    const TypeId type = stmt.a.valid() ? CheckType(context_, stmt.a) : context_.types().Failed();
    ExprId value;
    bool failed = stmt.a.valid() && type == context_.types().Failed();
    if (stmt.b.valid() && !failed) {
      value = is_const ? CheckConstant(context_, stmt.b)
                       : ValueOf(context_, CheckExpression(context_, stmt.b));
      value = stmt.a.valid() ? Converted(context_, value, type)
              : is_const     ? value
                             : Concrete(context_, value);
      failed = context_.IsFailed(value);
    }
    Expr meaning{.kind = ExprKind::kFailed, .type = context_.types().Failed(), .at = stmt.at};
    StmtId made;
    // A constant has no row and no statement: its mentions are its value.
    if (!failed && is_const) {
      meaning = context_.Get(value);
    } else if (!failed) {
      const TypeId stored = stmt.a.valid() ? type : value.valid() ? context_.TypeOf(value) : type;
      made = stmt.kind == syntax::StmtKind::kVar ? Var(stmt, stored, value, meaning)
                                                 : Let(stmt, stored, value, meaning);
    }
    DeclareName(stmt.token, meaning);
    return {made, kNext};
  }

  // WGSL, "Variable Declarations": in functions the address space is `function`, written or
  // not.
  StmtId Var(const syntax::Stmt& stmt, TypeId type, ExprId value, Expr& meaning) {
    const std::span<const uint32_t> words = context_.ast.List(stmt.words);
    if (!words.empty() && context_.Text(words[0]) != "function") {
      context_.Say(context_.At(Code::kWgsl2006, stmt.token)
                       .With("type", context_.types().Text(type))
                       .With("space", context_.Text(words[0])));
      return {};
    }
    if (type == context_.types().Failed()) {
      context_.Forbid(stmt.at, "a variable needs a type or a value");
      return {};
    }
    if (!context_.types().IsConstructible(type)) {
      context_.Say(context_.At(Code::kWgsl2006, stmt.token)
                       .With("type", context_.types().Text(type))
                       .With("space", "function"));
      return {};
    }
    if (context_.types().LeavesOf(type) > context_.limits.value_items) {
      context_.Say(context_.At(Code::kWgsl1007, stmt.token)
                       .With("what", "items of a variable")
                       .With("limit", context_.limits.value_items));
      return {};
    }
    // Without a value it begins as zero, which is put together like any other.
    if (!value.valid() && !context_.SpendParts(type, stmt.at)) {
      return {};
    }
    const LocalId local = context_.Add(Local{
        .name = context_.Text(stmt.token), .kind = LocalKind::kVar, .type = type, .at = stmt.at});
    meaning = {.kind = ExprKind::kLocal,
               .flags = Expr::kPlace,
               .type = type,
               .a = local.value,
               .at = stmt.at,
               .space = AddressSpace::kFunction};
    return context_.Add(
        Stmt{.kind = StmtKind::kDeclare, .at = stmt.at, .a = value, .local = local});
  }

  // A `let` may be a pointer. Then no value is kept but the place; lowering evaluates its
  // indices there.
  StmtId Let(const syntax::Stmt& stmt, TypeId type, ExprId value, Expr& meaning) {
    const bool pointer = context_.types()[type].kind == TypeKind::kPointer;
    if (!pointer && !context_.types().IsConstructible(type)) {
      context_.Mismatch(context_.Get(value).at, "value", context_.types().Text(type));
      return {};
    }
    const LocalId local = context_.Add(Local{.name = context_.Text(stmt.token),
                                             .kind = LocalKind::kLet,
                                             .type = type,
                                             .at = stmt.at,
                                             .value = value});
    meaning = {.kind = ExprKind::kLocal, .type = type, .a = local.value, .at = stmt.at};
    return context_.Add(
        Stmt{.kind = StmtKind::kDeclare, .at = stmt.at, .a = value, .local = local});
  }

  // --- branches
  ExprId Condition(syntax::ExprId id) {
    const ExprId value = ValueOf(context_, CheckExpression(context_, id));
    if (!context_.IsFailed(value) && context_.TypeOf(value) != Flag()) {
      context_.Mismatch(context_.Get(value).at, "bool", context_.TypeText(value));
      return context_.Failed(context_.Get(value).at);
    }
    return value;
  }

  // Both branches are checked even if the condition is wrong. `else if` is an if in place of a
  // block.
  One If(const syntax::Stmt& stmt) {
    const ExprId condition = Condition(stmt.a);
    const std::span<const uint32_t> blocks = context_.ast.List(stmt.children);
    const One then = Block(syntax::StmtId{blocks[0]});
    std::vector<uint32_t> children{then.id.value};
    uint8_t ways = then.ways;
    if (blocks.size() > 1) {
      const One other = Check(syntax::StmtId{blocks[1]});
      if (other.id.valid()) {
        children.push_back(other.id.value);
      }
      ways |= other.ways;
    } else {
      ways |= kNext;
    }
    if (context_.IsFailed(condition)) {
      return {{}, ways};
    }
    return {Add({.kind = StmtKind::kIf, .at = stmt.at, .a = condition}, children), ways};
  }

  // WGSL, "Switch Statement": exactly one default, labels that differ, all of the type of the
  // selector.
  One Switch(const syntax::Stmt& stmt) {
    ExprId selector = ValueOf(context_, CheckExpression(context_, stmt.a));
    TypeId type = context_.types().Failed();
    if (!context_.IsFailed(selector)) {
      type = SelectorType(selector, stmt);
      selector = type == context_.types().Failed() ? selector : Converted(context_, selector, type);
    }
    // Labels of all cases, as numbers: u32 and i32 both fit.
    FlatMap<int64_t, bool> seen;
    std::vector<uint32_t> cases;
    uint8_t ways = 0;
    uint32_t defaults = 0;
    for (const uint32_t child : context_.ast.List(stmt.children)) {
      const syntax::Stmt& one = context_.ast[syntax::StmtId{child}];
      const One made = Case(one, type, seen, defaults);
      cases.push_back(made.id.value);
      ways |= made.ways;
    }
    if (defaults != 1) {
      context_.Forbid({stmt.at.begin, stmt.at.begin + 1}, "a switch has one 'default'");
      return {};
    }
    // `break` of a switch ends the switch, so control goes on behind it.
    if ((ways & kBreak) != 0) {
      ways = static_cast<uint8_t>((ways & ~kBreak) | kNext);
    }
    if (type == context_.types().Failed()) {
      return {{}, ways};
    }
    return {Add({.kind = StmtKind::kSwitch, .at = stmt.at, .a = selector}, cases), ways};
  }

  // Abstract selectors and labels have the type of the first that is none.
  TypeId SelectorType(ExprId selector, const syntax::Stmt& stmt) {
    TypeId type = context_.TypeOf(selector);
    const Type row = context_.types()[type];
    if (row.kind != TypeKind::kScalar || !IsInteger(row.scalar)) {
      context_.Mismatch(context_.Get(selector).at, "i32 or u32", context_.TypeText(selector));
      return context_.types().Failed();
    }
    if (!context_.types().IsAbstract(type)) {
      return type;
    }
    for (const uint32_t child : context_.ast.List(stmt.children)) {
      for (const uint32_t label : context_.ast.List(context_.ast[syntax::StmtId{child}].labels)) {
        if (label == syntax::kNoRow) {
          continue;
        }
        const ExprId value = CheckExpression(context_, syntax::ExprId{label});
        if (!context_.IsFailed(value) && context_.TypeRowOf(value).scalar == ScalarKind::kU32) {
          return context_.TypeOf(value);
        }
      }
    }
    return context_.types().Scalar(ScalarKind::kI32);
  }

  // One case with all its labels. A default among them counts and is no value.
  One Case(const syntax::Stmt& stmt, TypeId type, FlatMap<int64_t, bool>& seen,
           uint32_t& defaults) {
    Stmt row{.kind = StmtKind::kCase, .at = stmt.at};
    std::vector<uint32_t> labels;
    for (const uint32_t label : context_.ast.List(stmt.labels)) {
      if (label == syntax::kNoRow) {
        row.is_default = true;
        ++defaults;
        continue;
      }
      ExprId value = CheckConstant(context_, syntax::ExprId{label});
      value = type == context_.types().Failed() ? value : Converted(context_, value, type);
      const std::optional<int64_t> number = WholeOf(context_, value);
      if (!number.has_value()) {
        continue;
      }
      labels.push_back(value.value);
      if (!seen.Insert(*number, true).second) {
        context_.Forbid(context_.Get(value).at, "another case has this value");
      }
    }
    row.labels = context_.unit.AddList(labels);
    // A switch in a continuing block is still in it: `return` and `continue` would leave the
    // block.
    const Around around = around_ == Around::kContinuing ? Around::kContinuing : Around::kSwitch;
    const uint32_t switches = std::exchange(in_switch_, in_switch_ + 1);
    const Around before = std::exchange(around_, around);
    const One body = Block(BodyOf(stmt));
    around_ = before;
    in_switch_ = switches;
    const uint32_t child = body.id.value;
    return {Add(row, std::span(&child, 1)), body.ways};
  }

  // --- loops
  // A loop opens a scope for its body and its continuing block together, which sees what the
  // body declares.
  One Loop(const syntax::Stmt& stmt) {
    const uint32_t switches = std::exchange(in_switch_, 0);
    const uint32_t loops = std::exchange(in_loop_, in_loop_ + 1);
    const Around before = std::exchange(around_, Around::kLoop);
    const bool outer_continue = std::exchange(has_continue_, false);
    context_.scopes.Open();
    StatementResult body = All(stmt, BlockRole::kOfLoop);
    has_continue_ = outer_continue;
    Stmt row{.kind = StmtKind::kLoop, .at = stmt.at};
    if (stmt.first.valid()) {
      around_ = Around::kContinuing;
      for (const uint32_t name : body.skipped) {
        context_.skipped.Insert(name, true);
      }
      ++context_.in_continuing;
      body.ways |= Continuing(context_.ast[stmt.first], row);
      --context_.in_continuing;
    }
    context_.scopes.Close();
    around_ = before;
    in_loop_ = loops;
    in_switch_ = switches;
    const StmtId block = Add({.kind = StmtKind::kBlock, .at = stmt.at}, body.children);
    return LoopOf(row, block, body.ways);
  }

  // Its statements, and the `break if` behind them. What control may leave by it.
  // WGSL, "Continuing Statement". `break if` is only looked for at the end; elsewhere Check
  // refuses it.
  uint8_t Continuing(const syntax::Stmt& block, Stmt& row) {
    context_.scopes.Open();
    std::vector<uint32_t> children;
    uint8_t ways = 0;
    const std::span<const uint32_t> list = context_.ast.List(block.children);
    for (size_t i = 0; i < list.size(); ++i) {
      const syntax::Stmt& stmt = context_.ast[syntax::StmtId{list[i]}];
      if (stmt.kind == syntax::StmtKind::kBreakIf && i + 1 == list.size()) {
        row.b = Condition(stmt.a);
        ways |= kBreak;
        if (context_.IsFailed(row.b)) {
          row.b = {};
        }
        break;
      }
      const One one = Check(syntax::StmtId{list[i]});
      if (one.id.valid()) {
        children.push_back(one.id.value);
      }
    }
    context_.scopes.Close();
    row.first = Add({.kind = StmtKind::kBlock, .at = block.at}, children);
    return ways;
  }

  // A loop that has a body: control goes on behind it only by `break`.
  // WGSL2008: control that can leave a loop neither by `break` nor by `return` stays there for
  // ever.
  One LoopOf(const Stmt& row, StmtId body, uint8_t ways) {
    if ((ways & (kBreak | kReturn)) == 0) {
      context_.Say(context_.At(Code::kWgsl2008, {row.at.begin, row.at.begin + 1}));
      return {{}, kNext};
    }
    const bool leaves = (ways & kBreak) != 0;
    // `continue` ends here; a loop without `break` does not go on to the next statement.
    ways = static_cast<uint8_t>((ways & kReturn) | (leaves ? kNext : 0));
    return {Add(row, std::span(&body.value, 1)), ways};
  }

  // A body of `for` and `while`: a new loop around it, with no switch inside of it yet.
  One BodyOfLoop(const syntax::Stmt& stmt) {
    const uint32_t switches = std::exchange(in_switch_, 0);
    const uint32_t loops = std::exchange(in_loop_, in_loop_ + 1);
    const bool outer_continue = std::exchange(has_continue_, false);
    const One body = BlockIn(BodyOf(stmt), Around::kLoop);
    has_continue_ = outer_continue;
    in_loop_ = loops;
    in_switch_ = switches;
    return body;
  }

  // A `for` is a block with its first statement and a loop: condition before each round, last
  // statement as the continuing block (WGSL, "For Statement").
  One For(const syntax::Stmt& stmt) {
    context_.scopes.Open();
    std::vector<uint32_t> outer;
    if (stmt.first.valid()) {
      const One first = Check(stmt.first);
      if (first.id.valid()) {
        outer.push_back(first.id.value);
      }
    }
    Stmt row{.kind = StmtKind::kLoop, .at = stmt.at};
    row.a = stmt.a.valid() ? Condition(stmt.a) : ExprId{};
    const bool failed = stmt.a.valid() && context_.IsFailed(row.a);
    if (stmt.second.valid()) {
      const One step = Check(stmt.second);
      if (step.id.valid()) {
        row.first = Add({.kind = StmtKind::kBlock, .at = stmt.at}, std::span(&step.id.value, 1));
      }
    }
    const One body = BodyOfLoop(stmt);
    context_.scopes.Close();
    if (failed) {
      return {};
    }
    // A condition may be false before the first round, so there is always a way out.
    const One loop =
        LoopOf(row, body.id, static_cast<uint8_t>(body.ways | (stmt.a.valid() ? kBreak : 0)));
    if (!loop.id.valid()) {
      return loop;
    }
    outer.push_back(loop.id.value);
    return {Add({.kind = StmtKind::kBlock, .at = stmt.at}, outer), loop.ways};
  }

  One While(const syntax::Stmt& stmt) {
    Stmt row{.kind = StmtKind::kLoop, .at = stmt.at};
    row.a = Condition(stmt.a);
    const bool failed = context_.IsFailed(row.a);
    const One body = BodyOfLoop(stmt);
    return failed ? One{} : LoopOf(row, body.id, static_cast<uint8_t>(body.ways | kBreak));
  }

  // --- jumps
  // `break` belongs to the innermost switch or loop. In a continuing block only a switch in it
  // has one.
  One Break(const syntax::Stmt& stmt) {
    const bool in_switch = in_switch_ > 0;
    if (around_ == Around::kNothing || (around_ == Around::kContinuing && !in_switch)) {
      context_.Forbid(stmt.at, around_ == Around::kNothing
                                   ? "there is no loop or switch around it"
                                   : "control does not leave a continuing block");
      return {};
    }
    return {context_.Add(Stmt{.kind = StmtKind::kBreak, .of_switch = in_switch, .at = stmt.at}),
            kBreak};
  }

  One Continue(const syntax::Stmt& stmt) {
    if (in_loop_ == 0 || around_ == Around::kContinuing) {
      context_.Forbid(stmt.at, in_loop_ == 0 ? "there is no loop around it"
                                             : "control does not leave a continuing block");
      return {};
    }
    has_continue_ = true;
    return {context_.Add(Stmt{.kind = StmtKind::kContinue, .at = stmt.at}), kContinue};
  }

  // Behind an error control returns as well: nothing more is said of the end of the function.
  One Return(const syntax::Stmt& stmt) {
    const TypeId result = context_.Function().result;
    const bool gives = result != context_.types().Void();
    // A loop in a continuing block may be left, the block itself not.
    if (context_.in_continuing != 0) {
      context_.Forbid(stmt.at, "control does not leave a continuing block");
      return {{}, kReturn};
    }
    Stmt row{.kind = StmtKind::kReturn, .at = stmt.at};
    if (stmt.a.valid() != gives) {
      context_.Mismatch(stmt.at, context_.types().Text(result), gives ? "nothing" : "a value");
      return {{}, kReturn};
    }
    if (gives) {
      row.a = Converted(context_, CheckExpression(context_, stmt.a), result);
      if (context_.IsFailed(row.a)) {
        return {{}, kReturn};
      }
    }
    return {context_.Add(row), kReturn};
  }

  // Like that of a module, and it is no statement in the unit.
  void Assert(const syntax::Stmt& stmt) {
    const ExprId value = CheckConstant(context_, stmt.a);
    if (context_.IsFailed(value)) {
      return;
    }
    if (context_.TypeOf(value) != Flag()) {
      context_.Mismatch(context_.Get(value).at, "bool", context_.TypeText(value));
    } else if (context_.unit.WordsOf(context_.Get(value))[0] == 0) {
      context_.Say(context_.At(Code::kWgsl3004, stmt.at));
    }
  }

  CheckContext& context_;
  Around around_ = Around::kNothing;
  uint32_t in_loop_ = 0;       // loops around
  uint32_t in_switch_ = 0;     // switches around, inside of the innermost loop
  bool has_continue_ = false;  // the innermost loop, so far
};

}  // namespace

CheckedBody CheckBody(CheckContext& context, syntax::StmtId body) {
  return Statements(context).Body(body);
}

}  // namespace kiln::wgsl::front
