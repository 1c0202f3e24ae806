// SPDX-License-Identifier: MIT
#include "server/rpc/calls/compile_calls.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>

#include "cache/decorators/memory_store.h"
#include "compiler/base/printable.h"
#include "compiler/base/threads/stop.h"
#include "compiler/driver/option_text.h"
#include "server/compile/cached_result.h"
#include "server/compile/looking.h"
#include "server/compile/programs/program_texts.h"
#include "server/project/liveness.h"
#include "server/rpc/messages/convert_batch.h"
#include "server/rpc/messages/convert_reply.h"
#include "server/rpc/messages/convert_request.h"
#include "server/rpc/messages/message_limits.h"
#include "server/rpc/messages/request_error.h"

namespace kiln::rpc {
namespace {

Result<cache::Blob> ContentOf(Engine& engine, const compile::Outcome& outcome, const Digest& digest,
                              const cache::Call& call) {
  for (const compile::FreshBlob& fresh : outcome.fresh) {
    if (fresh.digest == digest) {
      return fresh.blob;
    }
  }
  return engine.store.Get(cache::ContentKey(digest), call);
}

// The bytes of an artifact into its message, if they fit. Both or neither: code of all stages in
// their order, then metadata. What is too large for a message is left out, and the client fetches
// it by digest (spec/daemon 3).
Result<void> FillInline(Engine& engine, const compile::Outcome& outcome, const cache::Call& call,
                        v1::Artifact& artifact) {
  uint64_t total = outcome.artifact->metadata.size;
  for (const compile::StageCodeDigest& code : outcome.artifact->code) {
    total += code.digest.size;
  }
  if (total > kMaxStreamMessage) {
    return {};
  }
  artifact.mutable_data()->reserve(total - outcome.artifact->metadata.size);
  for (const compile::StageCodeDigest& code : outcome.artifact->code) {
    KILN_TRY(const cache::Blob blob, ContentOf(engine, outcome, code.digest, call));
    artifact.mutable_data()->append(AsText(blob.bytes));
  }
  KILN_TRY(const cache::Blob metadata,
           ContentOf(engine, outcome, outcome.artifact->metadata, call));
  artifact.set_metadata_data(std::string(AsText(metadata.bytes)));
  return {};
}

// A module with several places to resolve: the beginnings of the lines of a file are found once.
class PlacesIn {
 public:
  // The text must outlive the object.
  explicit PlacesIn(const ModuleText& text) : text_(text), ends_(text.files().size()) {}

  // Path, bytes, line and column of a name. Spans of rows come from an image that was checked, but
  // texts are those of the store now, so a place behind the end becomes the end.
  void PlaceTo(Span bytes, v1::Diagnostic::Label& out) {
    const size_t row = text_.FileAt(bytes.begin);
    const ModuleText::File& file = text_.files()[row];
    const std::vector<size_t>& ends = EndsOf(row);
    const size_t at = std::min<size_t>(bytes.begin - file.first, file.source->text.size());
    const auto line = std::ranges::lower_bound(ends, at) - ends.begin();
    const size_t line_start = line == 0 ? 0 : ends[static_cast<size_t>(line) - 1] + 1;
    out.set_path(file.source->path);
    out.set_begin(bytes.begin - file.first);
    out.set_end(bytes.end - file.first);
    out.set_line(1 + static_cast<uint32_t>(line));
    out.set_column(1 + static_cast<uint32_t>(at - line_start));
  }

 private:
  // Of lines of a file.
  const std::vector<size_t>& EndsOf(size_t row) {
    if (!ends_[row].has_value()) {
      ends_[row].emplace();
      const std::string& text = text_.files()[row].source->text;
      for (size_t i = text.find('\n'); i != std::string::npos; i = text.find('\n', i + 1)) {
        ends_[row]->push_back(i);
      }
    }
    return *ends_[row];
  }

