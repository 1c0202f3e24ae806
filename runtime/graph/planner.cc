// SPDX-License-Identifier: MIT
#include "runtime/graph/planner.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "runtime/graph/planning.h"
#include "runtime/graph/print_plan.h"

namespace kiln::graph {
namespace {

// The encoding of cache §2.2 into memory that is kept.
class Encoding {
 public:
  Encoding(Bytes& out, std::vector<uint32_t>& ends, std::string_view domain)
      : out_(out), ends_(ends) {
    out_.clear();
    ends_.clear();
    out_.push_back(static_cast<std::byte>(domain.size()));
    Append(domain.data(), domain.size());
  }
  template <class T>
  void Rows(const std::vector<T>& rows) {
    static_assert(std::has_unique_object_representations_v<T>, "every byte of a row is written");
    Field(rows.data(), rows.size() * sizeof(T));
  }
  template <class T>
  void Value(const T& value) {
    static_assert(std::has_unique_object_representations_v<T>);
    Field(&value, sizeof(value));
  }

 private:
  void Append(const void* data, size_t size) {
    const auto* bytes = static_cast<const std::byte*>(data);
    out_.insert(out_.end(), bytes, bytes + size);
  }
  void Field(const void* data, size_t size) {
    out_.push_back(static_cast<std::byte>(tag_++));
    const auto length = static_cast<uint32_t>(size);
    Append(&length, sizeof(length));
    Append(data, size);
    ends_.push_back(static_cast<uint32_t>(out_.size()));
  }

