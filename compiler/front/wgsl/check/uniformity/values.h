// SPDX-License-Identifier: MIT
// What one function and its calls say of uniformity, and the nodes of its values. Private to this
// folder.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/front/wgsl/check/context.h"
#include "compiler/front/wgsl/check/uniformity/filters.h"
#include "compiler/front/wgsl/check/uniformity/graph.h"

namespace kiln::wgsl::front {

// What needs uniformity: barriers always, derivatives by the severity of their filter.
enum class Need : uint8_t { kBarrier, kError, kWarning };
inline constexpr size_t kNeeds = 3;

// What callers of a function have to know.
struct UniformitySummary {
  struct OfNeed {
    bool control = false;          // where it is called
    std::vector<bool> parameters;  // their values
  };
  std::array<OfNeed, kNeeds> needs;
  bool gives_different = false;  // its result, whatever it is given
  bool gives_unknown = false;
  std::vector<bool> gives;  // parameters that the result depends on
};

// A place that needs something to be uniform.
struct UniformitySite {
  Need need = Need::kBarrier;
  UniformityNode node = 0;
  TokenRange at{};
  std::string_view name;
};

// Nodes of expressions and what is in the variables of one function. A value depends on the control
// at its place, so whatever is computed where control is not uniform is not uniform.
class UniformityValues {
 public:
  UniformityValues(CheckContext& context, const DerivativeFilters& filters,
                   const std::vector<UniformitySummary>& known, FunctionId id);

  UniformityGraph& graph() { return graph_; }
  const std::vector<UniformitySite>& sites() const { return sites_; }

  UniformityNode Value(ExprId id, UniformityNode control);
  // Of what is in a place.
  UniformityNode LoadOf(ExprId place, UniformityNode control) {
    return Load(place, control, unit_[place].at);
  }
  // A store to a place; of a part of a variable the rest stays.
  void Store(ExprId place, UniformityNode value, UniformityNode control);
  void Declare(const Stmt& stmt, UniformityNode control);

  // --- variables: by LocalId, the node of what is in them
  bool IsKnown(uint32_t local) const { return Of(local) != kNoRow; }
  UniformityNode Of(uint32_t local) const {
    const UniformityNode* node = contents_.Find(local);
    return node == nullptr ? kNoRow : *node;
  }
  void Set(uint32_t local, UniformityNode node);
  // Changes since a mark, each with what was there before.
  size_t Mark() const { return log_.size(); }
  // Takes the changes back; what was set last, each variable once.
  std::vector<std::pair<uint32_t, UniformityNode>> TakeBack(size_t mark);
  // Variables that a statement may write, each once.
  std::vector<uint32_t> WrittenIn(StmtId stmt) const;

 private:
  struct Root {
    ExprId variable;    // kLocal or kGlobal
    bool whole = true;  // no part of it
  };
  Root RootOf(ExprId place) const;
  UniformityNode Joined(UniformityNode control, std::initializer_list<UniformityNode> parts);
  UniformityNode Leaf(const Expr& expr, UniformityNode control);
  UniformityNode Around(const Expr& expr, UniformityNode first, UniformityNode control);
  UniformityNode Mention(const Expr& expr, UniformityNode control);
  UniformityNode Load(ExprId place, UniformityNode control, TokenRange at);
  UniformityNode Steps(ExprId place, UniformityNode control);
  UniformityNode Call(const Expr& expr, UniformityNode control);
  UniformityNode Operation(const Expr& expr, UniformityNode control);
  UniformityNode Different(UniformityNode control, TokenRange at);
  void WrittenBy(ExprId root, std::vector<uint32_t>& found) const;

  CheckContext& context_;
  const Unit& unit_;
  const DerivativeFilters& filters_;
  const std::vector<UniformitySummary>& known_;
  const FunctionRow& row_;
  UniformityGraph graph_;
  std::vector<UniformitySite> sites_;
  FlatMap<uint32_t, UniformityNode> contents_;  // by LocalId
  std::vector<std::pair<uint32_t, UniformityNode>> log_;
};

}  // namespace kiln::wgsl::front
