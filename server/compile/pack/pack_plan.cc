// SPDX-License-Identifier: MIT
// Two steps: PackProgramsOf lists programs and points, from the request of a batch; PlanPack looks
// every point up and lays out what the pack will hold. Content is not read before the file is
// written. Results that are missing are built on the way, so planning may take as long as a batch.
#include "server/compile/pack/pack_plan.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "cache/key.h"
#include "cache/pack/format.h"
#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/driver/fingerprint.h"
#include "compiler/ir/enum_names.h"
#include "server/compile/batch/batch_check.h"
#include "server/compile/batch/batch_points.h"
#include "server/compile/batch/exploration.h"
#include "server/compile/batch/masks.h"
#include "server/compile/programs/build_keys.h"

namespace kiln::compile {
namespace {

using OptionNames = MaskList::Names;

// One point with its result for one target.
struct PointResult {
  resolve::OptionValues values;
  OptionNames live;
  Artifact artifact;
  std::optional<pack::Warm> warm;
  size_t point = 0;
};

// Lookups of a variant do not name the options that the program fixes. The pack's default of an
// option that the program fixes is the fixed value, so an engine that does not name it computes the
// key that was stored.
void SetDefault(const resolve::OptionSetting& fixed, std::vector<pack::Option>& options) {
  for (pack::Option& option : options) {
    if (option.name != fixed.name) {
      continue;
    }
    if (fixed.kind != ir::OptionKind::kEnum) {
      option.default_bits = fixed.bits;
      continue;
    }
    const auto value = std::find(option.values.begin(), option.values.end(), fixed.text);
    if (value != option.values.end()) {
      option.default_bits = static_cast<uint32_t>(value - option.values.begin());
    }
  }
}

// Types have the numbers of typed values (spec/cache 2.3.1), which are part of the format.
pack::Program PackProgramOf(const PreparedProgram& prepared) {
  const resolve::Program& program = prepared.program();
  pack::Program out{.name = prepared.request.name,
                    .pipeline = std::string(ir::NameOf(prepared.request.pipeline)),
                    .options = {}};
  for (uint32_t i = 0; i < program.option_count(); ++i) {
    const ir::OptionId id{i};
    const ir::Option& option = program.Get(id);
    pack::Option& row = out.options.emplace_back();
    row.name = program.Text(program.NameOf(id));
    row.default_bits = option.default_value;
    row.instance = option.scope == ir::OptionScope::kInstance;
    switch (option.kind) {
      case ir::OptionKind::kFlag:
        row.type = 0;
        break;
      case ir::OptionKind::kUint:
        row.type = 1;
        break;
      case ir::OptionKind::kSint:
        row.type = 2;
        break;
      case ir::OptionKind::kFloat:
        row.type = 3;
        break;
      case ir::OptionKind::kEnum: {
        row.type = 4;
        const ir::ModuleView& module = program.module(program.ModuleOf(id));
        for (const uint32_t value : module.List(option.values)) {
          row.values.emplace_back(module.Text(ir::StringId{value}));
        }
        break;
      }
    }
  }
  for (const resolve::OptionSetting& fixed : prepared.request.options) {
    SetDefault(fixed, out.options);
  }
  // By name, as masks and keys have them: an engine computes live keys from this order.
  std::sort(out.options.begin(), out.options.end(),
            [](const pack::Option& a, const pack::Option& b) { return a.name < b.name; });
  return out;
}

// Bits of the LIVE section count the program's options by name (spec/cache 10.4).
std::vector<uint32_t> IndexesOf(const OptionNames& mask, const std::vector<pack::Option>& options) {
  std::vector<uint32_t> indexes;
  for (uint32_t i = 0; i < options.size(); ++i) {
    if (std::binary_search(mask.begin(), mask.end(), options[i].name)) {
      indexes.push_back(i);
    }
  }
  return indexes;
}

// Numbers of the pack format; 0 is a combined module.
uint32_t StageNumber(const std::optional<ir::Stage>& stage) {
  if (!stage.has_value()) {
    return 0;
  }
  switch (*stage) {
    case ir::Stage::kVertex:
      return 1;
    case ir::Stage::kFragment:
      return 2;
    case ir::Stage::kCompute:
      return 3;
  }
  return 0;
}

// Fills the contents of a pack from results: programs in the order of the request, targets in
// theirs, artifacts in the order of points. This order is what makes packs equal, byte by byte
// (spec/cache 10.8). Everything is looked up, and built on a miss; content is only named here and
// read when the file is written.
class Planner {
 public:
  Planner(CachedBuild& builder, const PackProgress& progress, const cache::Call& call)
      : builder_(builder), progress_(progress), call_(call) {}