  Bytes& out_;
  std::vector<uint32_t>& ends_;  // of the fields
  uint8_t tag_ = 0;
};

struct OptionBytes {
  uint64_t seed;
  uint64_t alias_millis;
  uint64_t model;
  uint64_t flags;
};

// A semaphore use without its value.
struct UseBytes {
  uint64_t stages;
  uint32_t pass;
  uint32_t semaphore;
  uint32_t wait;
  uint32_t external;
};

// The bytes that decide a plan, with the ends of its arrays.
struct Structure {
  Bytes bytes;
  std::vector<uint32_t> ends;
};

constexpr const char* kArrays[] = {"passes",         "accesses", "versions", "chains",
                                   "semaphore uses", "options",  "carried",  "semaphore edges"};

// The first array in which two frames differ; empty if there is no other frame.
const char* FirstDifference(const Structure& a, const Structure& b) {
  if (b.ends.empty()) {
    return "";
  }
  uint32_t begin = 0;
  for (size_t i = 0; i < std::min(a.ends.size(), b.ends.size()); ++i) {
    const uint32_t end = a.ends[i];
    if (b.ends[i] != end ||
        std::memcmp(a.bytes.data() + begin, b.bytes.data() + begin, end - begin) != 0) {
      return kArrays[std::min(i, std::size(kArrays) - 1)];
    }
    begin = end;
  }
  return a.ends.size() == b.ends.size() ? "" : kArrays[std::size(kArrays) - 1];
}

Hash128 StructureOf(const Planning& planning, Structure& structure, std::vector<UseBytes>& uses) {
  const Declarations& rows = planning.rows;
  const PlanOptions& options = planning.options;
  Encoding encoding(structure.bytes, structure.ends, "kiln.graph.1");
  encoding.Rows(rows.passes);
  encoding.Rows(rows.accesses);
  encoding.Rows(rows.versions);
  encoding.Rows(rows.chains);
  uses.clear();
  for (size_t i = 0; i < rows.semaphore_uses.size(); ++i) {
    const SemaphoreRow& use = rows.semaphore_uses[i];
    uses.push_back({.stages = use.stages,
                    .pass = use.pass,
                    .semaphore = use.semaphore,
                    .wait = use.wait ? 1U : 0U,
                    .external = planning.scratch.external[i]});
  }
  encoding.Rows(uses);
  const bool follows = planning.carried.frame == planning.graph.previous().frame;
  encoding.Value(OptionBytes{.seed = options.seed,
                             .alias_millis = static_cast<uint64_t>(options.alias_commands * 1000),
                             .model = planning.model.identity(),
                             .flags = uint64_t{static_cast<uint8_t>(options.order)} |
                                      uint64_t{static_cast<uint8_t>(options.effort)} << 8 |
                                      uint64_t{static_cast<uint8_t>(options.barriers)} << 16 |
                                      uint64_t{options.cull} << 24 | uint64_t{options.alias} << 25 |
                                      uint64_t{options.unify_reads} << 26 |
                                      uint64_t{follows} << 27});
  encoding.Value(planning.carried.digest.bytes);
  for (const Edge& edge : planning.scratch.semaphore_edges) {
    encoding.Value(uint64_t{edge.from} << 32 | edge.to);
  }
  return HashBytes(structure.bytes);
}

// The layout of every access; with unify_reads all readers of a version share one.
void FillLayouts(Planning& planning) {
  const Declarations& rows = planning.rows;
  Plan& plan = planning.plan;
  plan.layouts.resize(rows.accesses.size());
  for (size_t i = 0; i < rows.accesses.size(); ++i) {
    plan.layouts[i] = rows.accesses[i].layout;
  }
  if (!planning.options.unify_reads) {
    return;
  }
  constexpr Accesses kReadOnly = VK_ACCESS_2_SHADER_SAMPLED_READ_BIT |
                                 VK_ACCESS_2_INPUT_ATTACHMENT_READ_BIT |
                                 VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT;
  std::vector<VkImageLayout> layouts(rows.versions.size(), VK_IMAGE_LAYOUT_UNDEFINED);
  std::vector<uint8_t> several(rows.versions.size(), 0);
  std::vector<Accesses> accesses(rows.versions.size(), 0);
  const auto is_read = [&](const AccessRow& access) {
    return access.op == Op::kRead && access.accesses != 0 && rows.ChainOf(access).texture();
  };
  for (const AccessRow& access : rows.accesses) {
    if (is_read(access)) {
      VkImageLayout& layout = layouts[access.version];
      several[access.version] |=
          layout != VK_IMAGE_LAYOUT_UNDEFINED && layout != access.layout ? 1 : 0;
      layout = access.layout;
      accesses[access.version] |= access.accesses;
    }
  }
  for (size_t i = 0; i < rows.accesses.size(); ++i) {
    const AccessRow& access = rows.accesses[i];
    if (is_read(access) && several[access.version] != 0) {
      plan.layouts[i] = (accesses[access.version] & ~kReadOnly) == 0
                            ? VK_IMAGE_LAYOUT_READ_ONLY_OPTIMAL
                            : VK_IMAGE_LAYOUT_GENERAL;
    }
  }
}

// A declaration that no order satisfies is wrong even where nothing needs it.
bool DeadPassesAreOrdered(Planning& planning) {
  if (planning.plan.culled.empty()) {
    return true;
  }
  const std::vector<uint8_t> live = planning.plan.live;
  planning.plan.live.assign(live.size(), 1);
  MakeEdges(planning);
  const bool cycle = AnyCycle(planning);
  planning.plan.live = live;
  return !cycle;
}

// Adds the time since the last call, per pass.
class StepClock {
 public:
  explicit StepClock(size_t passes) : passes_(static_cast<double>(std::max<size_t>(passes, 1))) {}
  void Add(TimeSeries& series) {
    const Instant now = Now();
    series.Add(NanosecondsBetween(last_, now) / passes_);
    last_ = now;
  }

