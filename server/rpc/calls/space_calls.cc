// SPDX-License-Identifier: MIT
#include "server/rpc/calls/space_calls.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cache/call_bounds.h"
#include "compiler/base/threads/stop.h"
#include "server/compile/batch/batch_points.h"
#include "server/project/space.h"
#include "server/rpc/calls/option_list.h"
#include "server/rpc/messages/convert_batch.h"
#include "server/rpc/messages/convert_reply.h"
#include "server/rpc/messages/convert_request.h"
#include "server/rpc/messages/message_limits.h"
#include "server/rpc/messages/paging.h"
#include "server/rpc/messages/request_error.h"

namespace kiln::rpc {
namespace {

constexpr size_t kMaxLookedUp = 4096;  // results that are looked up to say how many are cached
constexpr size_t kWalkedAtOnce = 16;
constexpr uint64_t kPageBytes = uint64_t{1} << 20;  // beyond it a page of rows is full

// The rest of the time that one request may spend on counting; nothing after it.
class CountingTime {
 public:
  explicit CountingTime(Clock& clock)
      : clock_(clock), end_(clock.Monotonic() + kRequestCountingTime) {}

  // For one of `parts` that are left of a space.
  project::Counter::Limits LimitsFor(size_t parts) const {
    project::Counter::Limits limits;
    // What is left of the time of the request, at most that of one space, in equal shares.
    const Duration left = std::max(end_ - clock_.Monotonic(), Duration::zero());
    limits.time = std::min(limits.time, left) / static_cast<int64_t>(std::max<size_t>(parts, 1));
    return limits;
  }
  bool IsOver() const { return clock_.Monotonic() >= end_; }
  Duration end() const { return end_; }
  Clock& clock() const { return clock_; }

