// SPDX-License-Identifier: MIT
// Between messages of a watch stream and the sessions of server/reload: requests are checked as a
// whole before a session sees them, and events become messages that fit one message of the
// transport.
#include "server/rpc/calls/watch_calls.h"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "server/rpc/messages/convert_batch.h"
#include "server/rpc/messages/convert_reply.h"
#include "server/rpc/messages/convert_request.h"
#include "server/rpc/messages/message_limits.h"
#include "server/rpc/messages/request_error.h"

namespace kiln::rpc {
namespace {

constexpr size_t kMaxGlobs = 64;                  // of one subscriber
constexpr size_t kMaxListed = size_t{400} << 10;  // bytes of one list of names in an event

// Checks everything but the content of the sources.
// A push with the same shape is an edit of sources; one with another shape changes what there is to
// build. The hash makes that one comparison.
Hash128 ShapeOf(const v1::ProgramSpace& space) {
  v1::ProgramSpace shape = space;
  for (v1::SourceRef& source : *shape.mutable_program()->mutable_sources()) {
    source.clear_digest();
    source.clear_inline_();
  }
  if (shape.program().has_hlsl()) {
    shape.mutable_program()->mutable_hlsl()->clear_files();
    shape.mutable_program()->mutable_hlsl()->clear_file_list();
  }
  return HashBytes(AsBytes(CanonicalBytes(shape)));
}

// Everything is checked before a session sees any of it, so that a push is taken as a whole or not
// at all.
Result<std::vector<reload::WatchedProgram>> ProgramsFrom(
    const google::protobuf::RepeatedPtrField<v1::ProgramSpace>& spaces) {
  if (static_cast<uint64_t>(spaces.size()) > kMaxPrograms) {
    return AboveLimit("programs per manifest", kMaxPrograms, static_cast<uint64_t>(spaces.size()));
  }
  std::vector<reload::WatchedProgram> programs;
  std::set<std::string> names;
  for (const v1::ProgramSpace& space : spaces) {
    KILN_TRY(ProgramAndTargets program, FromProto(space.program()));
    if (program.targets.empty()) {
      return Malformed("program.targets", "a program has at least one target");
    }
    // A session knows programs by name; with two of one name an edit would replace the wrong one.
    if (!names.insert(program.program.name).second) {
      return Malformed("program.name",
                       fmt::format("two programs are named '{}'", program.program.name));
    }
    KILN_TRY(project::SpaceRequest points, FromProto(space, nullptr));
    programs.push_back({.program = {.program = std::move(program.program),
                                    .space = std::move(points),
                                    .targets = std::move(program.targets)},
                        .shape = ShapeOf(space)});
  }
  return programs;
}

// The sources are there, and the lists of files to include are read: a session changes them.
Result<void> CheckProgramsThere(Engine& engine, std::vector<reload::WatchedProgram>& programs,
                                const cache::Call& call, v1::ErrorDetail& detail) {
  // One question to the store for all programs of a session. Asking for each alone would be
  // thousands of reads before the first event.
  std::vector<compile::Source> sources;
  for (reload::WatchedProgram& program : programs) {
    compile::HlslInputs& hlsl = program.program.program.hlsl;
    Result<std::shared_ptr<const FileList>> files = engine.pool.Files(hlsl, call);
    if (files.ok()) {
      hlsl.files = std::move(files).value();
    } else if (files.error().reason == "SOURCES_MISSING") {
      sources.push_back({.path = "(list of files to include)", .digest = *hlsl.list, .text = {}});
    } else {
      return std::move(files).error();
    }
    const std::vector<compile::Source>& more = program.program.program.sources;
    sources.insert(sources.end(), more.begin(), more.end());
  }
  return CheckThere(engine, sources, call, detail);
}

// A session knows files to include by their digests, so what came inline goes where an upload would
// put it. Best effort: what the store does not take is missing when it is read.
void KeepIncluded(Engine& engine, const std::vector<compile::Source>& changed,
                  const cache::Call& call) {
  std::vector<cache::Item> items;
  for (const compile::Source& source : changed) {
    if (source.text != nullptr && !source.path.ends_with(".rpl")) {
      items.push_back(cache::ContentItem(source.digest, cache::CopiedBlob(AsBytes(*source.text))));
    }
  }
  if (!items.empty()) {
    (void)engine.store.Put(items, cache::Durability::kRelaxed, call);
  }
}

// Names as far as a message has room for them.
void AddNames(const std::vector<std::string>& names,
              google::protobuf::RepeatedPtrField<std::string>& out) {
  size_t bytes = 0;
  for (const std::string& name : names) {
    bytes += name.size() + 4;
    if (bytes > kMaxListed) {
      return;
    }
    *out.Add() = name;
  }
}

// Neither or both: what is gone from the store is fetched with Compile, which builds it again.
void AddBytes(Engine& engine, const compile::Artifact& artifact, v1::Artifact& out) {
  uint64_t total = artifact.metadata.size;
  for (const compile::StageCodeDigest& code : artifact.code) {
    total += code.digest.size;
  }
  // An event is one message. What does not fit is fetched by its digests.
  if (total > kMaxStreamMessage - (uint64_t{64} << 10)) {
    return;
  }
  const auto get = [&](const Digest& digest) {
    return engine.store.Get(cache::ContentKey(digest), {});
  };
  std::string data;
  for (const compile::StageCodeDigest& code : artifact.code) {
    const Result<cache::Blob> blob = get(code.digest);
    if (!blob.ok()) {
      return;
    }
    data += AsText(blob->bytes);
  }
  if (const Result<cache::Blob> metadata = get(artifact.metadata); metadata.ok()) {
    out.set_data(std::move(data));
    out.set_metadata_data(std::string(AsText(metadata->bytes)));
  }
}

// One overload for each kind of event, so the compiler says when a kind has no form on the wire.
class EventWriter {
 public:
  EventWriter(Engine& engine, bool inline_data, v1::WatchEvent& out)
      : engine_(engine), inline_data_(inline_data), out_(out) {}

