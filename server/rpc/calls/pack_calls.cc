// SPDX-License-Identifier: MIT
// What PackService does (spec/daemon 4.4), as functions of request, call and a stream that takes
// messages. Building a pack is one long job: what is wanted, a plan of the results, the file, its
// place on the shelf, and last the pin. Reading one is a page at a time from a file that stays
// open.
#include "server/rpc/calls/pack_calls.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <unordered_set>

#include <fmt/format.h>

#include "cache/leases/bounded_pins.h"
#include "cache/pack/write/writer.h"
#include "compiler/base/printable.h"
#include "compiler/driver/fingerprint.h"
#include "server/compile/pack/pack_plan.h"
#include "server/rpc/messages/convert_reply.h"
#include "server/rpc/messages/convert_request.h"
#include "server/rpc/messages/message_limits.h"
#include "server/rpc/messages/request_error.h"

namespace kiln::rpc {
namespace {

constexpr uint64_t kChunk = kMaxStreamMessage - 1024;  // leaves room for the rest

using PushReply = std::function<void(const v1::BuildPackReply&)>;

// The programs of single variants; variants of one program follow each other in `points`. Programs
// are gathered by name: the index is the number of its first variant.
class VariantPrograms {
 public:
  VariantPrograms(Engine& engine, const cache::Call& call, v1::ErrorDetail& detail)
      : engine_(engine), call_(call), detail_(detail) {}

  Result<void> Add(const v1::Variant& variant) {
    KILN_TRY(const AskedVariant asked, FromProto(variant));
    // Variants of one program share its tables in the pack, so they are gathered by name.
    const auto [place, is_new] = by_name_.emplace(asked.program.name, programs_.size());
    if (is_new) {
      programs_.emplace_back();
    }
    compile::PackProgram& program = programs_[place->second];
    compile::PackPoint point{.options = asked.program.options, .warm = {}, .targets = {}};
    if (variant.warm()) {
      // The order of the request is the order in which they are warmed.
      point.warm =
          pack::Warm{.priority = static_cast<uint16_t>(std::min(next_priority_++, 0xFFFF))};
    }
    point.options.insert(point.options.end(), asked.options.begin(), asked.options.end());
    for (const compile::NamedTarget& target : asked.targets) {
      KILN_TRY(const auto prepared,
               PrepareOrListMissing(engine_, asked.program, target, call_, detail_));
      const auto known =
          std::find_if(program.targets.begin(), program.targets.end(),
                       [&](const auto& row) { return row->target.name == target.name; });
      // The bound is counted over all variants of the program, since together they make one table
      // of targets.
      if (known == program.targets.end() && program.targets.size() == kMaxTargets) {
        return AboveLimit("targets per program", kMaxTargets, kMaxTargets + 1);
      }
      if (known == program.targets.end()) {
        point.targets.push_back(program.targets.size());
        program.targets.push_back(prepared);
      } else if ((*known)->entry != prepared->entry) {
        return Malformed("variants", "two programs have the name '" + asked.program.name + "'");
      } else {
        point.targets.push_back(static_cast<size_t>(known - program.targets.begin()));
      }
    }
    program.points.push_back(std::move(point));
    return {};
  }

  std::vector<compile::PackProgram> Take() { return std::move(programs_); }