  const ModuleText& text_;
  std::vector<std::optional<std::vector<size_t>>> ends_;  // by file
};

resolve::OptionSetting DefaultOf(const ir::ModuleView& view, const ir::Option& option) {
  resolve::OptionSetting setting{.name = std::string(view.Text(option.name)),
                                 .scope = option.scope,
                                 .kind = option.kind,
                                 .bits = option.default_value};
  if (option.kind == ir::OptionKind::kEnum) {
    setting.text = view.Text(ir::StringId{view.List(option.values)[option.default_value]});
  }
  return setting;
}

void OptionTo(const resolve::Program& program, uint32_t module, const ir::Option& option,
              v1::OptionInfo& out) {
  const ir::ModuleView& view = program.module(module);
  out.set_name(std::string(view.Text(option.name)));
  out.set_scope(option.scope == ir::OptionScope::kGlobal ? v1::OptionValue::GLOBAL
                                                         : v1::OptionValue::INSTANCE);
  out.set_type(std::string(driver::OptionKindText(option.kind)));
  if (option.kind == ir::OptionKind::kEnum) {
    for (const uint32_t value : view.List(option.values)) {
      out.add_values(std::string(view.Text(ir::StringId{value})));
    }
  }
  ToProto(DefaultOf(view, option), *out.mutable_default_());
}

void LivenessTo(const project::Liveness& liveness, const std::vector<compile::NamedTarget>& targets,
                v1::OptionInfo& info) {
  info.set_dependents(liveness.dependents);
  for (const auto& [affected, name] :
       {std::pair(liveness.code, "code"), std::pair(liveness.settings, "settings"),
        std::pair(liveness.layout, "layout")}) {
    if (affected) {
      info.add_affects(name);
    }
  }
  // Every target has metadata, which tells the value of every option that was read.
  for (const compile::NamedTarget& target : targets) {
    if (liveness.dependents != 0) {
      info.add_live_in(target.name);
    }
  }
}

}  // namespace

Result<void> CheckDurability(const Engine& engine, v1::Durability durability) {
  if (durability == v1::DURABILITY_QUORUM && !engine.whole.has_upstream) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context = "this daemon has no upstream to wait for",
                 .reason = "NO_UPSTREAM"};
  }
  return {};
}

// Which of the sources are here is asked once for all of them; the client uploads what is listed
// and repeats its call. The list is bounded, so with very many it takes several rounds.
Result<void> ListMissing(Engine& engine, const std::vector<compile::Source>& sources,
                         const cache::Call& call, v1::ErrorDetail& detail) {
  std::vector<cache::Key> keys;
  for (const compile::Source& source : sources) {
    if (source.text == nullptr) {
      keys.push_back(cache::ContentKey(source.digest));
    }
  }
  std::sort(keys.begin(), keys.end());  // programs share sources
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  KILN_TRY(const std::vector<cache::Key> found, engine.store.FindMissing(keys, call));
  std::unordered_set<cache::Key, cache::KeyHash> missing;
  for (const cache::Key& key : found) {
    CheckStop();
    // What a full database did not take is in memory, and an upload of it would end there again.
    if (!engine.store.Get(key, call.Until(cache::kAtOnce)).ok()) {
      missing.insert(key);
    }
  }
  for (const compile::Source& source : sources) {
    CheckStop();
    if (source.text == nullptr && detail.missing_size() < kMaxMissingListed &&
        missing.contains(cache::ContentKey(source.digest))) {
      ToProto(source.digest, *detail.add_missing());
    }
  }
  return {};
}

Result<void> CheckThere(Engine& engine, const std::vector<compile::Source>& sources,
                        const cache::Call& call, v1::ErrorDetail& detail) {
  KILN_TRY_VOID(ListMissing(engine, sources, call, detail));
  return detail.missing_size() == 0
             ? Result<void>()
             : Result<void>(
                   Error{.code = ErrorCode::kFailedPrecondition,
                         .context = "sources are not here; upload them with PutSources and repeat",
                         .reason = "SOURCES_MISSING"});
}

// What is missing is listed with everything that the program needs, so that a client needs one
// round for it and not one for each file.
Result<std::shared_ptr<const compile::PreparedProgram>> PrepareOrListMissing(
    Engine& engine, const compile::ProgramRequest& program, const compile::NamedTarget& target,
    const cache::Call& call, v1::ErrorDetail& detail, compile::PoisonPolicy poison) {
  auto prepared = engine.builder.Prepare(program, target, call, poison);
  if (!prepared.ok() && prepared.error().reason == "SOURCES_MISSING") {
    const auto needs = engine.builder.NeedsOf(program, call);
    KILN_TRY_VOID(ListMissing(engine, needs.ok() ? *needs : program.sources, call, detail));
  }
  return prepared;
}

