// SPDX-License-Identifier: MIT
#include "compiler/resolve/reach.h"

#include <algorithm>
#include <string>
#include <utility>

#include "compiler/resolve/kind_text.h"

namespace kiln::resolve {

Reach::Reach(const Program& program, std::span<const ir::DeclId> entries, Answers& answers,
             Units& units, std::vector<Diagnostic>& diagnostics)
    : program_(program),
      entries_(entries),
      answers_(answers),
      units_(units),
      diagnostics_(diagnostics) {}

// Depth first without recursion, because calls nest as deep as the author likes.
void Reach::Walk(ir::EntryRef& entry) {
  ++walk_;
  stage_ = entry.stage;
  answers_.SetStage(stage_);
  Descend(Close(entry.function), entry);
  while (!path_.empty()) {
    Step& step = path_.back();
    if (step.next_call < step.function->calls.size()) {
      Follow(step.function->calls[step.next_call++], entry);
      continue;
    }
    Leave(*step.function, entry.stage);
    path_.pop_back();
  }
}

void Reach::Descend(Function& function, ir::EntryRef& entry) {
  function.walked_by = walk_;
  function.on_path = true;
  entry.functions.push_back(function.ref);
  entry.live_options |= function.reads;
  path_.push_back({.function = &function});
}

void Reach::Follow(const Call& call, ir::EntryRef& entry) {
  const ir::DeclId caller = path_.back().function->ref.function;
  if (std::ranges::find(entries_, call.callee) != entries_.end()) {
    diagnostics_.push_back(Make(Code::kRpl5008, call.where)
                               .With("name", program_.Text(program_.NameOf(call.callee)))
                               .With("caller", program_.Text(program_.NameOf(caller))));
    return;
  }
  if (IsBoundElsewhere(call.callee, entry.stage)) {
    ReportBound(call, entry.stage);
    return;
  }
  Function& callee = Close(call.callee);
  if (callee.on_path) {
    ReportRecursion(call.callee);
    return;
  }
  if (callee.walked_by != walk_) {
    Descend(callee, entry);
  }
}

void Reach::Leave(Function& function, ir::Stage stage) {
  function.on_path = false;
  const bool bound =
      function.touches_stage || std::ranges::any_of(function.calls, [&](const Call& call) {
        return bound_.Contains(call.callee.value);
      });
  if (bound) {
    bound_.Insert(function.ref.function.value, stage);
  }
}

bool Reach::IsBoundElsewhere(ir::DeclId id, ir::Stage stage) const {
  const ir::Stage* bound = bound_.Find(id.value);
  return bound != nullptr && *bound != stage;
}

// --- closing -------------------------------------------------------------------------------------

Reach::Function& Reach::Close(ir::DeclId id) {
  const bool sensitive = program_.StageSensitive(id);
  const uint64_t key =
      uint64_t{id.value} << 8 | (sensitive ? static_cast<uint64_t>(stage_) : 0xffu);
  Function** known = known_.Find(key);
  if (known != nullptr) {
    return **known;
  }
  Function& function = functions_.emplace_back();
  known_.Insert(key, &function);
  function.ref = {.function = id, .stage = stage_, .stage_sensitive = sensitive};
  answers_.BeginReads();
  function.ref.signature = answers_.Decl(id);
  if (function.ref.signature == nullptr) {
    incomplete_ = true;
  } else {
    CloseSegments(function);
  }
  function.reads = answers_.EndReads();
  CollectMentions(function);
  return function;
}

// Live segments in the order of holes, depth first.
void Reach::CloseSegments(Function& function) {
  const uint32_t m = program_.ModuleOf(function.ref.function);
  const ir::ModuleView& view = program_.module(m);
  struct Pending {
    ir::SegmentId segment;
    uint32_t parent;
  };
  std::vector<Pending> pending = {
      {program_.Wide(m, ir::SegmentId{program_.Get(function.ref.function).body}), 0}};
  while (!pending.empty()) {
    const auto [id, parent] = pending.back();
    pending.pop_back();
    const uint32_t row = id.value - program_.bases(m).segment;
    const ir::CexprId condition = view.segments[row].condition;
    if (condition != ir::kTrue) {
      const ir::SpanId run =
          view.segment_spans.empty() ? ir::SpanId{} : view.segment_spans[row].condition;
      if (!answers_
               .CheckCondition(program_.Wide(m, condition), program_.At(m, run), {}, diagnostics_)
               .value_or(false)) {
        continue;
      }
    }
    const Diagnosed<ir::ClosedSegment>& unit = units_.Segment(id, answers_);
    diagnostics_.insert(diagnostics_.end(), unit.diagnostics.begin(), unit.diagnostics.end());
    if (!unit.value) {
      incomplete_ = true;
      continue;
    }
    const auto number = static_cast<uint32_t>(function.ref.segments.size());
    function.ref.segments.push_back({.segment = id, .closed = &*unit.value, .parent = parent});
    const std::vector<ir::SegmentId>& holes = unit.value->holes;
    for (size_t i = holes.size(); i > 0; --i) {
      pending.push_back({holes[i - 1], number});
    }
  }
}

void Reach::CollectMentions(Function& function) {
  for (const ir::SegmentRef& segment : function.ref.segments) {
    function.touches_stage = function.touches_stage || segment.closed->bound;
    for (const ir::Mention& mention : segment.closed->mentions) {
      const bool is_call = program_.Get(mention.decl).kind == ir::DeclKind::kFunction;
      const bool is_new = std::ranges::none_of(
          function.calls, [&](const Call& call) { return call.callee == mention.decl; });
      if (is_call && is_new) {
        function.calls.push_back(
            {.callee = mention.decl, .where = program_.At(segment.closed->module, mention.span)});
      }
    }
  }
}

// --- reports -------------------------------------------------------------------------------------

// Said once, at the first function of the cycle in program order, wherever it was entered.
void Reach::ReportRecursion(ir::DeclId callee) {
  const auto start = std::ranges::find_if(
      path_, [&](const Step& step) { return step.function->ref.function == callee; });
  std::vector<ir::DeclId> cycle;
  for (auto step = start; step != path_.end(); ++step) {
    cycle.push_back(step->function->ref.function);
  }
  std::ranges::rotate(cycle, std::ranges::min_element(cycle, {}, &ir::DeclId::value));
  const auto text = [&](ir::DeclId id) {
    return "'" + std::string(program_.Text(program_.NameOf(id))) + "'";
  };
  std::string chain;
  for (const ir::DeclId id : cycle) {
    chain += text(id) + " -> ";
  }
  diagnostics_.push_back(Make(Code::kRpl5020, program_.NameLocation(cycle.front()))
                             .With("name", program_.Text(program_.NameOf(cycle.front())))
                             .With("chain", chain + text(cycle.front())));
}

// One label per step from the function to what binds it.
void Reach::ReportBound(const Call& call, ir::Stage stage) {
  const ir::Stage bound = *bound_.Find(call.callee.value);
  const auto name = [&](ir::DeclId id) { return program_.Text(program_.NameOf(id)); };
  Diagnostic found = Make(Code::kRpl5012, call.where)
                         .With("name", name(call.callee))
                         .With("stage", StageText(bound))
                         .With("other", StageText(stage));
  const auto of_bound_stage = [&](ir::DeclId id) -> const Function& {
    const uint64_t sensitive =
        program_.StageSensitive(id) ? static_cast<uint64_t>(bound) : uint64_t{0xff};
    return **known_.Find(uint64_t{id.value} << 8 | sensitive);
  };
  const Function* function = &of_bound_stage(call.callee);
  // A cycle of calls, which is an error of its own, must not hold the report up.
  for (size_t steps = 0; !function->touches_stage && steps < functions_.size(); ++steps) {
    const auto next = std::ranges::find_if(
        function->calls, [&](const Call& inner) { return bound_.Contains(inner.callee.value); });
    found.labels.push_back(
        {.kind = LabelKind::kCalledHere,
         .where = next->where,
         .arguments = {{"caller", name(function->ref.function)}, {"callee", name(next->callee)}}});
    function = &of_bound_stage(next->callee);
  }
  for (const ir::SegmentRef& segment : function->ref.segments) {
    for (const ir::Mention& mention : segment.closed->mentions) {
      if (program_.Get(mention.decl).kind == ir::DeclKind::kContainer) {
        diagnostics_.push_back(std::move(found).Label(
            LabelKind::kAccessedHere, program_.At(segment.closed->module, mention.span),
            {{"name", name(mention.decl)}}));
        return;
      }
    }
  }
  diagnostics_.push_back(std::move(found));
}

}  // namespace kiln::resolve