 private:
  Engine& engine_;
  const cache::Call& call_;
  v1::ErrorDetail& detail_;
  int next_priority_ = 0;
  std::map<std::string, size_t> by_name_;
  std::vector<compile::PackProgram> programs_;
};

struct PackOrder {
  std::string project;
  std::vector<compile::PackProgram> programs;
};

// The targets that the request names; all of them if it names none. Points refer to targets by
// their place in the list, so what stays is renumbered; a point that named only others goes.
Result<void> KeepTargets(const v1::BuildPackRequest& request,
                         std::vector<compile::PackProgram>& programs) {
  if (request.targets().empty()) {
    return {};
  }
  const std::set<std::string> names(request.targets().begin(), request.targets().end());
  bool any = false;
  for (compile::PackProgram& program : programs) {
    std::map<size_t, size_t> kept;  // old number -> new
    std::vector<std::shared_ptr<const compile::PreparedProgram>> targets;
    for (size_t i = 0; i < program.targets.size(); ++i) {
      if (names.contains(program.targets[i]->target.name)) {
        kept.emplace(i, targets.size());
        targets.push_back(program.targets[i]);
      }
    }
    std::vector<compile::PackPoint> points;
    for (compile::PackPoint& point : program.points) {
      std::vector<size_t> renumbered;
      for (const size_t target : point.targets) {
        if (const auto found = kept.find(target); found != kept.end()) {
          renumbered.push_back(found->second);
        }
      }
      if (point.targets.empty() || !renumbered.empty()) {
        point.targets = std::move(renumbered);
        points.push_back(std::move(point));
      }
    }
    program.points = std::move(points);
    any = any || !targets.empty();
    program.targets = std::move(targets);
  }
  std::erase_if(programs,
                [](const compile::PackProgram& program) { return program.targets.empty(); });
  return any ? Result<void>() : Malformed("targets", "no program has a target of these names");
}

// The list of what to build before the first frame: points of programs that are there.
// Points of the warm list are added behind those that were asked for. One that was asked for
// already is found by its live key later, and has one artifact.
Result<void> AddWarmList(const v1::BuildPackRequest& request,
                         std::vector<compile::PackProgram>& programs) {
  std::map<std::string_view, compile::PackProgram*> by_name;  // the first of a name
  for (compile::PackProgram& program : programs) {
    by_name.emplace(program.targets[0]->request.name, &program);
  }
  for (const v1::WarmEntry& entry : request.warm_list()) {
    const auto found = by_name.find(entry.program());
    if (found == by_name.end()) {
      return Malformed("warm_list.program", "the pack has no program '" + entry.program() + "'");
    }
    if (!entry.pass().empty()) {  // no request tells the formats of a pass yet
      return NotBuiltIn("passes in a warm list");
    }
    if (entry.priority() > UINT16_MAX || entry.lane() > 2) {
      return Malformed("warm_list.lane", "a lane is 0, 1 or 2, a priority at most 65535");
    }
    compile::PackPoint point{.options = {},
                             .warm = pack::Warm{.priority = static_cast<uint16_t>(entry.priority()),
                                                .lane = static_cast<uint16_t>(entry.lane()),
                                                .creation_us = entry.creation_us(),
                                                .first_use_us = entry.first_use_us()},
                             .targets = {}};
    for (const v1::OptionValue& value : entry.options()) {
      KILN_TRY(resolve::OptionSetting setting, FromProto(value));
      point.options.push_back(std::move(setting));
    }
    found->second->points.push_back(std::move(point));
  }
  return {};
}

// What a pack is made of: the points of a batch or single variants, then the targets, then the warm
// list. The order matters, since targets are renumbered before points are added for the warm list.
Result<PackOrder> WantedBy(Engine& engine, const v1::BuildPackRequest& request,
                           const cache::Call& call, v1::ErrorDetail& detail) {
  KILN_TRY_VOID(CheckName("project", request.project()));
  PackOrder wanted{.project = request.project(), .programs = {}};
  if (request.batch_id().empty() == request.variants().empty()) {
    return Malformed("variants", "either variants or a batch");
  }
  if (!request.batch_id().empty()) {
    KILN_TRY(const Hash128 id, IdFromProto("batch_id", request.batch_id()));
    // The request of the batch names its sources by their digests, so the pack is of the texts that
    // were compiled and not of what the files have become since.
    KILN_TRY(const auto batch, engine.batches.Request(id));
    wanted.project = batch->project;
    KILN_TRY(wanted.programs, compile::PackProgramsOf(engine.builder, *batch, engine.clock, call));
  } else {
    VariantPrograms programs(engine, call, detail);
    for (const v1::Variant& variant : request.variants()) {
      KILN_TRY_VOID(programs.Add(variant));
    }
    wanted.programs = programs.Take();
  }
  KILN_TRY_VOID(KeepTargets(request, wanted.programs));
  KILN_TRY_VOID(AddWarmList(request, wanted.programs));
  return wanted;
}

void CountsTo(const compile::PackPlan& plan, v1::PackCounts& out) {
  out.set_programs(plan.contents.programs.size());
  out.set_artifacts(plan.contents.artifacts.size());
  out.set_blobs(plan.blobs.size());
  out.set_pipelines(plan.pipelines);
}

// The one time that a pack names. It comes from outside, so that the same content gives the same
// bytes on every day.
uint64_t SourceDate() {
  const char* text = std::getenv("SOURCE_DATE_EPOCH");
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

// Nothing in it depends on the day or the machine but what the caller says (spec/cache 10.8).
Bytes InfoOf(const v1::BuildPackRequest& request, const PackOrder& wanted,
             const compile::PackPlan& plan) {
  v1::PackInfo info;
  info.set_project(wanted.project);
  if (request.has_manifest()) {
    *info.mutable_manifest() = request.manifest();
  }
  std::set<std::string> targets;
  for (const pack::Entry& entry : plan.contents.entries) {
    targets.insert(entry.target);
  }
  info.mutable_targets()->Assign(targets.begin(), targets.end());
  CountsTo(plan, *info.mutable_counts());
  // Who made it, for people who find a pack years later. Readers do not look at it.
  info.add_tool_versions("back.spirv " + driver::BackFingerprint().hex());
  for (const driver::FrontEnd& front : driver::kFrontEnds) {
    info.add_tool_versions(std::string(front.component) + " " +
                           driver::FrontFingerprint(front.language).hex());
  }
  info.set_source_date(SourceDate());
  const std::string bytes = info.SerializeAsString();
  const ByteView view = AsBytes(bytes);
  return {view.begin(), view.end()};
}

// Progress may be pushed from the thread of the job only; the stream drops what its reader does not
// take.
void PushProgress(const PushReply& push, const char* stage, uint64_t done, uint64_t total) {
  v1::BuildPackReply message;
  message.mutable_progress()->set_stage(stage);
  message.mutable_progress()->set_done(done);
  message.mutable_progress()->set_total(total);
  push(message);
}

// How much of the content of a plan was read: some of it is asked for twice, and what a base has is
// not asked for.
class ContentProgress {
 public:
  ContentProgress(const compile::PackPlan& plan, const PushReply& push) : plan_(plan), push_(push) {
    Tell(0, 0);
  }
  void Read(const Digest& digest) {
    if (read_.insert(digest.id).second) {
      bytes_ += digest.size;
      // A message for each blob would be more messages than blobs are worth.
      if (read_.size() % 1024 == 0) {
        Tell(read_.size(), bytes_);
      }
    }
  }
  void Written() { Tell(plan_.blobs.size(), plan_.bytes); }

 private:
  void Tell(uint64_t done, uint64_t bytes) {
    v1::BuildPackReply message;
    v1::Progress& progress = *message.mutable_progress();
    progress.set_stage("pack");
    progress.set_done(done);
    progress.set_total(plan_.blobs.size());
    progress.set_bytes_done(bytes);
    progress.set_bytes_total(plan_.bytes);
    push_(std::move(message));
  }

  const compile::PackPlan& plan_;
  const PushReply& push_;
  std::unordered_set<Hash128, Hash128Hash> read_;
  uint64_t bytes_ = 0;
};

Result<pack::WriteReport> WriteTo(Engine& engine, const PackOrder& wanted,
                                  const compile::PackPlan& plan, const pack::WriteOptions& options,
                                  const std::string& file, const PushReply& push,
                                  const cache::Call& call) {
  ContentProgress progress(plan, push);
  compile::PackContent content(engine.builder, wanted.programs, plan);
  // The writer asks for each content when it writes it, so a pack of gigabytes never is in memory.
  // The stop is looked at here, because the writer knows no calls.
  const pack::BlobSource blobs = [&](const Digest& digest) -> Result<Bytes> {
    if (call.stop.stop_requested()) {
      return Error{.code = ErrorCode::kCancelled, .context = "by the caller", .reason = {}};
    }
    KILN_TRY(const cache::Blob blob, content.Read(digest, call));
    progress.Read(digest);
    return Bytes(blob.bytes.begin(), blob.bytes.end());
  };
  KILN_TRY(const pack::WriteReport written, pack::WritePack(plan.contents, blobs, options, file));
  progress.Written();
  return written;
}

struct WrittenPack {
  compile::PackPlan plan;
  pack::WriteReport written;
};

// Plans, writes to a file without a name, and puts it on the shelf. What fails before the last step
// leaves nothing behind that has a name.
Result<WrittenPack> PlanAndWrite(Engine& engine, const v1::BuildPackRequest& request,
                                 const PackOrder& wanted, const pack::Pack* base,
                                 const cache::Actor& actor, const PushReply& push,
                                 const cache::Call& call) {
  const auto progress = [&](uint64_t done, uint64_t total) {
    PushProgress(push, "lookup", done, total);
  };
  Result<compile::PackPlan> planned =
      compile::PlanPack(engine.builder, engine.store, wanted.programs, progress, call);
  // Who may only read can have a pack if all of its results are there. See spec/daemon 11.4
  if (!planned.ok() && planned.error().reason == "NOT_CACHED") {
    return WouldWrite(
        "not all results of the pack are in the cache, and they would have to be "
        "compiled and stored");
  }
  KILN_TRY(compile::PackPlan plan, std::move(planned));
  plan.contents.info = InfoOf(request, wanted, plan);
  KILN_TRY(const std::string file, engine.shelf.NewFile());
  const pack::WriteOptions options{.mode = request.mode() == v1::BuildPackRequest::SMALL
                                               ? pack::Mode::kSmall
                                               : pack::Mode::kFast,
                                   .base = base};
  KILN_TRY(const pack::WriteReport written,
           WriteTo(engine, wanted, plan, options, file, push, call));
  // Who may not write gets the pack only if the shelf has exactly these bytes from somebody else.
  if (call.may_write) {
    KILN_TRY_VOID(engine.shelf.Keep(file, written.pack_id, actor.id));
  } else if (!engine.shelf.HasInstead(file, written.pack_id)) {
    return WouldWrite("nobody has made exactly this pack lately, and it would have to be kept");
  }
  return WrittenPack{.plan = std::move(plan), .written = written};
}

}  // namespace

// Everything that can be wrong with the request is looked at before the first result: planning may
// compile for minutes.
Result<void> BuildPack(Engine& engine, const v1::BuildPackRequest& request,
                       const cache::Actor& actor, const cache::Call& call, const PushReply& push,
                       v1::ErrorDetail& detail) {
  if (request.sign()) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context = "this daemon has no signing key; sign with 'kiln pack build --sign'",
                 .reason = "NO_SIGNING_KEY"};
  }
  if (request.has_manifest()) {
    KILN_TRY_VOID(FromProto(request.manifest()));
  }
  if (!request.pin().empty()) {
    KILN_TRY_VOID(CheckPinName("pin", request.pin()));
    if (!call.may_write) {
      return WouldWrite("a pin would have to be made");
    }
  }
  std::string pin_owner;
  if (!request.pin().empty()) {
    if (engine.whole.pins == nullptr) {
      return Error{.code = ErrorCode::kFailedPrecondition,
                   .context = "this daemon keeps its results in memory only",
                   .reason = "READ_ONLY"};
    }
    KILN_TRY(pin_owner, cache::PinOwnerFor(*engine.whole.pins, request.pin(), actor));
  }
  std::unique_ptr<pack::Pack> base;
  if (!request.base_pack().empty()) {
    KILN_TRY(const Hash128 id, IdFromProto("base_pack", request.base_pack()));
    // The base stays open until the delta is written, so it may be removed from the shelf in
    // between.
    KILN_TRY(base, engine.shelf.OpenPack(id));
  }
  // A lease from the plan to the last byte of the pack, so that nothing that it names is collected
  // meanwhile. HeldLeases bounds how long one holds.
  const cache::HeldLeases::ScopedLease held =
      call.may_write ? engine.whole.held.Hold("pack") : cache::HeldLeases::ScopedLease();
  KILN_TRY(const PackOrder wanted, WantedBy(engine, request, call, detail));
  KILN_TRY(const WrittenPack made,
           PlanAndWrite(engine, request, wanted, base.get(), actor, push, call));
  const auto& [plan, written] = made;
  if (!request.pin().empty()) {
    // The pin comes last: it names what the pack has, and a pack that failed leaves none behind.
    KILN_TRY_VOID(engine.whole.pins->Add(
        {.name = request.pin(), .note = "pack " + written.pack_id.hex(), .owner = pin_owner},
        plan.records));
  }
  v1::BuildPackReply message;
  v1::BuildPackReply::Done& done = *message.mutable_done();
  done.set_pack_id(IdBytes(written.pack_id));
  done.set_size(written.file_bytes);
  CountsTo(plan, *done.mutable_counts());
  done.set_failed(plan.failed);
  push(message);
  return {};
}