std::optional<resolve::OptionSetting> DefaultOf(const resolve::Program& program,
                                                std::string_view name) {
  for (uint32_t module = 0; module < program.modules().size(); ++module) {
    for (const ir::Option& option : program.module(module).options) {
      if (program.module(module).Text(option.name) == name) {
        return DefaultOf(program.module(module), option);
      }
    }
  }
  return std::nullopt;
}

// Targets are indexes into the program's list (spec/daemon 3).
Result<AskedVariant> FromProto(const v1::Variant& variant) {
  if (!variant.has_inline_program()) {
    return Malformed("variant.inline_program", "a variant carries its program");
  }
  KILN_TRY(ProgramAndTargets program, FromProto(variant.inline_program()));
  if (program.targets.empty()) {
    return Malformed("program.targets", "a program has at least one target");
  }
  AskedVariant asked{.program = std::move(program.program), .targets = {}, .options = {}};
  if (static_cast<uint64_t>(variant.targets_size()) > kMaxTargets) {
    return AboveLimit("targets per program", kMaxTargets,
                      static_cast<uint64_t>(variant.targets_size()));
  }
  for (const uint32_t index : variant.targets()) {
    if (index >= program.targets.size()) {
      return Malformed("variant.targets", fmt::format("there is no target {}", index));
    }
    asked.targets.push_back(program.targets[index]);
  }
  if (variant.targets().empty()) {
    asked.targets = std::move(program.targets);
  }
  for (const v1::OptionValue& value : variant.options()) {
    KILN_TRY(resolve::OptionSetting setting, FromProto(value));
    asked.options.push_back(std::move(setting));
  }
  return asked;
}

Error WouldWrite(std::string why) {
  return {.code = ErrorCode::kPermissionDenied,
          .context = std::move(why),
          .reason = std::string(kWouldWrite)};
}

// What memory has the store below may never have taken, or lost since: whoever wants it stored is
// told what is so now.
Result<void> SayWhetherStored(Engine& engine, const cache::Call& call, compile::Outcome& outcome) {
  if (!outcome.artifact.has_value() || outcome.artifact->origin == compile::Origin::kCompiled) {
    return {};
  }
  if (call.deadline == cache::kAtOnce) {
    return cache::NotAtOnce();
  }
  const cache::Key key = compile::ResultKey(outcome.artifact->signature);
  KILN_TRY(const std::vector<cache::Key> missing,
           engine.store.FindMissing(std::span(&key, 1), compile::Looking(call)));
  outcome.artifact->stored = missing.empty();
  return {};
}

// One target of a variant, with its bytes if they are to travel inline. A result that is known but
// whose content is gone is built again (spec/cache 8.5).
Result<compile::Outcome> CompileTarget(Engine& engine, const compile::PreparedProgram& prepared,
                                       std::span<const resolve::OptionSetting> options,
                                       const CompileHow& how, const cache::Call& call,
                                       v1::Outcome& converted) {
  compile::BuildOptions build = how.build;
  for (;;) {
    KILN_TRY(compile::Outcome outcome, engine.builder.Build(prepared, options, build, call));
    if (build.durability != cache::Durability::kRelaxed) {
      KILN_TRY_VOID(SayWhetherStored(engine, call, outcome));
    }
    converted.Clear();
    ToProto(outcome, converted);
    if (!how.inline_data || outcome.kind != compile::OutcomeKind::kOk) {
      return outcome;
    }
    const Result<void> filled = FillInline(engine, outcome, call, *converted.mutable_artifacts(0));
    if (filled.ok() || filled.error().code != ErrorCode::kNotFound || build.anew ||
        !build.may_compile) {
      return filled.ok() ? Result<compile::Outcome>(std::move(outcome)) : filled.error();
    }
    build.anew = true;
  }
}