  Result<void> Run(std::span<const PackProgram> programs) {
    for (const PackProgram& program : programs) {
      total_ += program.points.size();
    }
    // The engine finds a program by its name, so names are unique in a pack.
    std::map<std::string, const PackProgram*> by_name;
    for (const PackProgram& program : programs) {
      // A program that is wrong is left out and counted with all its points.
      if (program.targets.empty() || !program.targets[0]->ok()) {
        plan_.failed += program.points.empty() ? 1 : program.points.size();
        continue;
      }
      const std::string& name = program.targets[0]->request.name;
      if (!by_name.emplace(name, &program).second) {
        return Error{.code = ErrorCode::kInvalidArgument,
                     .context = "two programs have the name '" + name + "'",
                     .reason = "MALFORMED_REQUEST"};
      }
      at_ = static_cast<size_t>(&program - programs.data());
      KILN_TRY_VOID(AddProgram(program));
    }
    plan_.contents.build = driver::BackFingerprint();
    // Artifacts with one state make one pipeline of the engine, whatever their variants are called.
    std::set<Hash128> states;
    for (const pack::Artifact& artifact : plan_.contents.artifacts) {
      states.insert(artifact.state_id);
    }
    plan_.pipelines = states.size();
    plan_.records.assign(records_.begin(), records_.end());
    return {};
  }

  PackPlan& plan() { return plan_; }
  std::vector<cache::Item>& made() { return made_; }

 private:
  Result<void> AddProgram(const PackProgram& program) {
    const auto number = static_cast<uint32_t>(plan_.contents.programs.size());
    plan_.contents.programs.push_back(PackProgramOf(*program.targets[0]));
    for (size_t target = 0; target < program.targets.size(); ++target) {
      KILN_TRY_VOID(AddEntry(program, target, number));
      if (plan_.contents.artifacts.size() > pack::kMaxEntries) {
        return Error{
            .code = ErrorCode::kResourceExhausted,
            .context = "a pack has at most " + std::to_string(pack::kMaxEntries) + " artifacts",
            .reason = "LIMIT_EXCEEDED"};
      }
    }
    done_ += program.points.size();
    progress_(done_, total_);
    return {};
  }

  // What each point became for one target. A point that names targets is looked up for these only.
  Result<std::vector<PointResult>> Look(const PackProgram& program, size_t target) {
    const PreparedProgram& prepared = *program.targets[target];
    // Rows are collected and put together at the end: one commit instead of thousands.
    const BuildOptions how{.rows = ResultRows::kKeptBack, .urgency = Urgency::kBackground};
    std::vector<PointResult> found;
    for (size_t i = 0; i < program.points.size(); ++i) {
      const PackPoint& point = program.points[i];
      if (!point.targets.empty() &&
          std::find(point.targets.begin(), point.targets.end(), target) == point.targets.end()) {
        continue;
      }
      CheckStop();
      BuildReport report = builder_.Report(prepared, point.options, how, call_);
      made_.insert(made_.end(), std::make_move_iterator(report.rows.begin()),
                   std::make_move_iterator(report.rows.end()));
      KILN_TRY(Outcome outcome, std::move(report.outcome));
      // A pack without the variants that are wrong is still of use; the reply says how many they
      // are.
      if (outcome.kind != OutcomeKind::kOk) {
        ++plan_.failed;
        continue;
      }
      // The values of the point are needed once more for its live key. They were right for the
      // build, so they are right here.
      std::vector<resolve::OptionSetting> settings = prepared.request.options;
      settings.insert(settings.end(), point.options.begin(), point.options.end());
      Diagnosed<resolve::OptionValues> values = resolve::CheckOptions(prepared.program(), settings);
      found.push_back({.values = *std::move(values.value),
                       .live = outcome.artifact->live_options,
                       .artifact = *std::move(outcome.artifact),
                       .warm = point.warm,
                       .point = i});
      if (i % 1024 == 1023) {
        // Points are done once for each target, and the total counts them once.
        progress_(done_ + (program.points.size() * target + i) / program.targets.size(), total_);
      }
    }
    return found;
  }

