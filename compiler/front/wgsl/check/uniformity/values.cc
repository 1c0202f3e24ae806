// SPDX-License-Identifier: MIT
#include "compiler/front/wgsl/check/uniformity/values.h"

#include <algorithm>
#include <optional>
#include <string>

#include "compiler/base/threads/stop.h"

namespace kiln::wgsl::front {
namespace {

// The operand that is walked to by a loop, since chains of it are as long as a source makes them.
std::optional<ExprId> FirstOperand(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kLogical:
    case ExprKind::kConvert:
    case ExprKind::kSplat:
    case ExprKind::kSwizzle:
    case ExprKind::kMember:
    case ExprKind::kIndex:
      return ExprId{expr.a};
    default:
      return std::nullopt;
  }
}

bool IsUniformBuiltin(std::string_view name) {
  return name == "workgroup_id" || name == "num_workgroups";
}

// Memory that nobody writes while a shader runs.
bool IsReadOnly(AddressSpace space, AccessMode access) {
  return space == AddressSpace::kUniform ||
         (space == AddressSpace::kStorage && access == AccessMode::kRead);
}

bool IsDerivative(Function function) {
  return (function >= Function::kDpdx && function <= Function::kFwidthFine) ||
         function == Function::kTextureSample || function == Function::kTextureSampleBias ||
         function == Function::kTextureSampleCompare;
}
bool IsBarrier(Function function) {
  return function == Function::kWorkgroupBarrier || function == Function::kStorageBarrier ||
         function == Function::kTextureBarrier || function == Function::kWorkgroupUniformLoad;
}

}  // namespace

// What a parameter holds at the beginning: what a pointer points to is not followed to callers.
UniformityValues::UniformityValues(CheckContext& context, const DerivativeFilters& filters,
                                   const std::vector<UniformitySummary>& known, FunctionId id)
    : context_(context),
      unit_(context.unit),
      filters_(filters),
      known_(known),
      row_(unit_[id]),
      graph_(row_.parameters.size()) {
  for (size_t i = 0; i < row_.parameters.size(); ++i) {
    const uint32_t local = row_.parameters[i].value;
    const bool pointer = unit_.types[unit_.locals[local].type].kind == TypeKind::kPointer;
    contents_.Insert(local,
                     pointer ? UniformityGraph::kUnknown : UniformityGraph::ParameterNode(i));
  }
}

void UniformityValues::Set(uint32_t local, UniformityNode node) {
  ChargeMemory(sizeof(log_[0]));
  log_.emplace_back(local, Of(local));
  *contents_.Insert(local, node).first = node;
}

// Backwards, so that the last value of a variable comes first and the oldest is what stays.
std::vector<std::pair<uint32_t, UniformityNode>> UniformityValues::TakeBack(size_t mark) {
  std::vector<std::pair<uint32_t, UniformityNode>> last;
  FlatMap<uint32_t, bool> seen;
  while (log_.size() > mark) {
    const auto [local, before] = log_.back();
    log_.pop_back();
    if (seen.Insert(local, true).second) {
      last.emplace_back(local, Of(local));
    }
    *contents_.Find(local) = before;
  }
  std::ranges::reverse(last);
  return last;
}

UniformityNode UniformityValues::Joined(UniformityNode control,
                                        std::initializer_list<UniformityNode> parts) {
  if (std::ranges::all_of(parts, [&](UniformityNode part) { return part == control; })) {
    return control;
  }
  const UniformityNode node = graph_.Add();
  graph_.Edge(node, control);
  for (const UniformityNode part : parts) {
    graph_.Edge(node, part);
  }
  return node;
}

UniformityNode UniformityValues::Different(UniformityNode control, TokenRange at) {
  const UniformityNode node = graph_.Add();
  graph_.Edge(node, control);
  graph_.NotUniform(node, at);
  return node;
}