// What the includes of all sources asked for, each path once.
void IncludedTo(const compile::PreparedProgram& prepared, v1::Outcome& outcome) {
  std::map<std::string_view, const Probe*> by_path;
  for (const std::shared_ptr<const compile::ParsedSource>& parsed : prepared.parsed) {
    for (const Probe& probe : parsed->probes) {
      by_path.emplace(probe.path, &probe);
    }
  }
  uint64_t bytes = 0;
  for (const auto& [path, probe] : by_path) {
    CheckStop();
    bytes += path.size();
    if (bytes > kMaxIncludedPaths) {
      return;
    }
    if (!IsPrintable(path)) {
      continue;  // no file is called that
    }
    v1::IncludedFile& included = *outcome.add_included();
    included.set_path(probe->path);
    if (probe->present) {
      ToProto(probe->digest, *included.mutable_digest());
    }
  }
}

// A variant is its targets, all or none: the first that is not there or is wrong is the answer for
// all. Each leaves an explain record; the number that the reply names is that of the first miss,
// which is the one that somebody will ask about, or else of the first target.
Result<void> CompileVariant(Engine& engine, const v1::Variant& variant, const CompileHow& how,
                            const cache::Call& call, v1::Outcome& outcome,
                            v1::ErrorDetail& detail) {
  KILN_TRY(const AskedVariant asked, FromProto(variant));
  if (call.deadline == cache::kAtOnce && asked.targets.size() != 1) {
    return cache::NotAtOnce();  // those before one that is not there would be explained twice
  }
  bool explained_miss = false;
  uint64_t seq = 0;
  for (const compile::NamedTarget& target : asked.targets) {
    compile::BuildTrace trace;
    compile::StageWatch watch(engine.clock, &trace);
    KILN_TRY(const auto prepared, PrepareOrListMissing(engine, asked.program, target, call, detail,
                                                       compile::PoisonFor(how.build.retry_failed)));
    watch.Lap("prepare");
    CompileHow traced = how;
    traced.build.trace = &trace;
    v1::Outcome converted;
    const Result<compile::Outcome> one =
        CompileTarget(engine, *prepared, asked.options, traced, call, converted);
    const bool not_cached = !one.ok() && one.error().reason == "NOT_CACHED";
    if (!one.ok() && !not_cached) {
      return one.error();
    }
    IncludedTo(*prepared, converted);
    const bool miss = trace.result == cache::ExplainResult::kMiss;
    const uint64_t number =
        call.may_write
            ? engine.explains.Append(ExplainRecordOf(*prepared, how.asker, trace, engine.clock))
            : 0;
    seq = seq == 0 || (miss && !explained_miss) ? number : seq;
    explained_miss = explained_miss || miss;
    if (not_cached && how.build.may_compile && !call.may_write) {
      return WouldWrite(
          fmt::format("this variant of '{}' is not in the cache and would have to be "
                      "compiled and stored",
                      asked.program.name));
    }
    if (not_cached) {
      outcome.Clear();
      outcome.set_explain_seq(seq);
      return {};
    }
    if (one->kind != compile::OutcomeKind::kOk) {  // no target without the others
      outcome = std::move(converted);
      outcome.set_explain_seq(seq);
      return {};
    }
    if (how.fresh != nullptr) {
      how.fresh->insert(how.fresh->end(), one->fresh.begin(), one->fresh.end());
    }
    outcome.set_kind(converted.kind());
    *outcome.mutable_included() = std::move(*converted.mutable_included());
    *outcome.add_artifacts() = std::move(*converted.mutable_artifacts(0));
    *outcome.mutable_diagnostics() = std::move(*converted.mutable_diagnostics());
  }
  outcome.set_explain_seq(seq);
  return {};
}

// Sizes are counted over all programs of a reply, since the reply is one message.
namespace {

// What a whole reply holds so far.
struct ListedBytes {
  uint64_t all = 0;
  uint64_t readers = 0;  // their labels
};

// The options of a program into a message that has `options` and `diagnostics`.
template <class Reply>
class OptionLister {
 public:
  // All must outlive the object.
  OptionLister(const ProgramAndTargets& program, const resolve::Program& linked,
               std::span<const ModuleText> texts, Reply& reply, ListedBytes& bytes)
      : targets_(program.targets), linked_(linked), reply_(reply), bytes_(bytes) {
    for (const ModuleText& text : texts) {
      places_.emplace_back(text);
    }
  }