// One message at a time, made when the one before it was taken (spec/daemon 2.7).
Result<std::vector<v1::ReadPackReply>> PackPages::Next(const cache::Call& call,
                                                       v1::ErrorDetail& detail) {
  if (pack_ == nullptr) {
    KILN_TRY(const Hash128 id, IdFromProto("pack_id", request_.pack_id()));
    // The file stays open until the last page: one that falls off the shelf meanwhile is read to
    // its end.
    KILN_TRY(pack_, engine_.shelf.Open(id, call));
    // A client that goes on with a download says where. Beyond the end it has another pack than it
    // thinks, so this is no empty answer.
    if (request_.offset() > pack_->size()) {
      detail.set_max(pack_->size());
      detail.set_actual(request_.offset());
      return Error{.code = ErrorCode::kOutOfRange,
                   .context = fmt::format("the pack has {} bytes", pack_->size()),
                   .reason = "OFFSET_BEYOND_END"};
    }
    next_ = request_.offset();
    const uint64_t left = pack_->size() - next_;
    end_ = next_ + (request_.length() == 0 ? left : std::min(left, request_.length()));
  }
  if (call.stop.stop_requested()) {
    return Error{.code = ErrorCode::kCancelled, .context = "by the caller", .reason = {}};
  }
  std::vector<v1::ReadPackReply> page;
  if (next_ < end_) {
    v1::ReadPackReply& reply = page.emplace_back();
    const uint64_t size = std::min(kChunk, end_ - next_);
    KILN_TRY(*reply.mutable_data(), pack_->Read(next_, size));
    reply.set_offset(next_);
    next_ += size;
  }
  return page;
}