  void operator()(const reload::SessionOpened& opened) const {
    v1::WatchEvent::Opened& to = *out_.mutable_opened();
    to.set_epoch(opened.epoch);
    AddNames(opened.programs, *to.mutable_programs());
    to.set_source_present(opened.source_present);
    to.set_resumed(opened.resumed);
  }
  void operator()(const reload::SourcesChanged& changed) const {
    v1::WatchEvent::Changed& to = *out_.mutable_changed();
    to.set_generation(changed.generation);
    AddNames(changed.paths, *to.mutable_paths());
    AddNames(changed.programs, *to.mutable_programs());
  }
  void operator()(const reload::NewArtifact& built) const {
    v1::WatchEvent::NewArtifact& to = *out_.mutable_artifact();
    to.set_generation(built.generation);
    to.set_program(built.program);
    for (const resolve::OptionSetting& setting : *built.options) {
      rpc::ToProto(setting, *to.add_options());
    }
    v1::Outcome outcome;
    rpc::ToProto(compile::Outcome{.artifact = *built.artifact}, outcome);
    *to.mutable_artifact() = std::move(*outcome.mutable_artifacts(0));
    to.mutable_change()->set_code(built.change.code);
    to.mutable_change()->set_settings(built.change.settings);
    to.mutable_change()->set_layout(built.change.layout);
    if (inline_data_) {
      AddBytes(engine_, *built.artifact, *to.mutable_artifact());
    }
  }
  void operator()(const reload::ProgramUnchanged& unchanged) const {
    v1::WatchEvent::Unchanged& to = *out_.mutable_unchanged();
    to.set_generation(unchanged.generation);
    to.set_program(unchanged.program);
    to.set_reason(static_cast<v1::WatchEvent::Unchanged::Reason>(unchanged.reason));
  }
  void operator()(const reload::Diagnostics& diagnostics) const {
    v1::WatchEvent::Diagnostics& to = *out_.mutable_diagnostics();
    to.set_generation(diagnostics.generation);
    to.set_program(diagnostics.program);
    to.set_cleared(diagnostics.all->empty());
    v1::Outcome outcome;
    // The bounds and the order of diagnostics are those of an outcome; its messages are moved out
    // of it.
    rpc::ToProto(*diagnostics.all, outcome);
    for (v1::Diagnostic& one : *outcome.mutable_diagnostics()) {
      v1::Diagnostic& added =
          one.severity() == v1::Diagnostic::ERROR ? *to.add_errors() : *to.add_warnings();
      added = std::move(one);
    }
  }
  void operator()(const reload::ProgramsSettled& settled) const {
    v1::WatchEvent::Settled& to = *out_.mutable_settled();
    to.set_generation(settled.generation);
    to.set_ms(settled.ms);
    to.set_compiled(settled.compiled);
    to.set_shared(settled.shared);
    to.set_failed(settled.failed);
  }
  void operator()(const reload::Snapshot& snapshot) const {
    out_.mutable_snapshot()->set_begin(snapshot.begin);
  }
  void operator()(const reload::Problem& problem) const {
    out_.mutable_problem()->set_text(problem.text);
    out_.mutable_problem()->set_code(problem.code);
  }