// Along members, indices and pointers to a variable. Ends: each step goes to an earlier row.
UniformityValues::Root UniformityValues::RootOf(ExprId place) const {
  Root root{.variable = place};
  while (true) {
    CheckStop();
    const Expr& expr = unit_[root.variable];
    switch (expr.kind) {
      case ExprKind::kMember:
      case ExprKind::kIndex:
      case ExprKind::kSwizzle:
        root.whole = false;
        root.variable = ExprId{expr.a};
        break;
      case ExprKind::kDeref:
      case ExprKind::kAddress:
        root.variable = ExprId{expr.a};
        break;
      case ExprKind::kLocal:
        if (unit_.locals[expr.a].kind != LocalKind::kLet || !unit_.locals[expr.a].value.valid() ||
            unit_.types[unit_.locals[expr.a].type].kind != TypeKind::kPointer) {
          return root;
        }
        root.variable = unit_.locals[expr.a].value;
        break;
      default:
        return root;
    }
  }
}

// The indices on the way to a place, and those of pointers, which were computed where the pointer
// was declared.
UniformityNode UniformityValues::Steps(ExprId place, UniformityNode control) {
  UniformityNode node = control;
  while (true) {
    CheckStop();
    const Expr& expr = unit_[place];
    switch (expr.kind) {
      case ExprKind::kIndex:
        node = Joined(node, {Value(ExprId{expr.b}, control)});
        [[fallthrough]];
      case ExprKind::kMember:
      case ExprKind::kSwizzle:
      case ExprKind::kDeref:
      case ExprKind::kAddress:
        place = ExprId{expr.a};
        break;
      case ExprKind::kLocal:
        return unit_.locals[expr.a].kind == LocalKind::kLet && IsKnown(expr.a)
                   ? Joined(node, {Of(expr.a)})
                   : node;
      default:
        return node;
    }
  }
}

UniformityNode UniformityValues::Load(ExprId place, UniformityNode control, TokenRange at) {
  const UniformityNode steps = Steps(place, control);
  const Expr& root = unit_[RootOf(place).variable];
  if (root.kind == ExprKind::kGlobal) {
    const Global& global = unit_.globals[root.a];
    if (global.kind == GlobalKind::kHandle || global.kind == GlobalKind::kConst ||
        (global.kind == GlobalKind::kBuffer && IsReadOnly(global.space, global.access))) {
      return steps;
    }
    return Different(steps, at);
  }
  if (root.kind != ExprKind::kLocal) {
    return Joined(steps, {UniformityGraph::kUnknown});
  }
  const Type& type = unit_.types[unit_.locals[root.a].type];
  if (type.kind == TypeKind::kPointer && type.space != AddressSpace::kFunction) {
    return IsReadOnly(type.space, type.access) ? steps : Different(steps, at);
  }
  return IsKnown(root.a) ? Joined(steps, {Of(root.a)}) : Joined(steps, {UniformityGraph::kUnknown});
}

// Invocations of an entry point get different values, but for those of the whole workgroup. A
// struct is as its worst member.
UniformityNode UniformityValues::Mention(const Expr& expr, UniformityNode control) {
  const Local& local = unit_.locals[expr.a];
  if (local.kind != LocalKind::kParameter || row_.stage == kNoRow) {
    return IsKnown(expr.a) ? Joined(control, {Of(expr.a)})
                           : Joined(control, {UniformityGraph::kUnknown});
  }
  const auto same = [&](uint32_t attributes) {
    return attributes != kNoRow && IsUniformBuiltin(unit_.attributes[attributes].builtin);
  };
  bool uniform = same(local.attributes);
  if (unit_.types[local.type].kind == TypeKind::kStruct) {
    const std::vector<StructMember>& members = unit_.types.StructOf(local.type).members;
    uniform = std::ranges::all_of(
        members, [&](const StructMember& member) { return same(member.attributes); });
  }
  return uniform ? control : Different(control, expr.at);
}