  // Two passes: results, then keys.
  Result<void> AddEntry(const PackProgram& program, size_t target, uint32_t number) {
    const PreparedProgram& prepared = *program.targets[target];
    KILN_TRY(const std::vector<PointResult> found, Look(program, target));
    // All results are looked up before a key is written, because the masks of an entry depend on
    // all of them: the 65th is merged into another one. See spec/cache 3.4
    MaskList masks;
    for (const PointResult& row : found) {
      (void)masks.Add(row.live);
    }
    const auto entry = static_cast<uint32_t>(plan_.contents.entries.size());
    pack::Entry& added = plan_.contents.entries.emplace_back();
    added.id = prepared.entry;
    added.program = number;
    added.target = prepared.target.name;
    for (const OptionNames& mask : masks.all()) {
      added.masks.push_back(IndexesOf(mask, plan_.contents.programs[number].options));
    }
    std::map<Hash128, size_t> rows;  // live key -> artifact
    for (const PointResult& row : found) {
      CheckStop();
      const std::optional<Hash128> key =
          LiveKeyOf(prepared.entry, prepared.program(), row.values, masks.Of(row.live));
      KILN_CHECK(key.has_value(), "a result with options that its program does not have");
      const Hash128 live = *key;
      // Points that differ in options which nothing reads have one live key, and so one artifact.
      const auto [place, is_new] = rows.emplace(live, plan_.contents.artifacts.size());
      if (is_new) {
        AddArtifact(row.artifact, live, entry,
                    {.program = at_, .target = target, .point = row.point});
      }
      pack::Artifact& artifact = plan_.contents.artifacts[place->second];
      if (!row.warm.has_value()) {
        continue;
      }
      // The first point that is warm decides the place of its artifact in the file: what is built
      // before the first frame lies together.
      if (!artifact.warm_rank.has_value()) {
        artifact.warm_rank = next_rank_++;
      }
      plan_.contents.warm.push_back(*row.warm);
      plan_.contents.warm.back().live_key = live;
    }
    return {};
  }

  void AddArtifact(const Artifact& from, const Hash128& live, uint32_t entry,
                   const PackOrigin& origin) {
    pack::Artifact& artifact = plan_.contents.artifacts.emplace_back();
    artifact.live_key = live;
    artifact.layout_hash = from.layout_hash;
    artifact.state_id = from.state_id;
    artifact.entry = entry;
    artifact.metadata = from.metadata;
    artifact.order = static_cast<uint32_t>(plan_.contents.artifacts.size());  // that of the points
    AddBlob(from.metadata, origin);
    for (const StageCodeDigest& code : from.code) {
      artifact.code.push_back({.stage = StageNumber(code.stage), .digest = code.digest});
      AddBlob(code.digest, origin);
    }
    // What a pin of the pack will hold.
    records_.insert({.level = cache::Level::kSignature, .space = 0, .id = from.signature});
  }

  void AddBlob(const Digest& digest, const PackOrigin& origin) {
    // The first variant that has a blob is noted as its origin, to make the blob again if the store
    // loses it.
    plan_.bytes += plan_.blobs.emplace(digest.id, origin).second ? digest.size : 0;
  }