 private:
  Clock& clock_;
  const Duration end_;
};

// A space with its program parsed and linked, or what is wrong with it.
struct OpenedSpace {
  std::shared_ptr<const compile::PreparedProgram> prepared;
  project::SpaceRequest request;
  std::optional<project::Space> space;
  std::vector<PlacedDiagnostic> diagnostics;
};

void MakeSpace(OpenedSpace& opened) {
  Diagnosed<project::Space> space =
      project::Space::Make(*opened.prepared->linked->value, opened.request);
  for (const Diagnostic& diagnostic : space.diagnostics) {
    opened.diagnostics.push_back(project::PlaceIn(opened.request, diagnostic));
  }
  opened.space = std::move(space.value);
}

// Parses and links as a compile does, so counting has the same diagnostics. The first target
// serves, since a space does not depend on any.
Result<OpenedSpace> OpenSpace(Engine& engine, const v1::ProgramSpace& message,
                              const v1::Expression* filter, const cache::Call& call,
                              v1::ErrorDetail& detail) {
  OpenedSpace opened;
  KILN_TRY(opened.request, FromProto(message, filter));
  KILN_TRY(ProgramAndTargets program, FromProto(message.program()));
  // Counting needs a linked program and no target in particular.
  const compile::NamedTarget any{.name = "spirv", .target = {}};
  KILN_TRY(opened.prepared,
           PrepareOrListMissing(engine, program.program,
                                program.targets.empty() ? any : program.targets[0], call, detail));
  opened.diagnostics = opened.prepared->diagnostics;
  if (opened.prepared->ok()) {
    MakeSpace(opened);
  }
  return opened;
}

void DiagnosticsTo(const std::vector<PlacedDiagnostic>& diagnostics,
                   google::protobuf::RepeatedPtrField<v1::Diagnostic>& out) {
  v1::Outcome outcome;
  ToProto(diagnostics, outcome);
  out = std::move(*outcome.mutable_diagnostics());
}

// What the cache knows of one variant.
struct VariantStanding {
  v1::VariantRow::State state = v1::VariantRow::UNKNOWN;
  Hash128 signature;
};
Result<VariantStanding> LookUp(Engine& engine, const compile::PreparedProgram& program,
                               std::span<const resolve::OptionSetting> options,
                               const cache::Call& call) {
  const Result<compile::Outcome> found =
      engine.builder.Build(program, options, {.unknown = compile::UnknownVariant::kRefused}, call);
  if (!found.ok()) {
    if (found.error().reason == "NOT_CACHED") {
      return VariantStanding{};
    }
    return found.error();
  }
  if (found->kind != compile::OutcomeKind::kOk) {
    return VariantStanding{.state = v1::VariantRow::FAILED, .signature = {}};
  }
  return VariantStanding{.state = v1::VariantRow::CACHED, .signature = found->artifact->signature};
}

// Distinct results of the space that are in the cache; nothing if there may be too many to look.
// Points that differ only in options which nothing reads have the same result, so one point per
// combination of the others is looked up.
Result<std::optional<uint64_t>> CachedResults(Engine& engine, const OpenedSpace& opened,
                                              project::Counter& counter, const cache::Call& call) {
  const auto points = counter.LivePoints(opened.space->LiveAxes(), kMaxLookedUp);
  if (!points.has_value()) {
    return std::optional<uint64_t>();
  }
  std::set<Hash128> signatures;
  for (const project::Counter::LivePoint& point : *points) {
    CheckStop();
    KILN_TRY(const VariantStanding known,
             LookUp(engine, *opened.prepared, opened.space->SettingsOf(point.values), call));
    if (known.state == v1::VariantRow::CACHED) {
      signatures.insert(known.signature);
    }
  }
  return std::optional<uint64_t>(signatures.size());
}

// The same space with one axis at the default of its option, or at its first value if the axis
// does not have the default.
std::optional<project::Space> WithDefault(const OpenedSpace& opened, const std::string& axis) {
  project::SpaceRequest request = opened.request;
  const auto found = std::ranges::find(request.axes, axis, &project::Axis::name);
  const std::optional<resolve::OptionSetting> usual = DefaultOf(opened.prepared->program(), axis);
  if (found == request.axes.end() || !usual.has_value()) {
    return std::nullopt;
  }
  const bool offered =
      found->all || std::ranges::any_of(found->values, [&](const resolve::OptionSetting& value) {
        return usual->kind == ir::OptionKind::kEnum ? value.text == usual->text
                                                    : value.bits == usual->bits;
      });
  found->values = {offered ? *usual : found->values.front()};
  found->all = false;
  return std::move(project::Space::Make(*opened.prepared->linked->value, request).value);
}

// By how much each axis multiplies the space: the count divided by that of the same space with the
// axis at its default. The time that is left is divided among the axes, so that the first hard one
// does not starve those behind it; an axis whose turn never comes is reported with its number of
// values.
void CountAxes(const OpenedSpace& opened, project::PointCount all, const CountingTime& time,
               v1::VariantCount& out) {
  const std::vector<std::string> names = opened.space->AxisNames();
  const std::vector<size_t> sizes = opened.space->AxisSizes();
  const project::Counter::Limits limits = time.LimitsFor(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    CheckStop();
    v1::VariantCount::AxisCount& axis = *out.add_per_axis();
    axis.set_name(names[i]);
    axis.set_values(sizes[i]);
    // What the counter of one axis took is free again before the next.
    const ChargedMemory of_axis;
    const std::optional<project::Space> fixed =
        time.IsOver() ? std::nullopt : WithDefault(opened, names[i]);
    std::optional<project::Counter> counter = fixed ? fixed->MakeCounter() : std::nullopt;
    if (!counter.has_value()) {
      axis.set_factor(static_cast<double>(sizes[i]));
      continue;
    }
    const project::PointCount rest = counter->All(limits, time.clock()).points;
    // Zero if nothing is left at the default: then the axis alone makes the space what it is, and
    // no factor would be true.
    axis.set_factor(rest == 0 ? 0 : static_cast<double>(all) / static_cast<double>(rest));
  }
}

// How many results there may be, and how many of them are cached.
Result<void> CountResults(Engine& engine, const OpenedSpace& opened, project::Counter& counter,
                          project::PointCount all, const cache::Call& call, v1::VariantCount& out) {
  const project::PointCount live = counter.LiveBound(opened.space->LiveAxes());
  out.set_results_upper(project::TextOf(opened.request.variants.size() + std::min(live, all)));
  KILN_TRY(const std::optional<uint64_t> cached, CachedResults(engine, opened, counter, call));
  if (cached.has_value()) {
    out.set_cached(std::to_string(*cached));
  }
  return {};
}

Result<void> CountOne(Engine& engine, const OpenedSpace& opened, const CountingTime& time,
                      const cache::Call& call, v1::VariantCount& out) {
  const project::PointCount listed = opened.request.variants.size();
  if (opened.request.only_explicit) {
    out.set_variants(project::TextOf(listed));
    out.set_results_upper(project::TextOf(listed));
    out.set_exact(true);
    return {};
  }
  std::optional<project::Counter> counter = opened.space->MakeCounter();
  if (!counter.has_value()) {  // only walking would tell
    out.set_variants(project::TextOf(listed + opened.space->combinations()));
    out.set_results_upper(out.variants());
    return {};
  }
  const project::Counter::Count all = counter->All(time.LimitsFor(1), engine.clock);
  // Counts beyond the greatest number stay there and must not wrap to a small one.
  const bool saturates = all.points > project::kManyPoints - listed;
  out.set_variants(project::TextOf(saturates ? project::kManyPoints : listed + all.points));
  out.set_exact(all.exact);
  CountAxes(opened, all.points, time, out);
  out.set_results_upper(out.variants());
  if (!all.exact || time.IsOver()) {
    return {};
  }
  // The time for counting is part of the call's own. Running out of it costs a detail of the
  // answer; the call's own end is an error as always.
  const cache::Call counting = call.Until(std::min(call.deadline, time.end()));
  const Result<void> counted = cache::WhileWanted(counting, cache::kAnyBytes, engine.clock, [&] {
    return CountResults(engine, opened, *counter, all.points, counting, out);
  });
  const bool is_late = !counted.ok() && counted.error().code == ErrorCode::kDeadlineExceeded;
  return is_late ? cache::StillWanted(call, engine.clock) : counted;
}

// Where a page begins: the rank of its first row and, in a space that is walked, the point.
struct PageStart {
  uint64_t point = 0;
  uint64_t rank = 0;
};

// A token is good for the request that it came from, whatever the size of its pages. It holds no
// state of the daemon, so it survives a restart.
std::string RequestHash(const v1::ListVariantsRequest& request) {
  v1::ListVariantsRequest same = request;
  same.clear_page_size();
  same.clear_page_token();
  return HashBytes(AsBytes(CanonicalBytes(same))).hex();
}

std::string TokenOf(const std::string& hash, const PageStart& start) {
  return fmt::format("{}-{}-{}", hash, start.point, start.rank);
}

Result<PageStart> StartOf(const std::string& token, const std::string& hash) {
  PageStart start;
  if (token.empty()) {
    return start;
  }
  const size_t first = token.find('-');
  const size_t second = token.find('-', first + 1);
  const auto number = [&](size_t begin, size_t end, uint64_t& value) {
    const auto [read, error] = std::from_chars(token.data() + begin, token.data() + end, value);
    return error == std::errc() && read == token.data() + end;
  };
  // A token of another request would show rows of another space under these names.
  if (token.substr(0, first) != hash || second == std::string::npos ||
      !number(first + 1, second, start.point) || !number(second + 1, token.size(), start.rank)) {
    return BadPageToken();
  }
  return start;
}

// Adds rows until the page is full or the space ends. One page, one thread. Rows are those that
// were listed by hand, then points in order. Where points can be counted a page begins at any rank
// at once; else the space is walked from the point that the token names, and spaces too large for
// that are refused.
class RowsOf {
 public:
  RowsOf(Engine& engine, OpenedSpace& opened, PageStart start, uint64_t limit,
         const cache::Call& call, v1::ListVariantsReply& reply)
      : engine_(engine), opened_(opened), at_(start), limit_(limit), call_(call), reply_(reply) {}