 private:
  double passes_;
  Instant last_ = Now();
};

bool MakePlan(Planning& planning, PlannerTimes& times) {
  GroupAccesses(planning);
  Validate(planning);
  if (!planning.errors.empty()) {
    return false;
  }
  FillLayouts(planning);
  Cull(planning);
  if (!DeadPassesAreOrdered(planning)) {
    return false;
  }
  StepClock clock(planning.rows.passes.size());
  MakeEdges(planning);
  if (!Schedule(planning)) {
    return false;
  }
  clock.Add(times.order);
  CollectChains(planning);
  if (!MeasureChains(planning)) {
    return false;
  }
  BindSlots(planning);
  CollectCells(planning);
  CollectWaits(planning);
  WalkCells(planning);
  ChoosePoints(planning);
  clock.Add(times.points);
  SplitEpochs(planning);
  PlaceChains(planning);
  clock.Add(times.placement);
  RunLedger(planning);
  EmitEntries(planning);
  MakeBatches(planning);
  clock.Add(times.barriers);
  Measure(planning);
  LeaveCarried(planning);
  return true;
}

}  // namespace

struct PlannerMemory : PlanningScratch {
  Structure structure;  // of the last build
  Structure missed;     // of the last miss
  std::vector<UseBytes> uses;
};

Planner::Planner(MemoryModel& model) : model_(model), memory_(std::make_unique<PlannerMemory>()) {}
Planner::~Planner() = default;

void Planner::Forget() {
  for (Slot& slot : slots_) {
    slot.used = 0;
  }
  for (Placement& placement : memory_->placements) {
    placement.used = 0;
  }
}

// What a build cost, in the metrics and as a line.
void Planner::Report(const Graph& graph, const Plan& plan, Instant begin) {
  const auto passes = static_cast<double>(std::max<size_t>(graph.rows().passes.size(), 1));
  times_.declare.Add(NanosecondsBetween(graph.begun(), begin) / passes);
  times_.plan.Add(NanosecondsBetween(begin, Now()) / passes);
  if (debug_.allocations != nullptr) {
    const uint64_t now = debug_.allocations();
    stats_.allocations = counted_ == 0 ? 0 : now - counted_;
    counted_ = now;
  }
  if (debug_.log != nullptr) {
    const BuildCosts costs{
        .hit = stats_.hit, .ns_per_pass = times_.plan.last(), .allocations = stats_.allocations};
    debug_.log(PrintMetricsLine(plan, graph, &costs), debug_.user);
    counted_ = debug_.allocations != nullptr ? debug_.allocations() : 0;  // without the line's own
  }
}

Error Planner::Failure() {
  std::string context;
  for (const GraphError& error : errors_) {
    context += context.empty() ? "" : "; ";
    context += error.message;
  }
  return {.code = ErrorCode::kInvalidArgument, .context = context, .reason = errors_.front().code};
}

Result<const Plan*> Planner::Compile(const Graph& graph, const PlanOptions& options,
                                     const Carried& carried) {
  const Instant begin = Now();
  errors_.assign(graph.errors().begin(), graph.errors().end());
  if (!errors_.empty()) {
    return Failure();
  }
  auto oldest = std::min_element(slots_.begin(), slots_.end(),
                                 [](const Slot& a, const Slot& b) { return a.used < b.used; });
  Planning planning{.rows = graph.rows(),
                    .graph = graph,
                    .options = options,
                    .carried = carried,
                    .model = model_,
                    .scratch = *memory_,
                    .plan = oldest->plan,
                    .errors = errors_};
  ResolveSemaphores(graph.rows(), *memory_);
  const Hash128 structure = StructureOf(planning, memory_->structure, memory_->uses);
  for (Slot& slot : slots_) {
    if (slot.used != 0 && slot.plan.structure == structure) {
      slot.used = ++clock_;
      ++stats_.hits;
      stats_.hit = true;
      Report(graph, slot.plan, begin);
      return &slot.plan;
    }
  }
  ++stats_.misses;
  stats_.hit = false;
  stats_.difference = FirstDifference(memory_->structure, memory_->missed);
  std::swap(memory_->structure, memory_->missed);
  const uint64_t known = memory_->placement_hits;
  oldest->used = 0;
  oldest->plan.structure = structure;
  oldest->plan.options = options;
  if (!MakePlan(planning, times_)) {
    return Failure();
  }
  stats_.placement_hits += memory_->placement_hits - known;
  oldest->used = ++clock_;
  Report(graph, oldest->plan, begin);
  return &oldest->plan;
}

}  // namespace kiln::graph