// Only the index is read. A pack that came from elsewhere may have any text in it, so texts are
// made UTF-8.
Result<void> DescribePack(Engine& engine, const v1::DescribePackRequest& request,
                          v1::DescribePackReply& reply) {
  KILN_TRY(const Hash128 id, IdFromProto("pack_id", request.pack_id()));
  KILN_TRY(const std::unique_ptr<pack::Pack> pack, engine.shelf.OpenPack(id));
  const pack::Tables& tables = pack->tables();
  if (!reply.mutable_info()->ParseFromArray(tables.info.data(),
                                            static_cast<int>(tables.info.size()))) {
    reply.clear_info();  // it may have text that is no UTF-8
  }
  for (const pack::SectionEntry& section : tables.sections) {
    v1::DescribePackReply::Section& shown = *reply.add_sections();
    shown.set_kind(pack::SectionName(section.kind));
    shown.set_offset(section.offset);
    shown.set_stored_size(section.stored_size);
    shown.set_raw_size(section.raw_size);
    shown.set_rows(section.rows);
  }
  // Artifacts belong to entries and entries to programs: one pass counts them for all programs.
  std::vector<uint64_t> artifacts(tables.programs.size());
  for (const pack::ArtifactRow& artifact : tables.artifacts) {
    ++artifacts[tables.entries[artifact.entry].program];
  }
  for (size_t i = 0; i < tables.programs.size(); ++i) {
    const pack::ProgramRow& program = tables.programs[i];
    v1::DescribePackReply::ProgramEntry& shown = *reply.add_programs();
    shown.set_name(WellFormed(tables.String(program.name)));
    shown.set_pipeline(WellFormed(tables.String(program.pipeline)));
    shown.set_options(program.option_count);
    shown.set_artifacts(artifacts[i]);
  }
  return {};
}

}  // namespace kiln::rpc
