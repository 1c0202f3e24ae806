// SPDX-License-Identifier: MIT
// Blocks recurse as deep as the parser allows. Behind a jump nothing is lowered: what stands there
// is checked and never runs.
#include "compiler/front/wgsl/lower/statement.h"

#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/wgsl/lower/operation.h"
#include "compiler/front/wgsl/lower/type.h"
#include "compiler/front/wgsl/lower/value.h"
#include "compiler/ir/operands.h"

namespace kiln::wgsl::front {
namespace {

class Statements {
 public:
  explicit Statements(LowerContext& context) : context_(context), none_(context.builder.Void()) {}

  // Of a block; false if control does not come to its end.
  // Behind a jump the rest of the block is left out, as the IR allows nothing there.
  bool All(StmtId block) {
    for (const uint32_t child : context_.unit.List(context_.unit[block].children)) {
      CheckStop();
      if (!Lower(StmtId{child})) {
        return false;
      }
    }
    return true;
  }

 private:
  StmtId ChildOf(const Stmt& stmt, size_t i) const {
    return StmtId{context_.unit.List(stmt.children)[i]};
  }
  ir::BlockId Block(StmtId id) {
    return context_.Block([&] { All(id); });
  }

  // False for jumps.
  // What a jump leads to is the innermost exit of its kind; checking decided whether a `break`
  // is that of a switch.
  bool Lower(StmtId id) {
    const Stmt& stmt = context_.unit[id];
    context_.at = stmt.at;
    switch (stmt.kind) {
      case StmtKind::kExpression:
        ValueOf(context_, stmt.a);
        return true;
      case StmtKind::kDeclare:
        Declare(stmt);
        return true;
      case StmtKind::kAssign:
        Assign(stmt);
        return true;
      case StmtKind::kUpdate:
        Update(stmt);
        return true;
      case StmtKind::kBlock: {
        const ir::BlockId block = Block(id);
        context_.at = stmt.at;
        context_.Emit(ir::ScopeInst{none_, block});
        return true;
      }
      // An `if` goes on even where both branches leave: the IR takes what follows as not
      // reached.
      case StmtKind::kIf:
        If(stmt);
        return true;
      case StmtKind::kSwitch:
        Switch(stmt);
        return true;
      case StmtKind::kLoop:
        Loop(stmt);
        return true;
      case StmtKind::kBreak:
        context_.Emit(ir::BreakInst{
            none_, stmt.of_switch ? context_.switch_exits.back() : context_.loop_exits.back()});
        return false;
      case StmtKind::kContinue:
        context_.Emit(ir::ContinueInst{none_, context_.loop_exits.back()});
        return false;
      case StmtKind::kReturn: {
        const ir::InstId value = stmt.a.valid() ? ValueOf(context_, stmt.a) : ir::InstId{};
        context_.at = stmt.at;
        context_.Emit(ir::ReturnInst{none_, value});
        return false;
      }
      case StmtKind::kDiscard:
        context_.Emit(ir::DemoteInst{none_});
        return true;
      case StmtKind::kCase:
        break;
    }
    KILN_UNREACHABLE();
  }

  // Variables begin as zero each time control comes by.
  // A `let` is a value and has no storage, but where a loop was found to need it in its
  // continuing block.
  void Declare(const Stmt& stmt) {
    const Local& local = context_.unit[stmt.local];
    if (context_.types[local.type].kind == TypeKind::kPointer) {
      return Point(stmt);
    }
    // A value that is not written is zero. A variable that was declared before its loop is only
    // written.
    const ir::InstId value =
        stmt.a.valid() ? ValueOf(context_, stmt.a) : ZeroValue(context_, local.type);
    context_.at = stmt.at;
    const ir::LocalId hoisted = context_.locals[stmt.local.value];
    // Hoisted: see Loop.
    if (hoisted.valid()) {
      context_.Emit(ir::StoreInst{
          none_, context_.Emit(ir::LocalRefInst{TypeOf(context_, local.type), hoisted}), value});
    } else if (local.kind == LocalKind::kLet) {
      context_.values[stmt.local.value] = value;
    } else {
      context_.Emit(ir::VariableInst{none_, AddVariable(stmt.local), value});
    }
  }

