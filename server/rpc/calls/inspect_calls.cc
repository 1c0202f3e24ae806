// SPDX-License-Identifier: MIT
// Views of a result (spec/daemon 4.1). A request becomes subjects (results, or content by itself)
// and pages (a view of a subject each); all of that is checked in the first step, and then each
// page is made when the stream takes it. What is shown was stored by somebody: texts are cleaned,
// and content that is neither a module nor metadata is not shown.
#include "server/rpc/calls/inspect_calls.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "compiler/artifact/layout_table.h"
#include "compiler/artifact/metadata.h"
#include "compiler/artifact/metadata_json.h"
#include "compiler/artifact/metadata_text.h"
#include "compiler/base/text/utf8.h"
#include "compiler/base/threads/stop.h"
#include "compiler/driver/specialised_text.h"
#include "compiler/recipe/recipe.h"
#include "server/rpc/messages/convert_reply.h"
#include "server/rpc/messages/convert_request.h"
#include "server/rpc/messages/message_limits.h"
#include "server/rpc/messages/request_error.h"

namespace kiln::rpc {
namespace {

using Json = nlohmann::ordered_json;
using View = v1::InspectRequest;

// Both forms travel in one message, so each has half of it.
constexpr size_t kChunk = kMaxStreamMessage / 2 - 4096;  // of each form
constexpr int kMaxViews = 32;                            // asked for, and dialects
constexpr uint32_t kSpirvMagic = 0x07230203;
constexpr char kDefaultDialect[] = "glsl450";

Error Unknown(std::string what) {
  return {.code = ErrorCode::kNotFound, .context = std::move(what), .reason = "UNKNOWN_RESULT"};
}

std::string HexOf(const std::string& id) {
  std::string hex;
  for (const char c : id) {
    fmt::format_to(std::back_inserter(hex), "{:02x}", static_cast<uint8_t>(c));
  }
  return hex;
}

std::string StageOf(const v1::StageCode& code) {
  switch (static_cast<int>(code.stage())) {
    case v1::EntryPoint::VERTEX:
      return "vertex";
    case v1::EntryPoint::FRAGMENT:
      return "fragment";
    case v1::EntryPoint::COMPUTE:
      return "compute";
    default:  // of all entry points
      return "module";
  }
}

// Bytes that are no UTF-8 become replacement characters. The dump would throw otherwise.
std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The first word of a module. Modules of the other byte order are not made here, so they count as
// no SPIR-V.
bool IsSpirv(ByteView bytes) {
  uint32_t magic = 0;
  if (bytes.size() < sizeof(magic)) {
    return false;
  }
  std::memcpy(&magic, bytes.data(), sizeof(magic));
  return magic == kSpirvMagic;
}

// Names in the code of a result may be any bytes; text on the wire may not.
std::string CleanUtf8(std::string_view text) {
  std::string clean;
  for (;;) {
    CheckStop();
    const size_t good = FindInvalidUtf8(text);
    clean += text.substr(0, good);
    if (good == text.size()) {
      return clean;
    }
    clean += "\xEF\xBF\xBD";
    // One byte is replaced and the text is looked at again from the next one, so a good character
    // behind it is kept.
    text.remove_prefix(good + 1);
  }
}

// The end of a chunk that begins at `from`, so that no character is cut.
size_t ChunkEnd(std::string_view text, size_t from) {
  size_t end = std::min(text.size(), from + kChunk);
  // A byte of the form 10xxxxxx continues a character. The text is UTF-8, so at most three steps
  // back reach its beginning.
  while (end < text.size() && (static_cast<uint8_t>(text[end]) & 0xC0u) == 0x80u) {
    --end;
  }
  return end;
}

// The size is part of the name of content, but people copy ids; without it any size is right.
Result<cache::Blob> ContentOf(Engine& engine, const v1::Digest& digest, const cache::Call& call) {
  KILN_TRY(const Hash128 id, IdFromProto("digest.id", digest.id()));
  const cache::Key key =  // the size may be left out
      digest.size() == 0 ? cache::ContentKey(id)
                         : cache::ContentKey(Digest{.id = id, .size = digest.size()});
  Result<cache::Blob> blob = engine.store.Get(key, call);
  if (!blob.ok() && blob.error().code == ErrorCode::kNotFound) {
    return Unknown("content " + id.hex() + " is not in the cache");
  }
  return blob;
}

// Digests, sizes and ids: what identifies a result.
// Each view has two forms: text for people, in columns, and JSON for programs. Both are made from
// the same values here, so they cannot say different things.
ViewForms StatsOf(const v1::Artifact& artifact) {
  ViewForms forms;
  const auto out = std::back_inserter(forms.text);
  const std::string signature = HexOf(artifact.signature());
  const std::string metadata = HexOf(artifact.metadata().id());
  const std::string layout = HexOf(artifact.layout_hash());
  const std::string state = HexOf(artifact.state_id());
  fmt::format_to(out, "signature {}\n", signature);
  if (!artifact.target().empty()) {
    fmt::format_to(out, "target    {}\n", artifact.target());
  }
  Json code = Json::array();
  for (const v1::StageCode& stage : artifact.code()) {
    const std::string id = HexOf(stage.digest().id());
    fmt::format_to(out, "{:<9} {} bytes, {}\n", StageOf(stage), stage.digest().size(), id);
    code.push_back({{"stage", StageOf(stage)}, {"id", id}, {"bytes", stage.digest().size()}});
  }
  fmt::format_to(out, "metadata  {} bytes, {}\nlayout    {}\nstate     {}\n",
                 artifact.metadata().size(), metadata, layout, state);
  forms.json = Dump({{"signature", signature},
                     {"target", artifact.target()},
                     {"code", code},
                     {"metadata", {{"id", metadata}, {"bytes", artifact.metadata().size()}}},
                     {"layout_hash", layout},
                     {"state_id", state}});
  return forms;
}

// Of content by itself nothing else is known.
ViewForms ContentStats(std::string_view kind, const v1::Digest& digest) {
  const std::string id = HexOf(digest.id());
  return {.text = fmt::format("{:<9} {} bytes, {}\n", kind, digest.size(), id),
          .json = Dump({{"kind", kind}, {"id", id}, {"bytes", digest.size()}})};
}

// The options that the build read, and what they decide.
ViewForms OptionsOf(const artifact::PipelineMetadata& metadata) {
  ViewForms forms;
  Json rows = Json::array();
  forms.text = fmt::format("{:<32} {:<8} {:<12} {}\n", "option", "scope", "value", "affects");
  for (const artifact::OptionInfluence& option : metadata.option_influence) {
    CheckStop();
    fmt::format_to(std::back_inserter(forms.text), "{:<32} {:<8} {:<12} {}\n", option.name,
                   option.scope, option.value, fmt::join(option.affects, " "));
    rows.push_back({{"name", option.name},
                    {"scope", option.scope},
                    {"value", option.value},
                    {"affects", option.affects}});
  }
  forms.json = Dump(rows);
  return forms;
}

// All views are checked before the first is shown: a request that is half wrong shows nothing.
Result<void> CheckView(View::View view, bool of_variant) {
  // The cast is there for numbers that the enumeration does not have: a client may be newer than
  // this daemon.
  switch (static_cast<int>(view)) {
    case View::STATS:
    case View::META:
    case View::LAYOUT:
    case View::OPTIONS:
    case View::DISASM:
    case View::CROSS:
    case View::WGSL:
      return {};
    case View::IR:
      return of_variant ? Result<void>()
                        : Malformed("views", "only a variant with its sources has an IR");
    default:  // an open enumeration of the wire
      return Malformed("views", "there is no such view");
  }
}

// A product by itself has no views of the others.
Result<void> CheckFits(View::View view, bool has_metadata, bool has_code) {
  const bool of_metadata = view == View::META || view == View::LAYOUT || view == View::OPTIONS;
  const bool of_code = view == View::DISASM || view == View::CROSS || view == View::WGSL;
  if ((of_metadata && !has_metadata) || (of_code && !has_code)) {
    return Malformed("views", fmt::format("{} is not a view of this product by itself: name the "
                                          "signature of its result",
                                          View::View_Name(view)));
  }
  return {};
}

// Both forms, in as many messages as the longer one takes.
std::vector<v1::InspectReply> MessagesOf(const v1::InspectReply& head, const ViewForms& forms) {
  std::vector<v1::InspectReply> messages;
  size_t text = 0;
  size_t json = 0;
  do {
    CheckStop();
    v1::InspectReply& message = messages.emplace_back(head);
    const size_t text_end = ChunkEnd(forms.text, text);
    const size_t json_end = ChunkEnd(forms.json, json);
    message.set_text(forms.text.substr(text, text_end - text));
    message.set_json(forms.json.substr(json, json_end - json));
    text = text_end;
    json = json_end;
  } while (text < forms.text.size() || json < forms.json.size());
  return messages;
}

}  // namespace

// Everything that can be wrong is found in the first call (Begin); after that a view is made only
// when the stream takes it.
Result<std::vector<v1::InspectReply>> InspectPages::Next(const cache::Call& call,
                                                         v1::ErrorDetail& detail) {
  if (!begun_) {
    KILN_TRY_VOID(Begin(call, detail));
    begun_ = true;
  }
  if (next_ == pages_.size()) {
    return std::vector<v1::InspectReply>();
  }
  const Page& page = pages_[next_++];
  // One view at a time is made and sent, so that no more than one of them is in memory.
  KILN_TRY(const ViewForms forms, FormsOf(page, call));
  v1::InspectReply head;
  head.set_view(page.view);
  head.set_dialect(page.dialect);
  if (const Subject& subject = subjects_[page.subject]; subject.artifact.has_value()) {
    head.set_target(subject.artifact->target());
  }
  return MessagesOf(head, forms);
}

// Requests are checked in the order in which they can be wrong without looking at the cache.
Result<void> InspectPages::Begin(const cache::Call& call, v1::ErrorDetail& detail) {
  if (request_.views_size() > kMaxViews || request_.dialects_size() > kMaxViews) {
    return Malformed("views", fmt::format("at most {} at once", kMaxViews));
  }
  for (const std::string& dialect : request_.dialects()) {
    // The dialect becomes a part of a recipe. Its parser decides what is one, so nothing else can
    // be smuggled in.
    const Result<recipe::Recipe> parsed =
        recipe::ParseRecipe("cross;to=" + dialect, target::Environment::kVulkan11);
    if (!parsed.ok()) {
      return Malformed("dialects", parsed.error().context);
    }
  }
  for (const int view : request_.views()) {
    KILN_TRY_VOID(CheckView(static_cast<View::View>(view),
                            request_.subject_case() == v1::InspectRequest::kVariant));
  }
  switch (request_.subject_case()) {
    case v1::InspectRequest::kSignature:
      KILN_TRY_VOID(AddSignature(call));
      break;
    case v1::InspectRequest::kDigest:
      KILN_TRY_VOID(AddContent(call));
      break;
    case v1::InspectRequest::kVariant:
      KILN_TRY_VOID(AddVariant(call, detail));
      break;
    case v1::InspectRequest::SUBJECT_NOT_SET:
      return Malformed("subject", "name a signature, a digest or a variant");
  }
  return AddPages();
}

// By signature there are no sources, hence no IR.
Result<void> InspectPages::AddSignature(const cache::Call& call) {
  KILN_TRY(const Hash128 signature, IdFromProto("signature", request_.signature()));
  std::optional<compile::Outcome> found = engine_.builder.Find({}, signature, call);
  if (!found.has_value()) {  // a result that was just answered may be on its way into the store
    (void)engine_.store.Put({}, cache::Durability::kDurable, call);
    found = engine_.builder.Find({}, signature, call);
  }
  if (!found.has_value()) {
    return Unknown("no result has the signature " + signature.hex());
  }
  AddArtifact(*found, nullptr);
  return {};
}

// Through the message of an outcome, so that an inspected result has the same members as one that
// was compiled.
void InspectPages::AddArtifact(const compile::Outcome& found,
                               std::shared_ptr<const compile::PreparedProgram> prepared) {
  v1::Outcome outcome;
  ToProto(found, outcome);
  Subject& subject = subjects_.emplace_back();
  subject.artifact = std::move(*outcome.mutable_artifacts(0));
  subject.code.assign(subject.artifact->code().begin(), subject.artifact->code().end());
  subject.metadata = subject.artifact->metadata();
  subject.prepared = std::move(prepared);
}

// Content that is neither a module nor metadata may be a source, which must not be shown.
Result<void> InspectPages::AddContent(const cache::Call& call) {
  KILN_TRY(const cache::Blob blob, ContentOf(engine_, request_.digest(), call));
  v1::Digest digest = request_.digest();
  digest.set_size(blob.bytes.size());
  Subject& subject = subjects_.emplace_back();
  if (IsSpirv(blob.bytes)) {
    *subject.code.emplace_back().mutable_digest() = digest;
    return {};
  }
  if (!artifact::DecodeMetadata(blob.bytes).ok()) {
    return Malformed("digest", "this is neither SPIR-V nor metadata: GetBlobs gives its bytes");
  }
  subject.metadata = digest;
  return {};
}

// Looking never compiles: whoever may only read must be able to inspect, and a person who asks for
// a view does not wait for a build.
Result<void> InspectPages::AddVariant(const cache::Call& call, v1::ErrorDetail& detail) {
  KILN_TRY(AskedVariant asked, FromProto(request_.variant()));
  for (const compile::NamedTarget& target : asked.targets) {
    KILN_TRY(auto prepared, PrepareOrListMissing(engine_, asked.program, target, call, detail));
    const Result<compile::Outcome> found = engine_.builder.Build(
        *prepared, asked.options, {.unknown = compile::UnknownVariant::kRefused}, call);
    if (!found.ok()) {
      return found.error().reason == "NOT_CACHED"
                 ? Unknown("this variant is not in the cache: compile it first")
                 : found.error();
    }
    if (found->kind != compile::OutcomeKind::kOk) {
      return Unknown("this variant has no result: Compile tells what is wrong with it");
    }
    AddArtifact(*found, std::move(prepared));
  }
  options_ = std::move(asked.options);
  return {};
}

// Views of one subject follow each other; a variant with several targets has a subject for each.
Result<void> InspectPages::AddPages() {
  for (size_t i = 0; i < subjects_.size(); ++i) {
    std::vector<View::View> views;
    for (const int view : request_.views()) {
      views.push_back(static_cast<View::View>(view));
    }
    // What people want to see first, if they do not say what.
    if (views.empty()) {
      views = subjects_[i].metadata.has_value()
                  ? std::vector{View::STATS, View::META, View::OPTIONS}
                  : std::vector{View::STATS, View::DISASM};
    }
    for (const View::View view : views) {
      KILN_TRY_VOID(CheckFits(view, subjects_[i].metadata.has_value(),
                              subjects_[i].artifact.has_value() || !subjects_[i].code.empty()));
      if (view != View::CROSS) {
        pages_.push_back({.subject = i, .view = view, .dialect = {}});
        continue;
      }
      for (const std::string& dialect : request_.dialects()) {
        pages_.push_back({.subject = i, .view = view, .dialect = dialect});
      }
      if (request_.dialects().empty()) {
        pages_.push_back({.subject = i, .view = view, .dialect = kDefaultDialect});
      }
    }
  }
  return {};
}

Result<ViewForms> InspectPages::FormsOf(const Page& page, const cache::Call& call) {
  const Subject& subject = subjects_[page.subject];
  switch (static_cast<int>(page.view)) {
    case View::STATS:
      return subject.artifact.has_value()   ? StatsOf(*subject.artifact)
             : subject.metadata.has_value() ? ContentStats("metadata", *subject.metadata)
                                            : ContentStats("spirv", subject.code[0].digest());
    case View::META:
    case View::LAYOUT:
    case View::OPTIONS:
      return MetadataForms(page, call);
    case View::IR:
      return IrForms(subject);
    default:  // CheckView let no others pass
      return CodeForms(page, call);
  }
}

// Metadata was written by this build or by one of the same fingerprint; it is decoded all the same,
// because it is from a file.
Result<ViewForms> InspectPages::MetadataForms(const Page& page, const cache::Call& call) {
  const Subject& subject = subjects_[page.subject];
  KILN_TRY(const cache::Blob blob, ContentOf(engine_, *subject.metadata, call));
  KILN_TRY(const artifact::PipelineMetadata metadata, artifact::DecodeMetadata(blob.bytes));
  if (page.view == View::LAYOUT) {
    return ViewForms{.text = artifact::LayoutTable(metadata), .json = {}};
  }
  if (page.view == View::OPTIONS) {
    return OptionsOf(metadata);
  }
  ViewForms forms{.text = artifact::MetadataText(metadata), .json = {}};
  KILN_TRY(forms.json, artifact::MetadataJson(blob.bytes));
  return forms;
}

// Tools that were not written for kiln run in a worker (spec/daemon 12.1), and what they print is
// cleaned, because names in it are the author's.
Result<ViewForms> InspectPages::CodeForms(const Page& page, const cache::Call& call) {
  const Subject& subject = subjects_[page.subject];
  const bool disassembly = page.view == View::DISASM;
  ViewForms forms;
  // Code of all stages in a row, each behind a line that names it, as a comment of its language.
  for (const v1::StageCode& code : subject.code) {
    KILN_TRY(const cache::Blob blob, ContentOf(engine_, code.digest(), call));
    forms.text += fmt::format("{} {}\n", disassembly ? ";" : "//", StageOf(code));
    if (page.view == View::WGSL && IsSpirv(blob.bytes)) {
      return Malformed("views", "the code of this result is SPIR-V: ask for a target of form WGSL");
    }
    if (IsSpirv(blob.bytes)) {
      KILN_TRY(
          const Bytes shown,
          engine_.builder.Show(disassembly ? "dis" : "cross;to=" + page.dialect, blob.bytes, call));
      forms.text += CleanUtf8(AsText(shown));
    } else if (disassembly) {
      return Malformed("views", "the code of this result is text: look at CROSS");
    } else {
      forms.text += CleanUtf8(AsText(blob.bytes));  // what its target translated
    }
  }
  return forms;
}

Result<ViewForms> InspectPages::IrForms(const Subject& subject) const {
  const compile::PreparedProgram& prepared = *subject.prepared;
  std::vector<resolve::OptionSetting> settings = prepared.request.options;
  // The fixed part first and the variant behind it, as the build had them.
  settings.insert(settings.end(), options_.begin(), options_.end());
  const Diagnosed<std::string> text =
      driver::SpecialisedText(*prepared.linked->value, settings, prepared.request.entries);
  // It was specialised with the same settings when it was built.
  KILN_CHECK(text.ok(), "a variant that has a result can be specialised");
  return ViewForms{.text = *text.value, .json = {}};
}

}  // namespace kiln::rpc
