// SPDX-License-Identifier: MIT
// Functions come callees first, so what one does to its pointers and to variables of the module is
// known where it is called. Of each expression the variable at its root is looked up; a `let`
// stands for what it was made of. Cost: each row once, and the roots of places.
#include "compiler/front/wgsl/check/alias.h"

#include <string>
#include <utility>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/base/threads/stop.h"

namespace kiln::wgsl::front {
namespace {

// What is done to memory, as bits.
constexpr uint8_t kReads = 1;
constexpr uint8_t kWrites = 2;

// A variable: of the module (by GlobalId) or of a function (by LocalId).
// A root is the variable in which a place lies, or a parameter that is a pointer: what that
// points to is a variable of the caller. Parts of one variable count as the variable (WGSL,
// "Alias Analysis").
using Root = uint64_t;
constexpr Root kNowhere = ~Root{0};
constexpr Root GlobalRoot(uint32_t id) { return id; }
constexpr Root LocalRoot(uint32_t id) { return Root{1} << 32 | id; }
constexpr bool IsGlobal(Root root) { return root >> 32 == 0; }

// What a function does, its callees included.
// Of a parameter 0 where it is no pointer, or one that nothing is done with.
struct Facts {
  std::vector<uint8_t> parameters;                // of pointers
  std::vector<std::pair<Root, uint8_t>> globals;  // each once
};

class FunctionAliases {
 public:
  FunctionAliases(CheckContext& context, const std::vector<Facts>& known, FunctionId id)
      : context_(context), unit_(context.unit), known_(known), row_(unit_[id]) {}

  // Order does not matter: what a function does is a set. So statements and expressions are
  // walked by stacks, in any order.
  Facts Check() {
    std::vector<StmtId> pending{row_.body};
    while (!pending.empty()) {
      CheckStop();
      const Stmt& stmt = unit_[pending.back()];
      pending.pop_back();
      Statement(stmt);
      for (const uint32_t child : unit_.List(stmt.children)) {
        if (StmtId{child}.valid()) {
          pending.push_back(StmtId{child});
        }
      }
      if (stmt.first.valid()) {
        pending.push_back(stmt.first);
      }
    }
    // Globals in the order of their first use, so that messages do not depend on a hash.
    Facts facts;
    for (const LocalId parameter : row_.parameters) {
      facts.parameters.push_back(DoneTo(LocalRoot(parameter.value)));
    }
    for (const Root root : roots_) {
      if (IsGlobal(root)) {
        facts.globals.emplace_back(root, DoneTo(root));
      }
    }
    return facts;
  }

 private:
  void Do(Root root, uint8_t what) {
    if (root == kNowhere || what == 0) {
      return;
    }
    const auto [bits, added] = done_.Insert(root, 0);
    *bits = static_cast<uint8_t>(*bits | what);
    if (added) {
      roots_.push_back(root);
    }
  }
  uint8_t DoneTo(Root root) const {
    const uint8_t* bits = done_.Find(root);
    return bits == nullptr ? uint8_t{0} : *bits;
  }

  // Of a place or pointer.
  // Ends: each step goes to a row that was made before.
  Root RootOf(ExprId id) const {
    while (true) {
      const Expr& expr = unit_[id];
      switch (expr.kind) {
        case ExprKind::kMember:
        case ExprKind::kIndex:
        case ExprKind::kDeref:
        case ExprKind::kAddress:
          id = ExprId{expr.a};
          break;
        case ExprKind::kGlobal:
          return GlobalRoot(expr.a);
        // A `let` of a pointer is what it was made of; a `var` and a parameter are roots of
        // their own.
        case ExprKind::kLocal:
          if (unit_.locals[expr.a].kind != LocalKind::kLet) {
            return LocalRoot(expr.a);
          }
          id = unit_.locals[expr.a].value;
          break;
        default:
          return kNowhere;
      }
    }
  }

  void Statement(const Stmt& stmt) {
    if (stmt.kind == StmtKind::kAssign && stmt.a.valid()) {
      Do(RootOf(stmt.a), kWrites);
    } else if (stmt.kind == StmtKind::kUpdate) {
      Do(RootOf(stmt.a), kReads | kWrites);
    }
    for (const ExprId id : {stmt.a, stmt.b}) {
      if (id.valid()) {
        Expression(id);
      }
    }
  }