  // True if there are more rows behind the page. Explicit variants come first, then the points of
  // the axes: by rank where the space can be counted, by walking where it cannot.
  Result<bool> Add() {
    const std::vector<std::vector<resolve::OptionSetting>>& listed =
        opened_.space->explicit_variants();
    while (at_.rank < listed.size() && !Full()) {
      KILN_TRY_VOID(AddRow(listed[at_.rank]));
    }
    if (opened_.request.only_explicit || at_.rank < listed.size()) {
      return at_.rank < listed.size();
    }
    std::optional<project::Counter> counter = opened_.space->MakeCounter();
    if (counter.has_value()) {
      const project::Counter::Count all = counter->All({}, engine_.clock);
      if (all.exact) {
        return AddCounted(*counter, all.points, listed.size());
      }
    }
    return AddWalked();
  }

  const PageStart& next() const { return at_; }

 private:
  // In rows and in bytes, since one row may name thousands of options.
  bool Full() const {
    return static_cast<uint64_t>(reply_.rows_size()) >= limit_ || bytes_ >= kPageBytes;
  }

  // Ranks are counted over both lists, so the points begin behind the explicit variants.
  Result<bool> AddCounted(project::Counter& counter, project::PointCount all, uint64_t listed) {
    while (!Full() && at_.rank - listed < all) {
      KILN_TRY_VOID(AddRow(opened_.space->SettingsOf(counter.Unrank(at_.rank - listed))));
    }
    return at_.rank - listed < all;
  }

