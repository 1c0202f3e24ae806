// SPDX-License-Identifier: MIT
#include "client/lsp/analysis/aliveness.h"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "client/lsp/analysis/option_space.h"
#include "server/project/counter.h"

namespace kiln::lsp {
namespace {

// Conditions of a module by the place of their expression: the tree knows places, the module
// values. A run of spans begins with the span of the whole expression.
using ConditionRows = std::map<std::pair<uint32_t, uint32_t>, ir::CexprId>;

ConditionRows RowsOf(const ir::ModuleView& view) {
  ConditionRows rows;
  const auto add = [&](ir::CexprId condition, ir::SpanId run) {
    if (condition != ir::kTrue && run.valid()) {
      const Span bytes = view.SpanOf(run);
      rows[{bytes.begin, bytes.end}] = condition;
    }
  };
  for (size_t i = 0; i < view.decls.size(); ++i) {
    add(view.decls[i].condition, view.decl_spans[i].condition);
  }
  for (size_t i = 0; i < view.members.size(); ++i) {
    add(view.members[i].condition, view.member_spans[i].condition);
  }
  for (size_t i = 0; i < view.locals.size(); ++i) {
    add(view.locals[i].condition, view.local_spans[i].condition);
  }
  for (size_t i = 0; i < view.regions.size(); ++i) {
    add(view.regions[i].condition, view.region_spans[i].condition);
  }
  for (size_t i = 0; i < view.insts.size(); ++i) {
    if (view.insts[i].kind == ir::InstKind::kWhen) {
      add(view.insts[i].As<ir::WhenInst>().condition, view.inst_spans[i].aux);
    }
  }
  return rows;
}

// A condition that the module has no row for (the mended text lost it) and one that fails in this
// variant are not dead: a part is shown as off only where the compiler says that it is.
bool IsDead(const ConditionalPart& part, const ConditionRows& rows, uint32_t module,
            Variant& variant) {
  const auto row = rows.find({part.condition.begin, part.condition.end});
  return row != rows.end() && variant.Holds(module, row->second) == false;
}

// Counts points with one more requirement. Exact counts only; a space that cannot be counted
// without walking is not walked for a hover.
void Count(const FileView& file, Aliveness& result) {
  project::SpaceRequest request =
      SpaceRequestOf(file.program->program(), file.program->spec.manifest);
  SystemClock clock;
  // A hover waits for this, so the limits are far below those of the daemon: beyond 5 ms or 8 MiB
  // the hover names the condition without counts.
  const project::Counter::Limits limits{
      .entries = 10'000, .time = std::chrono::milliseconds(5), .bytes = uint64_t{8} << 20};
  // A space is made anew for each count, because its conditions are compiled when it is made. The
  // second count differs from the first by the one requirement that is pushed between them.
  const auto count = [&]() -> std::optional<project::PointCount> {
    const Diagnosed<project::Space> space = project::Space::Make(*file.program->linked, request);
    std::optional<project::Counter> counter =
        space.ok() ? space.value->MakeCounter() : std::nullopt;
    if (!counter.has_value()) {
      return std::nullopt;
    }
    const project::Counter::Count points = counter->All(limits, clock);
    return points.exact ? std::optional(points.points) : std::nullopt;
  };
  const std::optional<project::PointCount> total = count();
  request.require.push_back(result.condition);
  const std::optional<project::PointCount> alive = count();
  if (total.has_value() && alive.has_value()) {
    result.total = project::TextOf(*total);
    result.alive = project::TextOf(*alive);
  }
}

}  // namespace

std::vector<Span> DeadParts(const FileView& file, Variant& variant) {
  const ConditionRows rows = RowsOf(file.program->program().module(file.module));
  std::vector<Span> dead;
  for (const ConditionalPart& part : ConditionalParts(file.source())) {
    // Parts come in order of their begin, the outer one first, so the last dead part is the only
    // one that can hold this one. A part inside of it is not reported again.
    const bool inside = !dead.empty() && part.whole.begin < dead.back().end;
    if (!inside && IsDead(part, rows, file.module, variant)) {
      dead.push_back(part.whole);
    }
  }
  return dead;
}

std::optional<Aliveness> AlivenessAt(const FileView& file, Variant& variant, uint32_t offset) {
  const ConditionRows rows = RowsOf(file.program->program().module(file.module));
  Aliveness result;
  std::vector<std::string> conditions;
  for (const ConditionalPart& part : ConditionalParts(file.source())) {
    if (part.whole.begin <= offset && offset < part.whole.end) {
      conditions.push_back(OneLine(file.source(), part.condition));
      result.in_interest = result.in_interest && !IsDead(part, rows, file.module, variant);
    }
  }
  if (conditions.empty()) {
    return std::nullopt;
  }
  // Nested conditions are joined as the text of an expression, which the space compiles as a
  // requirement. Each gets parentheses once there are two, because one of them may be an "||".
  for (const std::string& condition : conditions) {
    const bool alone = conditions.size() == 1;
    result.condition += result.condition.empty() ? "" : " && ";
    result.condition += alone ? condition : fmt::format("({})", condition);
  }
  Count(file, result);
  return result;
}

}  // namespace kiln::lsp