  ir::LocalId AddVariable(LocalId id) {
    const Local& local = context_.unit[id];
    context_.locals[id.value] = context_.builder.AddLocal(
        {.name = context_.builder.Text(local.name), .type = TypeOf(context_, local.type)},
        {.name = context_.SpanOf(local.at)});
    return context_.locals[id.value];
  }

  // The indices of a pointer are what they are now: the steps are values that were computed here.
  void Point(const Stmt& stmt) {
    context_.pointers[stmt.local.value] = PointedBy(context_, stmt.a);
  }

  // WGSL, "Assignment Statement": the place before the value. The phony one only has a value.
  void Assign(const Stmt& stmt) {
    if (!stmt.a.valid()) {
      ValueOf(context_, stmt.b);
      return;
    }
    const Place place = PlaceOf(context_, stmt.a);
    const ir::InstId value = ValueOf(context_, stmt.b);
    context_.at = stmt.at;
    Store(context_, place, value);
  }

  // The place is evaluated once and then loaded, before the right side is computed, and stored
  // to.
  void Update(const Stmt& stmt) {
    Place place = PlaceOf(context_, stmt.a);
    context_.at = stmt.at;
    const ir::InstId old = Load(context_, place);
    const ir::InstId right = ValueOf(context_, stmt.b);
    context_.at = stmt.at;
    const TypeId types[] = {place.type, context_.Get(stmt.b).type};
    const ir::InstId made = Numeric(context_,
                                    {.function = stmt.op,
                                     .scalar = context_.types[place.type].scalar,
                                     .result = place.type,
                                     .operand_types = types},
                                    {old, right});
    Store(context_, place, made);
  }

  // The branch of an `else if` is an if that is no block in the tree; the IR has blocks only.
  void If(const Stmt& stmt) {
    const ir::InstId condition = ValueOf(context_, stmt.a);
    const std::span<const uint32_t> children = context_.unit.List(stmt.children);
    std::vector<ir::BlockId> blocks{Block(StmtId{children[0]})};
    if (children.size() > 1) {
      const StmtId other{children[1]};
      blocks.push_back(context_.unit[other].kind == StmtKind::kBlock
                           ? Block(other)
                           : context_.Block([&] { Lower(other); }));
    }
    context_.at = stmt.at;
    context_.Emit(ir::IfInst{none_, condition, context_.builder.Ids(blocks)});
  }

  // A case is its head, its labels, its block; all follow the selector in one list.
  void Switch(const Stmt& stmt) {
    const ir::InstId selector = ValueOf(context_, stmt.a);
    const ir::LocalId exit = context_.AddExit(ir::LocalKind::kSwitchExit);
    std::vector<uint32_t> words{selector.value};
    context_.switch_exits.push_back(exit);
    for (const uint32_t child : context_.unit.List(stmt.children)) {
      const Stmt& one = context_.unit[StmtId{child}];
      std::vector<uint32_t> labels;
      for (const uint32_t label : context_.unit.List(one.labels)) {
        labels.push_back(ConstantRow(context_, context_.Get(ExprId{label})).value);
      }
      const ir::BlockId block = Block(ChildOf(one, 0));
      words.push_back(ir::CaseHead(labels.size(), one.is_default, false));
      words.insert(words.end(), labels.begin(), labels.end());
      words.push_back(block.value);
    }
    context_.switch_exits.pop_back();
    context_.at = stmt.at;
    context_.Emit(
        ir::SwitchInst{none_, ir::BranchHint::kNone, exit, context_.builder.NewList(words)});
  }