  Result<void> Add(uint32_t module, const ir::Option& option, const project::Liveness& liveness) {
    v1::OptionInfo& info = *reply_.add_options();
    OptionTo(linked_, module, option, info);
    places_[module].PlaceTo(linked_.module(module).SpanOf(option.span),
                            *info.mutable_declared_at());
    AddReaders(liveness, info);
    LivenessTo(liveness, targets_, info);
    // The size depends on the source: names are arbitrarily long.
    bytes_.all += info.ByteSizeLong();
    return bytes_.all > kMaxReply ? Result<void>(AboveLimit("reply", kMaxReply, bytes_.all))
                                  : Result<void>();
  }

 private:
  void AddReaders(const project::Liveness& liveness, v1::OptionInfo& info) {
    for (const project::Liveness::Reader& reader : liveness.readers) {
      CheckStop();
      v1::Diagnostic::Label label;
      label.set_text(reader.name);
      places_[reader.module].PlaceTo(reader.where, label);
      const uint64_t size = label.ByteSizeLong();
      if (size > kMaxReaderLabels - bytes_.readers) {
        break;
      }
      bytes_.readers += size;
      *info.add_readers() = std::move(label);
    }
  }

  const std::vector<compile::NamedTarget>& targets_;
  const resolve::Program& linked_;
  Reply& reply_;
  ListedBytes& bytes_;
  std::vector<PlacesIn> places_;  // by module
};

// Liveness of one program with any target: what depends on an option is the same for all.
template <class Reply>
Result<void> ListOptionsOf(Engine& engine, const ProgramAndTargets& program, bool with_liveness,
                           const cache::Call& call, Reply& reply, ListedBytes& bytes,
                           v1::ErrorDetail& detail) {
  const compile::NamedTarget any{.name = "spirv", .target = {}};
  KILN_TRY(const auto prepared, PrepareOrListMissing(engine, program.program, any, call, detail));
  if (!prepared->ok()) {
    v1::Outcome outcome;
    ToProto(prepared->diagnostics, outcome);
    *reply.mutable_diagnostics() = std::move(*outcome.mutable_diagnostics());
    bytes.all += reply.ByteSizeLong();
    return bytes.all > kMaxReply ? Result<void>(AboveLimit("reply", kMaxReply, bytes.all))
                                 : Result<void>();
  }
  const resolve::Program& linked = prepared->program();
  const std::vector<project::Liveness> liveness =
      with_liveness ? project::LivenessOf(linked, program.program.entries)
                    : std::vector<project::Liveness>(linked.option_count());
  if (linked.option_count() == 0) {
    return {};
  }
  KILN_TRY(const compile::ProgramTexts texts,
           compile::ProgramTexts::Load(engine.pool, *prepared, call));
  OptionLister<Reply> lister(program, linked, texts.modules(), reply, bytes);
  size_t number = 0;  // options are numbered as they are listed
  for (uint32_t module = 0; module < linked.modules().size(); ++module) {
    for (const ir::Option& option : linked.module(module).options) {
      CheckStop();
      KILN_TRY_VOID(lister.Add(module, option, liveness[number++]));
    }
  }
  return {};
}

// The missing sources of all programs are told at once: their client uploads them once.
Result<void> ListOptionsOfAll(Engine& engine, const v1::ListOptionsRequest& request,
                              const cache::Call& call, v1::ListOptionsReply& reply,
                              v1::ErrorDetail& detail) {
  if (request.has_program()) {
    return Malformed("programs", "either program or programs");
  }
  if (static_cast<uint64_t>(request.programs_size()) > kMaxListedPrograms) {
    return AboveLimit("programs of a list", kMaxListedPrograms,
                      static_cast<uint64_t>(request.programs_size()));
  }
  std::vector<ProgramAndTargets> programs;
  std::vector<compile::Source> sources;
  for (const v1::Program& asked : request.programs()) {
    KILN_TRY(ProgramAndTargets program, FromProto(asked));
    sources.insert(sources.end(), program.program.sources.begin(), program.program.sources.end());
    programs.push_back(std::move(program));
  }
  KILN_TRY_VOID(CheckThere(engine, sources, call, detail));
  ListedBytes bytes;
  for (const ProgramAndTargets& program : programs) {
    CheckStop();
    KILN_TRY_VOID(ListOptionsOf(engine, program, request.with_liveness(), call,
                                *reply.add_programs(), bytes, detail));
  }
  return {};
}

}  // namespace