// An expression without a first operand. Recursion is as deep as the parser allows brackets.
UniformityNode UniformityValues::Leaf(const Expr& expr, UniformityNode control) {
  switch (expr.kind) {
    case ExprKind::kLocal:
      return Mention(expr, control);
    case ExprKind::kLoad:
      return Load(ExprId{expr.a}, control, expr.at);
    case ExprKind::kAddress:
    case ExprKind::kDeref:
      return Steps(ExprId{expr.a}, control);
    case ExprKind::kCall:
      return Call(expr, control);
    case ExprKind::kOperation:
      return Operation(expr, control);
    case ExprKind::kConstruct: {
      UniformityNode node = control;
      for (const uint32_t part : unit_.List(ListId{expr.b})) {
        node = Joined(node, {Value(ExprId{part}, control)});
      }
      return node;
    }
    default:  // constants, overrides, textures and samplers
      return control;
  }
}

// The right side of `&&` and `||` runs where the left one leads there.
UniformityNode UniformityValues::Around(const Expr& expr, UniformityNode first,
                                        UniformityNode control) {
  if (expr.kind == ExprKind::kLogical) {
    const UniformityNode there = Joined(control, {first});
    return Joined(control, {first, Value(ExprId{expr.b}, there)});
  }
  return expr.kind == ExprKind::kIndex ? Joined(control, {first, Value(ExprId{expr.b}, control)})
                                       : first;
}

UniformityNode UniformityValues::Value(ExprId id, UniformityNode control) {
  CheckStop();
  std::vector<ExprId> around;
  while (const std::optional<ExprId> first = FirstOperand(unit_[id])) {
    around.push_back(id);
    id = *first;
  }
  UniformityNode node = Leaf(unit_[id], control);
  for (; !around.empty(); around.pop_back()) {
    node = Around(unit_[around.back()], node, control);
  }
  return node;
}

// What is behind a pointer that a function of the module is given is not followed.
UniformityNode UniformityValues::Call(const Expr& expr, UniformityNode control) {
  const FunctionRow& callee = unit_.functions[expr.a];
  const UniformitySummary& summary = known_[expr.a];
  const std::span<const uint32_t> list = unit_.List(ListId{expr.b});
  std::vector<UniformityNode> arguments;
  for (const uint32_t argument : list) {
    arguments.push_back(Value(ExprId{argument}, control));
  }
  UniformityNode node = control;
  for (size_t i = 0; i < kNeeds; ++i) {
    const auto need = static_cast<Need>(i);
    if (summary.needs[i].control) {
      sites_.push_back({need, control, expr.at, callee.name});
    }
    for (size_t p = 0; p < arguments.size(); ++p) {
      if (summary.needs[i].parameters[p]) {
        sites_.push_back({need, arguments[p], expr.at, callee.name});
      }
    }
  }
  for (size_t p = 0; p < arguments.size(); ++p) {
    if (summary.gives[p]) {
      node = Joined(node, {arguments[p]});
    }
  }
  for (size_t p = 0; p < list.size(); ++p) {
    const Type& type = unit_.types[unit_.locals[callee.parameters[p].value].type];
    const Expr& root = unit_[RootOf(ExprId{list[p]}).variable];
    if (type.kind == TypeKind::kPointer && root.kind == ExprKind::kLocal && IsKnown(root.a)) {
      Set(root.a, Joined(control, {UniformityGraph::kUnknown, Of(root.a)}));
    }
  }
  node = summary.gives_unknown ? Joined(node, {UniformityGraph::kUnknown}) : node;
  return summary.gives_different ? Different(node, expr.at) : node;
}

UniformityNode UniformityValues::Operation(const Expr& expr, UniformityNode control) {
  const auto function = static_cast<Function>(expr.op);
  UniformityNode node = control;
  for (const uint32_t operand : unit_.List(ListId{expr.b})) {
    node = Joined(node, {Value(ExprId{operand}, control)});
  }
  const std::string_view name = FactsOf(function).name;
  if (IsBarrier(function)) {
    sites_.push_back({Need::kBarrier, control, expr.at, name});
    if (function == Function::kWorkgroupUniformLoad) {
      // All invocations read one place, so what they get is one value.
      sites_.push_back({Need::kBarrier, node, expr.at, name});
    }
    return control;
  }
  if (IsDerivative(function)) {
    // An information is not worth a message: kiln has errors and warnings.
    const FilterSeverity severity = filters_.At(expr.at);
    if (severity == FilterSeverity::kError || severity == FilterSeverity::kWarning) {
      const Need need = severity == FilterSeverity::kError ? Need::kError : Need::kWarning;
      sites_.push_back({need, control, expr.at, name});
    }
    return Different(node, expr.at);
  }
  if (function >= Function::kAtomicLoad && function <= Function::kAtomicCompareExchangeWeak) {
    return Different(node, expr.at);
  }
  if (function == Function::kTextureLoad) {
    const Type& texture = unit_.types[unit_[ExprId{unit_.List(ListId{expr.b})[0]}].type];
    const bool written =
        texture.texture == TextureClass::kStorage && texture.access != AccessMode::kRead;
    return written ? Different(node, expr.at) : node;
  }
  return node;
}

