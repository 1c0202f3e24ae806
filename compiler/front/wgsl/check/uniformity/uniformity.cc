// SPDX-License-Identifier: MIT
// A function is walked once, statement by statement, with the node of the control that comes there
// and which ways control may leave. Where ways meet, variables that were written on one of them get
// a node that depends on what each way leaves. Loops meet themselves: nodes for what a loop writes
// are made before its body, and get their edges behind it. So the graph is made in one pass, and
// what is reached from where is found by walks over it; nothing is repeated until it settles. Cost:
// linear in the function, but for the variables that are written around each jump.
#include "compiler/front/wgsl/check/uniformity/uniformity.h"

#include <string>
#include <utility>

#include "compiler/base/threads/stop.h"
#include "compiler/front/wgsl/check/uniformity/values.h"

namespace kiln::wgsl::front {
namespace {

// Ways out of a statement, as bits (WGSL, "Behavior Analysis").
constexpr uint8_t kNext = 1;
constexpr uint8_t kBreak = 2;
constexpr uint8_t kContinue = 4;
constexpr uint8_t kReturn = 8;

struct Flow {
  UniformityNode control = 0;  // behind it
  uint8_t ways = kNext;
};

// A loop or switch around: what its jumps leave in the variables that it writes.
struct Jumps {
  const std::vector<uint32_t>* written = nullptr;
  std::vector<UniformityNode> left;       // behind it, parallel
  std::vector<UniformityNode> continued;  // of a loop: in its continuing block
  UniformityNode continuing = 0;          // control there
};

class FunctionUniformity {
 public:
  FunctionUniformity(CheckContext& context, const DerivativeFilters& filters,
                     const std::vector<UniformitySummary>& known, FunctionId id)
      : context_(context),
        unit_(context.unit),
        row_(unit_[id]),
        values_(context, filters, known, id),
        result_(values_.graph().Add()) {}

  UniformitySummary Run() {
    Statement(row_.body, UniformityGraph::kStart);
    values_.graph().Finish();
    Report();
    return Summary();
  }

 private:
  UniformityNode Node(UniformityNode a, UniformityNode b) {
    const UniformityNode node = values_.graph().Add();
    values_.graph().Edge(node, a);
    values_.graph().Edge(node, b);
    return node;
  }

  Flow All(ListId list, UniformityNode control) {
    Flow flow{.control = control};
    for (const uint32_t child : unit_.List(list)) {
      CheckStop();
      if ((flow.ways & kNext) == 0) {
        break;  // never reached
      }
      const Flow next = Statement(StmtId{child}, flow.control);
      flow = {.control = next.control,
              .ways = static_cast<uint8_t>((flow.ways & ~kNext) | next.ways)};
    }
    return flow;
  }

  Flow Statement(StmtId id, UniformityNode control) {
    const Stmt& stmt = unit_[id];
    switch (stmt.kind) {
      case StmtKind::kExpression:
        values_.Value(stmt.a, control);
        return {control};
      case StmtKind::kDeclare:
        values_.Declare(stmt, control);
        return {control};
      case StmtKind::kAssign: {
        const UniformityNode value = values_.Value(stmt.b, control);
        if (stmt.a.valid()) {
          values_.Store(stmt.a, value, control);
        }
        return {control};
      }
      case StmtKind::kUpdate: {
        // The place is one of the operands.
        const UniformityNode value = values_.Value(stmt.b, control);
        const UniformityNode old = values_.LoadOf(stmt.a, control);
        values_.Store(stmt.a, Node(value, old), control);
        return {control};
      }
      case StmtKind::kBlock:
      case StmtKind::kCase:
        return All(stmt.children, control);
      case StmtKind::kIf:
        return If(stmt, control);
      case StmtKind::kSwitch:
        return Switch(id, control);
      case StmtKind::kLoop:
        return Loop(id, control);
      case StmtKind::kBreak:
        Leave(jumps_.back().left, *jumps_.back().written);
        return {control, kBreak};
      case StmtKind::kContinue: {
        Jumps& loop = jumps_[loops_.back()];
        values_.graph().Edge(loop.continuing, control);
        Leave(loop.continued, *loop.written);
        return {control, kContinue};
      }
      case StmtKind::kReturn:
        if (stmt.a.valid()) {
          values_.graph().Edge(result_, values_.Value(stmt.a, control));
        }
        return {control, kReturn};
      case StmtKind::kDiscard:
        break;  // helpers go on
    }
    return {control};
  }