  // Values are looked for loads and calls. A place alone does nothing: it is a load of it that
  // reads.
  void Expression(ExprId root) {
    std::vector<ExprId> pending{root};
    while (!pending.empty()) {
      CheckStop();
      const Expr& expr = unit_[pending.back()];
      pending.pop_back();
      switch (expr.kind) {
        case ExprKind::kLoad:
          Do(RootOf(ExprId{expr.a}), kReads);
          pending.push_back(ExprId{expr.a});
          break;
        // Also the index of a place is a value.
        case ExprKind::kIndex:
        case ExprKind::kLogical:
          pending.push_back(ExprId{expr.a});
          pending.push_back(ExprId{expr.b});
          break;
        case ExprKind::kConvert:
        case ExprKind::kSplat:
        case ExprKind::kMember:
        case ExprKind::kSwizzle:
        case ExprKind::kAddress:
        case ExprKind::kDeref:
          pending.push_back(ExprId{expr.a});
          break;
        case ExprKind::kOperation:
        case ExprKind::kCall:
        case ExprKind::kConstruct:
          Operands(expr);
          for (const uint32_t operand : unit_.List(ListId{expr.b})) {
            pending.push_back(ExprId{operand});
          }
          break;
        default:
          break;
      }
    }
  }

  // A call of the module does what its function does; atomics read and write what their first
  // argument points to, but for loads.
  void Operands(const Expr& expr) {
    if (expr.kind == ExprKind::kCall) {
      return Call(expr);
    }
    const auto function = static_cast<front::Function>(expr.op);
    if (expr.kind == ExprKind::kOperation && function >= front::Function::kAtomicLoad &&
        function < front::Function::kTextureDimensions && !unit_.List(ListId{expr.b}).empty()) {
      const bool reads = function == front::Function::kAtomicLoad ||
                         function == front::Function::kWorkgroupUniformLoad;
      Do(RootOf(ExprId{unit_.List(ListId{expr.b})[0]}),
         reads ? kReads : static_cast<uint8_t>(kReads | kWrites));
    }
  }

  struct Argument {
    ExprId id;
    Root root;
    uint8_t done;  // by the function that is called
  };

  // WGSL, "Alias Analysis": two pointers of one root, or a pointer to a variable that the
  // callee uses by itself, must not meet where one of the two is written. Cost: pairs of
  // pointer arguments, at most 255, and for each the variables of the callee.
  void Call(const Expr& expr) {
    const Facts& callee = known_[expr.a];
    const std::span<const uint32_t> list = unit_.List(ListId{expr.b});
    std::vector<Argument> pointers;
    for (size_t i = 0; i < list.size(); ++i) {
      const ExprId id{list[i]};
      if (unit_.types[unit_[id].type].kind == TypeKind::kPointer) {
        pointers.push_back({id, RootOf(id), callee.parameters[i]});
      }
    }
    for (size_t i = 0; i < pointers.size(); ++i) {
      for (size_t j = i + 1; j < pointers.size(); ++j) {
        if (pointers[i].root == pointers[j].root) {
          Compare(expr, pointers[i], context_.Text(unit_[pointers[j].id].at), pointers[j].done);
        }
      }
      for (const auto& [root, done] : callee.globals) {
        if (pointers[i].root == root) {
          Compare(expr, pointers[i], unit_.globals[static_cast<uint32_t>(root)].name, done);
        }
      }
      Do(pointers[i].root, pointers[i].done);
    }
    // What a callee does to variables the caller does, too; so callers of callers see it.
    for (const auto& [root, done] : callee.globals) {
      Do(root, done);
    }
  }

  // Told once for each pair that meets, at the argument.
  void Compare(const Expr& call, const Argument& argument, std::string_view other, uint8_t done) {
    if (argument.root != kNowhere && argument.done != 0 && done != 0 &&
        ((argument.done | done) & kWrites) != 0) {
      context_.Say(context_.At(Code::kWgsl2009, unit_[argument.id].at)
                       .With("first", "'" + context_.Text(unit_[argument.id].at) + "'")
                       .With("second", "'" + std::string(other) + "'")
                       .With("name", unit_.functions[call.a].name));
    }
  }

  CheckContext& context_;
  const Unit& unit_;
  const std::vector<Facts>& known_;
  const FunctionRow& row_;
  FlatMap<Root, uint8_t> done_;
  std::vector<Root> roots_;  // of done_, in order
};

}  // namespace

// Facts of functions grow with calls: a chain of them could hold all variables in each. The sum
// is limited, so that memory is a multiple of the tree.
void CheckAliases(CheckContext& context) {
  std::vector<Facts> known;
  size_t uses = 0;
  for (uint32_t i = 0; i < context.unit.functions.size(); ++i) {
    known.push_back(FunctionAliases(context, known, FunctionId{i}).Check());
    uses += known.back().globals.size();
    if (uses > context.limits.nodes) {
      context.Say(context.At(Code::kWgsl1007, context.unit.functions[i].at)
                      .With("what", "uses of variables by functions")
                      .With("limit", context.limits.nodes));
      return;
    }
  }
}

}  // namespace kiln::wgsl::front