  Result<bool> AddWalked() {
    if (opened_.space->combinations() > compile::kMaxWalked) {
      return compile::TooManyToWalk(opened_.space->combinations());
    }
    while (!Full() && at_.point < opened_.space->combinations()) {
      // A few points at a time, because each step returns where the next one begins, and a page may
      // end in between.
      const uint64_t left = limit_ - static_cast<uint64_t>(reply_.rows_size());
      const ChargedMemory of_some;
      Diagnosed<project::Space::Page> page =
          opened_.space->List(at_.point, std::min<uint64_t>(left, kWalkedAtOnce));
      if (!page.ok()) {
        return compile::WrongSpace(opened_.request, page.diagnostics);
      }
      for (const std::vector<resolve::OptionSetting>& options : page.value->points) {
        KILN_TRY_VOID(AddRow(options));
      }
      at_.point = page.value->next;
    }
    return at_.point < opened_.space->combinations();
  }

  Result<void> AddRow(const std::vector<resolve::OptionSetting>& options) {
    CheckStop();
    KILN_TRY(const VariantStanding known, LookUp(engine_, *opened_.prepared, options, call_));
    v1::VariantRow& row = *reply_.add_rows();
    row.set_rank(std::to_string(at_.rank++));
    row.set_state(known.state);
    if (known.state == v1::VariantRow::CACHED) {
      row.set_signature(IdBytes(known.signature));
    }
    for (const resolve::OptionSetting& setting : options) {
      ToProto(setting, *row.add_options());
    }
    bytes_ += row.ByteSizeLong();
    return {};
  }

  Engine& engine_;
  OpenedSpace& opened_;
  PageStart at_;
  const uint64_t limit_;
  const cache::Call& call_;
  v1::ListVariantsReply& reply_;
  uint64_t bytes_ = 0;  // of the rows
};

}  // namespace

Result<void> CountVariants(Engine& engine, const v1::CountVariantsRequest& request,
                           const cache::Call& call, v1::CountVariantsReply& reply,
                           v1::ErrorDetail& detail) {
  if (static_cast<uint64_t>(request.spaces_size()) > kMaxPrograms) {
    return AboveLimit("programs per manifest", kMaxPrograms,
                      static_cast<uint64_t>(request.spaces_size()));
  }
  // One bound for all programs of the request: a manifest of a hundred spaces that cannot be
  // counted takes no longer than one.
  const CountingTime time(engine.clock);
  for (const v1::ProgramSpace& space : request.spaces()) {
    CheckStop();
    const ChargedMemory of_space;
    KILN_TRY(
        const OpenedSpace opened,
        OpenSpace(engine, space, request.has_filter() ? &request.filter() : nullptr, call, detail));
    v1::VariantCount& count = *reply.add_programs();
    count.set_program(space.program().name());
    if (opened.space.has_value()) {
      KILN_TRY_VOID(CountOne(engine, opened, time, call, count));
    }
    DiagnosticsTo(opened.diagnostics, *count.mutable_diagnostics());
  }
  return {};
}

Result<void> ListVariants(Engine& engine, const v1::ListVariantsRequest& request,
                          const cache::Call& call, v1::ListVariantsReply& reply,
                          v1::ErrorDetail& detail) {
  const std::string hash = RequestHash(request);
  KILN_TRY(const PageStart start, StartOf(request.page_token(), hash));
  KILN_TRY(OpenedSpace opened,
           OpenSpace(engine, request.space(), request.has_filter() ? &request.filter() : nullptr,
                     call, detail));
  // Counting shows diagnostics with their places; a list has no room for them, so the first one is
  // the error.
  if (!opened.space.has_value()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = "the space or its sources are wrong: " +
                            (opened.diagnostics.empty() ? std::string("no diagnostics")
                                                        : opened.diagnostics[0].message),
                 .reason = "SPACE_WRONG"};
  }
  RowsOf rows(engine, opened, start, PageSize(request.page_size()), call, reply);
  KILN_TRY(const bool more, rows.Add());
  if (more) {
    reply.set_next_page_token(TokenOf(hash, rows.next()));
  }
  return {};
}

}  // namespace kiln::rpc