  // What is in the variables now flows to these nodes.
  void Leave(const std::vector<UniformityNode>& nodes, const std::vector<uint32_t>& written) {
    for (size_t i = 0; i < written.size(); ++i) {
      if (values_.IsKnown(written[i])) {
        values_.graph().Edge(nodes[i], values_.Of(written[i]));
      }
    }
  }
  std::vector<UniformityNode> NodesFor(const std::vector<uint32_t>& written) {
    std::vector<UniformityNode> nodes;
    for (size_t i = 0; i < written.size(); ++i) {
      nodes.push_back(values_.graph().Add());
    }
    return nodes;
  }

  // Where both ways go on control is as before; otherwise some may have left.
  Flow If(const Stmt& stmt, UniformityNode control) {
    const UniformityNode condition = values_.Value(stmt.a, control);
    const std::span<const uint32_t> blocks = unit_.List(stmt.children);
    const size_t mark = values_.Mark();
    const Flow yes = Statement(StmtId{blocks[0]}, condition);
    const auto first = values_.TakeBack(mark);
    Flow no{.control = condition};
    if (blocks.size() > 1) {
      no = Statement(StmtId{blocks[1]}, condition);
    }
    const auto second = values_.TakeBack(mark);
    Merge(first, yes, second, no);
    const auto ways = static_cast<uint8_t>(yes.ways | no.ways);
    return {ways == kNext ? control : Node(yes.control, no.control), ways};
  }

  using Changes = std::vector<std::pair<uint32_t, UniformityNode>>;
  // A variable that one way has written is what either way leaves; a way that does not come here
  // leaves nothing.
  void Merge(const Changes& first, const Flow& yes, const Changes& second, const Flow& no) {
    struct Both {
      UniformityNode yes = kNoRow, no = kNoRow;
    };
    FlatMap<uint32_t, Both> written;
    std::vector<uint32_t> order;
    for (const auto& [local, node] : first) {
      written.Insert(local, {}).first->yes = node;
      order.push_back(local);
    }
    for (const auto& [local, node] : second) {
      const auto [both, is_new] = written.Insert(local, {});
      both->no = node;
      if (is_new) {
        order.push_back(local);
      }
    }
    // What one way has not written is what was there before.
    for (const uint32_t local : order) {
      const Both both = *written.Find(local);
      const UniformityNode merged = values_.graph().Add();
      const auto come = [&](const Flow& flow, UniformityNode node) {
        const UniformityNode left = node == kNoRow ? values_.Of(local) : node;
        if ((flow.ways & kNext) != 0 && left != kNoRow) {
          values_.graph().Edge(merged, left);
        }
      };
      come(yes, both.yes);
      come(no, both.no);
      values_.Set(local, merged);
    }
  }

  Flow Switch(StmtId id, UniformityNode control) {
    const Stmt& stmt = unit_[id];
    const UniformityNode selector = values_.Value(stmt.a, control);
    const std::vector<uint32_t> written = values_.WrittenIn(id);
    jumps_.push_back({.written = &written, .left = NodesFor(written), .continued = {}});
    uint8_t ways = 0;
    const UniformityNode end = values_.graph().Add();
    for (const uint32_t child : unit_.List(stmt.children)) {
      const size_t mark = values_.Mark();
      const Flow one = Statement(StmtId{child}, selector);
      if ((one.ways & kNext) != 0) {
        Leave(jumps_.back().left, written);
      }
      values_.TakeBack(mark);
      values_.graph().Edge(end, one.control);
      ways |= one.ways;
    }
    Jumps jumps = std::move(jumps_.back());
    jumps_.pop_back();
    SetLeft(written, jumps.left);
    if ((ways & kBreak) != 0) {
      ways = static_cast<uint8_t>((ways & ~kBreak) | kNext);
    }
    return {ways == kNext ? control : end, ways};
  }

  void SetLeft(const std::vector<uint32_t>& written, const std::vector<UniformityNode>& nodes) {
    for (size_t i = 0; i < written.size(); ++i) {
      if (values_.IsKnown(written[i])) {
        values_.Set(written[i], nodes[i]);
      }
    }
  }