  CachedBuild& builder_;
  const PackProgress& progress_;
  const cache::Call& call_;
  PackPlan plan_;
  std::vector<cache::Item> made_;  // rows of what was built now
  std::set<cache::Key> records_;
  size_t at_ = 0;  // number of the program
  uint32_t next_rank_ = 0;
  uint64_t done_ = 0, total_ = 0;
};

}  // namespace

// Durable before the file is written: a pack must not name results that a crash could lose.
Result<PackPlan> PlanPack(CachedBuild& builder, cache::BlobStore& store,
                          std::span<const PackProgram> programs, const PackProgress& progress,
                          const cache::Call& call) {
  Planner planner(builder, progress, call);
  KILN_TRY_VOID(planner.Run(programs));
  if (!planner.made().empty()) {
    // Content that was built now is read back when the pack is written, or made again if the store
    // could not take it.
    (void)store.Put(planner.made(), cache::Durability::kDurable, call);
  }
  return std::move(planner.plan());
}

// Blobs are read in the order of the file, long after they were planned. Collection may have taken
// one in the meantime, so it is built again from the variant that it came from; its outcome is kept
// for the other blobs of the same variant.
Result<cache::Blob> PackContent::Read(const Digest& digest, const cache::Call& call) {
  Result<cache::Blob> kept = builder_.Read(again_, digest, call);
  const auto origin = plan_.blobs.find(digest.id);
  if (kept.ok() || kept.error().code != ErrorCode::kNotFound || origin == plan_.blobs.end()) {
    return kept;
  }
  const auto [program, target, point] = origin->second;
  KILN_TRY(
      again_,
      builder_.Build(*programs_[program].targets[target], programs_[program].points[point].options,
                     {.known = KnownResult::kBuiltAgain, .urgency = Urgency::kBackground}, call));
  kept = builder_.Read(again_, digest, call);
  if (!kept.ok()) {
    return Error{.code = ErrorCode::kUnavailable,
                 .context = "content " + digest.id.hex() +
                            " was lost while the pack was written; repeat the call",
                 .reason = "CONTENT_LOST"};
  }
  return kept;
}

namespace {

// Discovers the points of a space; results of a batch are found in the cache. Errors: as
// CachedBuild::Build; LIMIT_VARIANTS.
Result<void> ExploreAll(CachedBuild& builder,
                        std::span<const std::shared_ptr<const PreparedProgram>> targets,
                        BatchPoints& points, const cache::Call& call) {
  Exploration& exploration = *points.exploration;
  // The walk of the batch is repeated, and finds all of its results in the cache. So the pack has
  // the points that the batch had.
  while (std::optional<Exploration::Node> node = exploration.Take()) {
    CheckStop();
    BatchPoint point{.options = exploration.SettingsOf(*node)};
    Exploration::Reading read;
    for (const std::shared_ptr<const PreparedProgram>& target : targets) {
      BuildReport report =
          builder.Report(*target, point.options, {.urgency = Urgency::kBackground}, call);
      KILN_TRY_VOID(std::move(report.outcome));
      read.Add(report.trace);
    }
    point.served = exploration.Expand(*node, std::move(read));
    AddCharged(point, points.points);
  }
  return exploration.Over() ? Result<void>(exploration.TooMany()) : Result<void>();
}

}  // namespace

// Repeats what the batch did, from its request: preparing, listing and looking up are hits.
Result<std::vector<PackProgram>> PackProgramsOf(CachedBuild& builder, const BatchRequest& request,
                                                Clock& clock, const cache::Call& call) {
  std::vector<PackProgram> programs;
  for (const BatchProgram& from : request.programs) {
    PackProgram program;
    for (const NamedTarget& target : from.targets) {
      KILN_TRY(std::shared_ptr<const PreparedProgram> prepared,
               builder.Prepare(from.program, target, call));
      program.targets.push_back(std::move(prepared));
    }
    // The points of a space depend on the declarations of options, which are the same for all
    // targets. So those of the first one are taken.
    if (!program.targets.empty() && program.targets[0]->ok()) {
      KILN_TRY(BatchPoints points, PointsOf(*program.targets[0]->linked->value, from.space,
                                            LimitsOf(request, from), clock));
      if (points.exploration != nullptr) {
        KILN_TRY_VOID(ExploreAll(builder, program.targets, points, call));
      }
      for (size_t i = 0; i < points.points.size(); ++i) {
        PackPoint& point = program.points.emplace_back();
        // Warm ones come first in the list, so the number of the point is the order of warm-up. The
        // format has 16 bits for it.
        BatchPoint from_points = points.points.At(i);
        point.options = std::move(from_points.options);
        point.targets.assign(from_points.targets.begin(), from_points.targets.end());
        if (from_points.warm) {
          point.warm = pack::Warm{.priority = static_cast<uint16_t>(std::min<size_t>(i, 0xFFFF))};
        }
      }
    }
    programs.push_back(std::move(program));
  }
  return programs;
}

}  // namespace kiln::compile