Result<void> ListOptions(Engine& engine, const v1::ListOptionsRequest& request,
                         const cache::Call& call, v1::ListOptionsReply& reply,
                         v1::ErrorDetail& detail) {
  if (request.programs_size() != 0) {
    return ListOptionsOfAll(engine, request, call, reply, detail);
  }
  KILN_TRY(const ProgramAndTargets program, FromProto(request.program()));
  ListedBytes bytes;
  return ListOptionsOf(engine, program, request.with_liveness(), call, reply, bytes, detail);
}

Error UploadsFull(const ByteRoom& room) {
  return {.code = ErrorCode::kResourceExhausted,
          .context = fmt::format("uploads of all clients hold {} bytes; {} are allowed",
                                 room.held(), room.most()),
          .reason = "BUFFERS_FULL"};
}

// Messages of one stream: a source may come in pieces, one source after the other. Sizes are
// checked before anything is kept, and what is kept counts as held, together with that of all other
// uploads (spec/daemon 10).
Result<void> Upload::Take(const v1::PutSourcesRequest& message) {
  if (message.ByteSizeLong() > kMaxStreamMessage) {
    return AboveLimit("stream message", kMaxStreamMessage, message.ByteSizeLong());
  }
  KILN_TRY(const Digest digest, FromProto(message.digest()));
  if (open_ && digest != digest_) {
    return Malformed("digest", "a source begins before the one before it is complete");
  }
  const bool spaces =
      message.path_hint() == kSpacesHint || (open_ && digest_.size > kMaxSourceFile);
  if (digest.size > (spaces ? kMaxStoredRequest : kMaxSourceFile)) {
    return spaces ? AboveLimit("stored request", kMaxStoredRequest, digest.size)
                  : AboveLimit("source file", kMaxSourceFile, digest.size);
  }
  total_ += message.data().size();
  if (total_ > kMaxSourceSet) {
    return AboveLimit("source set of a manifest", kMaxSourceSet, total_);
  }
  files_ += open_ ? 0 : 1;
  if (files_ > kMaxSourceFiles) {
    return AboveLimit("source files of a manifest", kMaxSourceFiles, files_);
  }
  // Room is taken for the bytes and once for what a source costs beside them.
  if (!held_.Take(message.data().size() + (open_ ? 0 : kUploadOverhead))) {
    return UploadsFull(room_);
  }
  open_ = true;
  digest_ = digest;
  bytes_ += message.data();
  if (bytes_.size() > digest_.size || (message.last() && DigestOf(bytes_) != digest_)) {
    rejected_.emplace_back(digest_, "DIGEST_MISMATCH");
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = "the bytes of '" + message.path_hint() + "' do not have its digest",
                 .reason = "DIGEST_MISMATCH"};
  }
  if (message.last()) {
    waiting_ += bytes_.size() + kUploadOverhead;
    complete_.push_back(cache::ContentItem(digest_, cache::CopiedBlob(AsBytes(bytes_))));
    (void)std::exchange(bytes_, {});  // with its memory
    open_ = false;
  }
  return {};
}

// Durable, since the client was told that its sources are there. A source that the store could not
// take counts if it is readable all the same, from memory.
Result<void> Upload::Store(const cache::Call& call) {
  if (complete_.empty()) {
    return {};
  }
  const std::vector<cache::Item> items = std::exchange(complete_, {});
  const uint64_t stored_bytes = std::exchange(waiting_, 0);
  const Result<uint64_t> added =
      engine_.whole.uploads.Upload(owner_, items, cache::UploadStore::Place::kMemoryToo, call);
  if (!added.ok()) {
    return WithContext(added.error(), "sources were not stored");
  }
  reply_.set_stored(reply_.stored() + *added);
  reply_.set_already(reply_.already() + items.size() - *added);
  held_.GiveBack(stored_bytes);
  return {};
}

Result<v1::PutSourcesReply> Upload::Finish() const {
  if (open_) {
    return Malformed("last", "the upload ended inside a source");
  }
  return reply_;
}

}  // namespace kiln::rpc