  // The head depends on the end of the body: whoever has left a round early is not in the next one.
  Flow Loop(StmtId id, UniformityNode control) {
    const Stmt& stmt = unit_[id];
    UniformityGraph& graph = values_.graph();
    const std::vector<uint32_t> written = values_.WrittenIn(id);
    const size_t mark = values_.Mark();
    const UniformityNode head = graph.Add();
    graph.Edge(head, control);
    const std::vector<UniformityNode> heads = NodesFor(written);
    Leave(heads, written);
    SetLeft(written, heads);
    jumps_.push_back({.written = &written,
                      .left = NodesFor(written),
                      .continued = NodesFor(written),
                      .continuing = graph.Add()});
    loops_.push_back(jumps_.size() - 1);
    bool leaves = false;
    UniformityNode inside = head;
    if (stmt.a.valid()) {
      inside = Exit(stmt.a, head, written);
      leaves = true;
    }
    const Flow body = Statement(StmtId{unit_.List(stmt.children)[0]}, inside);
    uint8_t ways = body.ways;
    const bool continues = (body.ways & (kNext | kContinue)) != 0;
    if ((body.ways & kNext) != 0) {
      graph.Edge(jumps_.back().continuing, body.control);
      Leave(jumps_.back().continued, written);
    }
    if (continues) {
      SetLeft(written, jumps_.back().continued);
      UniformityNode end = jumps_.back().continuing;
      if (stmt.first.valid()) {
        end = Statement(stmt.first, end).control;
      }
      if (stmt.b.valid()) {
        end = Exit(stmt.b, end, written);
        leaves = true;
      }
      graph.Edge(head, end);
      Leave(heads, written);
    }
    leaves = leaves || (ways & kBreak) != 0;
    Jumps jumps = std::move(jumps_.back());
    jumps_.pop_back();
    loops_.pop_back();
    values_.TakeBack(mark);
    SetLeft(written, jumps.left);
    ways = static_cast<uint8_t>((ways & kReturn) | (leaves ? kNext : 0));
    return {ways == kNext ? control : head, ways};
  }

  // A condition that leaves the loop for some. Control behind it.
  UniformityNode Exit(ExprId condition, UniformityNode control,
                      const std::vector<uint32_t>& written) {
    const UniformityNode value = values_.Value(condition, control);
    Leave(jumps_.back().left, written);
    return Node(value, control);
  }

  // --- what was found
  void Report() {
    std::vector<uint32_t> said;
    for (const UniformitySite& site : values_.sites()) {
      if (!values_.graph().IsNotUniform(site.node) ||
          (!said.empty() && said.back() == site.at.begin)) {
        continue;
      }
      said.push_back(site.at.begin);
      // A code has one severity, so a derivative that is only warned of has another one.
      const bool warns = site.need == Need::kWarning;
      const Code code = warns                         ? Code::kWgsl8401
                        : site.need == Need::kBarrier ? Code::kWgsl4001
                                                      : Code::kWgsl4002;
      context_.Say(context_.At(code, site.at)
                       .With(warns ? "op" : "name", site.name)
                       .With("text", OriginText(values_.graph().OriginOf(site.node))));
    }
  }
  // What is written there, if it is short.
  std::string OriginText(TokenRange at) const {
    constexpr size_t kMost = 60;
    std::string text = context_.Text(at);
    while (text.size() > 2 && text.starts_with('(') && text.find(')') == text.size() - 1) {
      text = text.substr(1, text.size() - 2);
    }
    size_t end = kMost;
    while (end > 0 && end < text.size() && (static_cast<uint8_t>(text[end]) & 0xc0u) == 0x80u) {
      --end;  // not inside of a character
    }
    return text.size() <= kMost ? text : text.substr(0, end) + "...";
  }

  UniformitySummary Summary() {
    UniformitySummary summary;
    const size_t count = row_.parameters.size();
    for (size_t i = 0; i < kNeeds; ++i) {
      std::vector<UniformityNode> nodes;
      for (const UniformitySite& site : values_.sites()) {
        // What was said is not said again of callers.
        if (site.need == static_cast<Need>(i) && !values_.graph().IsNotUniform(site.node)) {
          nodes.push_back(site.node);
        }
      }
      UniformitySummary::OfNeed& need = summary.needs[i];
      need.parameters.resize(count);
      if (nodes.empty()) {
        continue;
      }
      const std::vector<bool> reached = values_.graph().ReachedFrom(nodes);
      need.control = reached[UniformityGraph::kStart];
      for (size_t p = 0; p < count; ++p) {
        need.parameters[p] = reached[UniformityGraph::ParameterNode(p)];
      }
    }
    const std::vector<bool> reached = values_.graph().ReachedFrom({result_});
    summary.gives_different = values_.graph().IsNotUniform(result_);
    summary.gives_unknown = reached[UniformityGraph::kUnknown];
    for (size_t p = 0; p < count; ++p) {
      summary.gives.push_back(reached[UniformityGraph::ParameterNode(p)]);
    }
    return summary;
  }

  CheckContext& context_;
  const Unit& unit_;
  const FunctionRow& row_;
  UniformityValues values_;
  const UniformityNode result_;
  std::vector<Jumps> jumps_;
  std::vector<size_t> loops_;  // rows of jumps_
};

}  // namespace

// Callees stand before their callers.
void CheckUniformity(CheckContext& context) {
  const DerivativeFilters filters(context);
  std::vector<UniformitySummary> known;
  for (uint32_t i = 0; i < context.unit.functions.size(); ++i) {
    CheckStop();
    known.push_back(FunctionUniformity(context, filters, known, FunctionId{i}).Run());
  }
}

}  // namespace kiln::wgsl::front