 private:
  Engine& engine_;
  const bool inline_data_;
  v1::WatchEvent& out_;
};

// A subscription names programs, exactly or by pattern, targets and variants. Each is bounded,
// because a session looks through all of them for each event.
Result<reload::Wish> WishFrom(const v1::WatchRequest::Open& open) {
  reload::Wish wish{.role = static_cast<reload::Role>(open.role())};
  for (const std::string& pattern : open.programs()) {
    KILN_TRY_VOID(CheckName("open.programs", pattern));
    // Plain names are found in a set; only patterns are compared one by one with each program.
    if (pattern.find_first_of("*?") == std::string::npos) {
      wish.programs.insert(pattern);
    } else {
      wish.globs.push_back(pattern);
    }
  }
  if (wish.globs.size() > kMaxGlobs) {
    return AboveLimit("patterns of a subscription", kMaxGlobs, wish.globs.size());
  }
  wish.targets.insert(open.targets().begin(), open.targets().end());
  KILN_TRY(std::vector<reload::Interest> interest, InterestFrom(open.variants_of_interest()));
  wish.SetInterest(std::move(interest));
  return wish;
}

}  // namespace

// The name of a variant is made here once: sessions compare names.
Result<std::vector<reload::Interest>> InterestFrom(
    const google::protobuf::RepeatedPtrField<v1::Variant>& variants) {
  if (static_cast<uint64_t>(variants.size()) > kMaxPrograms) {
    return AboveLimit("variants of interest", kMaxPrograms, static_cast<uint64_t>(variants.size()));
  }
  std::vector<reload::Interest> interest;
  for (const v1::Variant& variant : variants) {
    if (variant.program_name().empty()) {
      return Malformed("variant.program_name", "a variant of interest names its program");
    }
    auto options = std::make_shared<reload::Options>();
    for (const v1::OptionValue& value : variant.options()) {
      KILN_TRY(resolve::OptionSetting setting, FromProto(value));
      options->push_back(std::move(setting));
    }
    std::string name = reload::VariantName(*options);
    interest.push_back({.program = variant.program_name(),
                        .options = std::move(options),
                        .variant = std::move(name)});
  }
  return interest;
}

// The first message of a stream (spec/daemon 8.3). Who the caller is comes from the connection and
// never from the message.
Result<reload::OpenRequest> OpenFrom(Engine& engine, const v1::WatchRequest::Open& open,
                                     const ops::Principal& who, const cache::Call& call,
                                     v1::ErrorDetail& detail) {
  if (open.project().empty()) {
    return Malformed("open.project", "a session belongs to a project");
  }
  KILN_TRY_VOID(CheckName("open.project", open.project()));
  KILN_TRY_VOID(CheckName("open.session_id", open.session_id()));
  KILN_TRY_VOID(CheckName("open.workspace", open.workspace()));
  if (open.role() < v1::WatchRequest::Open::SOURCE || open.role() > v1::WatchRequest::Open::BOTH) {
    return Malformed("open.role", "not SOURCE, SUBSCRIBER or BOTH");
  }
  const bool is_source = open.role() != v1::WatchRequest::Open::SUBSCRIBER;
  // The two roles are told apart here once, so that no subscriber can change what others build.
  if (is_source == open.spaces().empty()) {
    return Malformed("open.spaces", is_source ? "a source client says what there is to build"
                                              : "only a source client says what there is to build");
  }
  reload::OpenRequest request{.principal = who.id,
                              .tenant = who.tenant,
                              .project = open.project(),
                              .workspace = open.workspace(),
                              .session_id = open.session_id()};
  KILN_TRY(request.wish, WishFrom(open));
  if (is_source) {
    KILN_TRY(request.programs, ProgramsFrom(open.spaces()));
    KILN_TRY_VOID(CheckProgramsThere(engine, *request.programs, call, detail));
  }
  // A client that comes back says which run of the daemon it knew and how far it had heard. The
  // session decides whether that can be replayed. See spec/daemon 8.3.5
  if (open.has_resume()) {
    request.resume = {.epoch = open.resume().epoch(), .seq = open.resume().seq()};
  }
  return request;
}

// A push of a source client. Sources are there before the session hears of the push, so that work
// that begins finds them.
Result<reload::PushedChange> PushFrom(Engine& engine, const v1::WatchRequest::Push& push,
                                      const cache::Call& call, v1::ErrorDetail& detail) {
  reload::PushedChange change{.removed = {push.removed().begin(), push.removed().end()}};
  for (const v1::SourceRef& ref : push.changed()) {
    KILN_TRY(compile::Source source, FromProto(ref));
    change.changed.push_back(std::move(source));
  }
  // A push names sources by digest. Those that are not here are listed in the error, so that the
  // client uploads them and pushes again.
  KILN_TRY_VOID(CheckThere(engine, change.changed, call, detail));
  KeepIncluded(engine, change.changed, call);
  if (!push.spaces().empty()) {
    KILN_TRY(change.programs, ProgramsFrom(push.spaces()));
    KILN_TRY_VOID(CheckProgramsThere(engine, *change.programs, call, detail));
  }
  return change;
}

void ToProto(Engine& engine, const reload::Event& event, bool inline_data, v1::WatchEvent& out) {
  out.set_seq(event.seq);
  out.set_conflated(event.conflated);
  std::visit(EventWriter(engine, inline_data, out), event.body);
}

}  // namespace kiln::rpc