void UniformityValues::Store(ExprId place, UniformityNode value, UniformityNode control) {
  const UniformityNode steps = Steps(place, control);
  const Root root = RootOf(place);
  const Expr& variable = unit_[root.variable];
  if (variable.kind != ExprKind::kLocal) {
    return;
  }
  const UniformityNode stored = Joined(control, {value, steps});
  Set(variable.a, root.whole || !IsKnown(variable.a) ? stored : Joined(stored, {Of(variable.a)}));
}

void UniformityValues::Declare(const Stmt& stmt, UniformityNode control) {
  Set(stmt.local.value, stmt.a.valid() ? Value(stmt.a, control) : control);
}

// Assignments and pointers that are handed over, in the statement and all that are in it.
std::vector<uint32_t> UniformityValues::WrittenIn(StmtId stmt) const {
  std::vector<uint32_t> found;
  std::vector<StmtId> pending{stmt};
  while (!pending.empty()) {
    CheckStop();
    const Stmt& row = unit_[pending.back()];
    pending.pop_back();
    if (row.kind == StmtKind::kDeclare) {
      found.push_back(row.local.value);
    }
    if ((row.kind == StmtKind::kAssign || row.kind == StmtKind::kUpdate) && row.a.valid()) {
      const Expr& root = unit_[RootOf(row.a).variable];
      if (root.kind == ExprKind::kLocal) {
        found.push_back(root.a);
      }
    }
    for (const ExprId expr : {row.a, row.b}) {
      if (expr.valid()) {
        WrittenBy(expr, found);
      }
    }
    for (const uint32_t child : unit_.List(row.children)) {
      if (StmtId{child}.valid()) {
        pending.push_back(StmtId{child});
      }
    }
    if (row.first.valid()) {
      pending.push_back(row.first);
    }
  }
  std::ranges::sort(found);
  const auto repeated = std::ranges::unique(found);
  found.erase(repeated.begin(), repeated.end());
  return found;
}

// What the calls of an expression may write.
void UniformityValues::WrittenBy(ExprId root, std::vector<uint32_t>& found) const {
  std::vector<ExprId> pending{root};
  while (!pending.empty()) {
    CheckStop();
    const Expr& expr = unit_[pending.back()];
    pending.pop_back();
    switch (expr.kind) {
      case ExprKind::kIndex:
      case ExprKind::kLogical:
        pending.push_back(ExprId{expr.a});
        pending.push_back(ExprId{expr.b});
        break;
      case ExprKind::kLoad:
      case ExprKind::kConvert:
      case ExprKind::kSplat:
      case ExprKind::kMember:
      case ExprKind::kSwizzle:
      case ExprKind::kAddress:
      case ExprKind::kDeref:
        pending.push_back(ExprId{expr.a});
        break;
      case ExprKind::kCall:
      case ExprKind::kOperation:
      case ExprKind::kConstruct:
        for (const uint32_t operand : unit_.List(ListId{expr.b})) {
          pending.push_back(ExprId{operand});
          if (expr.kind != ExprKind::kCall) {
            continue;
          }
          const Expr& variable = unit_[RootOf(ExprId{operand}).variable];
          if (variable.kind == ExprKind::kLocal) {
            found.push_back(variable.a);
          }
        }
        break;
      default:
        break;
    }
  }
}

}  // namespace kiln::wgsl::front