  // A condition before each round, or one of another round behind the continuing block. That block
  // is none of the body's, but sees what the body declares: so these variables are declared before
  // the loop, and its `let` are variables, too.
  // The three blocks of a loop in the IR: a condition, the body, what runs between two rounds.
  void Loop(const Stmt& stmt) {
    const bool continues = stmt.first.valid() || stmt.b.valid();
    if (continues) {
      Hoist(ChildOf(stmt, 0));
    }
    const ir::LocalId exit = context_.AddExit(ir::LocalKind::kLoopExit);
    context_.loop_exits.push_back(exit);
    const ir::BlockId before = context_.Block([&] {
      if (stmt.a.valid()) {
        const ir::InstId condition = ValueOf(context_, stmt.a);
        context_.Emit(ir::YieldInst{none_, condition});
      }
    });
    const ir::BlockId body = Block(ChildOf(stmt, 0));
    const ir::BlockId continuing = context_.Block([&] {
      if (continues) {
        Continue(stmt);
      }
    });
    context_.loop_exits.pop_back();
    context_.at = stmt.at;
    context_.Emit(ir::LoopInst{none_, exit, context_.builder.Ids({before, body, continuing})});
  }

  bool IsPointer(const Stmt& stmt) const {
    return stmt.kind == StmtKind::kDeclare &&
           context_.types[context_.unit[stmt.local].type].kind == TypeKind::kPointer;
  }

  // The pointers of a body that its continuing block mentions, and those that these are made of.
  std::vector<StmtId> PointersOf(StmtId body) const {
    std::vector<StmtId> pointers;
    bool mentioned = false;
    for (const uint32_t child : context_.unit.List(context_.unit[body].children)) {
      if (const Stmt& stmt = context_.unit[StmtId{child}]; IsPointer(stmt)) {
        pointers.push_back(StmtId{child});
        mentioned = mentioned || context_.unit[stmt.local].in_continuing;
      }
    }
    return mentioned ? pointers : std::vector<StmtId>{};
  }

  // Only what the body declares at its outermost level is visible behind it, and only what is
  // mentioned there needs storage; a pointer may stand for anything. Pointers have no storage:
  // their computed indices have.
  void Hoist(StmtId body) {
    const bool all = !PointersOf(body).empty();
    for (const uint32_t child : context_.unit.List(context_.unit[body].children)) {
      const Stmt& stmt = context_.unit[StmtId{child}];
      if (stmt.kind == StmtKind::kDeclare && !IsPointer(stmt) &&
          (all || context_.unit[stmt.local].in_continuing)) {
        context_.at = stmt.at;
        context_.Emit(ir::VariableInst{none_, AddVariable(stmt.local), ir::InstId{}});
      }
    }
    for (const StmtId pointer : PointersOf(body)) {
      context_.at = context_.unit[pointer].at;
      KeepSteps(context_, context_.unit[pointer].a);
    }
  }

  // Pointers of the body are no variables, so the continuing block makes its own places of them.
  // Their indices are what they were where the pointer was declared.
  void Continue(const Stmt& stmt) {
    for (const StmtId pointer : PointersOf(ChildOf(stmt, 0))) {
      context_.reads_steps = true;
      Point(context_.unit[pointer]);
      context_.reads_steps = false;
    }
    if (stmt.first.valid()) {
      All(stmt.first);
    }
    // `break if` leaves, the IR asks whether to go on.
    if (stmt.b.valid()) {
      const ir::InstId leaves = ValueOf(context_, stmt.b);
      context_.Emit(
          ir::YieldInst{none_, context_.Emit(ir::UnaryInst{context_.Vector(ir::Scalar::kBool, 1),
                                                           ir::UnaryOp::kNot, leaves, 0})});
    }
  }

  LowerContext& context_;
  const ir::TypeId none_;
};

}  // namespace

void LowerBody(LowerContext& context, StmtId body) { Statements(context).All(body); }

}  // namespace kiln::wgsl::front
