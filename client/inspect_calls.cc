// SPDX-License-Identifier: MIT
// Questions about what is there: views of results and explanations. Nothing is compiled for them
// (spec/daemon 4.1). Names of views are those of the command line and stand in one table with what
// they are on the wire.
#include "client/inspect_calls.h"

#include <algorithm>
#include <array>
#include <utility>

#include "client/connection.h"

namespace kiln::client {
namespace {

using View = v1::InspectRequest;

constexpr uint64_t kMostViewBytes = uint64_t{256} << 20;  // of one Inspect, kept until its end

// Several names may be one view of the wire, in different dialects.
struct ViewRow {
  std::string_view name;
  View::View view;
  std::string_view dialect;
};
constexpr std::array kViews{
    ViewRow{"stats", View::STATS, ""},       ViewRow{"meta", View::META, ""},
    ViewRow{"layout", View::LAYOUT, ""},     ViewRow{"options", View::OPTIONS, ""},
    ViewRow{"disasm", View::DISASM, ""},     ViewRow{"ir", View::IR, ""},
    ViewRow{"wgsl", View::WGSL, ""},         ViewRow{"msl", View::CROSS, "msl2.1"},
    ViewRow{"glsl", View::CROSS, "glsl450"}, ViewRow{"hlsl", View::CROSS, "hlsl6.0"}};

// A subject is one of three; the last one is what is left.
v1::InspectRequest RequestOf(const InspectCalls::InspectSubject& subject) {
  v1::InspectRequest request;
  if (const auto* signature = std::get_if<InspectCalls::InspectSignature>(&subject)) {
    request.set_signature(IdOf(signature->hex));
  } else if (const auto* content = std::get_if<InspectCalls::InspectContent>(&subject)) {
    request.mutable_digest()->set_id(IdOf(content->hex));
  } else {
    const auto& variant = std::get<InspectCalls::InspectVariant>(subject);
    ToProto(variant.program, request.mutable_variant()->mutable_inline_program());
    for (const Option& option : variant.options) {
      ToProto(option, request.mutable_variant()->add_options());
    }
  }
  return request;
}

// The same view under two names is asked for once; its replies are told apart by their dialect.
Result<void> AddViews(std::span<const std::string> names, v1::InspectRequest& request) {
  for (const std::string& name : names) {
    const auto row = std::ranges::find(kViews, name, &ViewRow::name);
    if (row == kViews.end()) {
      return Error{.code = ErrorCode::kInvalidArgument,
                   .context = "there is no view '" + name + "'",
                   .reason = "USAGE"};
    }
    // MSL, GLSL and HLSL are one view of the protocol in three dialects: the view is asked for
    // once, with all dialects.
    if (std::ranges::find(request.views(), static_cast<int>(row->view)) == request.views().end()) {
      request.add_views(row->view);
    }
    if (!row->dialect.empty() &&
        std::ranges::find(request.dialects(), row->dialect) == request.dialects().end()) {
      request.add_dialects(std::string(row->dialect));
    }
  }
  return {};
}

// A view that only a newer daemon sends has the name of its dialect, or none; its text is shown all
// the same.
std::string NameOf(const v1::InspectReply& reply) {
  const auto row = std::ranges::find_if(kViews, [&](const ViewRow& candidate) {
    return candidate.view == reply.view() && candidate.dialect == reply.dialect();
  });
  return row == kViews.end() ? reply.dialect() : std::string(row->name);
}

// Fields that an older daemon does not send have their defaults.
Explanation ExplanationFrom(const v1::ExplainRecord& message) {
  Explanation out{
      .seq = message.seq(),
      .at_ms = message.at(),
      .project = message.project(),
      .program = message.program(),
      .target = message.target(),
      .hit = message.hit(),
      .level = message.level(),
      .cause = message.cause(),
      .detail = message.detail(),
      .live_options = {message.live_options().begin(), message.live_options().end()},
      .ignored_options = {message.ignored_options().begin(), message.ignored_options().end()},
      .age_ms = message.age_ms(),
      .signature = HexOf(message.signature()),
      .trace_id = message.trace_id()};
  for (const v1::OptionValue& option : message.options()) {
    out.options.push_back(FromProto(option));
  }
  for (const v1::ExplainRecord::Change& change : message.changes()) {
    out.changes.push_back({.cause = change.cause(),
                           .field = change.field(),
                           .before = change.old(),
                           .after = change.new_(),
                           .detail = change.detail()});
  }
  for (const v1::ExplainRecord::StageTime& time : message.stage_times()) {
    out.stage_times.push_back({.stage = time.stage(), .us = time.us()});
  }
  return out;
}

// As for views: the last of the alternatives is what is left.
v1::ExplainRequest RequestOf(const InspectCalls::ExplainSubject& subject) {
  v1::ExplainRequest request;
  if (const auto* variant = std::get_if<InspectCalls::ExplainVariant>(&subject)) {
    request.set_project(variant->project);
    ToProto(variant->program, request.mutable_variant()->mutable_inline_program());
    for (const Option& option : variant->options) {
      ToProto(option, request.mutable_variant()->add_options());
    }
  } else if (const auto* key = std::get_if<InspectCalls::ExplainKey>(&subject)) {
    request.set_signature(IdOf(key->hex));
  } else if (const auto* number = std::get_if<InspectCalls::ExplainRequest>(&subject)) {
    request.set_seq(number->seq);
  } else if (const auto* batch = std::get_if<InspectCalls::ExplainBatch>(&subject)) {
    request.set_batch_id(IdOf(batch->id));
  } else {
    request.set_last(std::get<InspectCalls::ExplainLast>(subject).count);
  }
  return request;
}

}  // namespace

// Nothing is compiled for an answer, so it has the deadline of calls that only look.
Result<ExplainReply> InspectCalls::Explain(const ExplainSubject& subject) {
  Context context(kAnswerWithin);
  v1::ExplainReply reply;
  const grpc::Status status =
      connection_.compile->Explain(&context.grpc, RequestOf(subject), &reply);
  if (!status.ok()) {
    return context.Failed(status);
  }
  ExplainReply explained{.results = reply.results()};
  for (const v1::ExplainRecord& record : reply.records()) {
    explained.records.push_back(ExplanationFrom(record));
  }
  for (const v1::ExplainReply::CauseCount& row : reply.causes()) {
    explained.causes.push_back({.cause = row.cause(), .count = row.count()});
  }
  return explained;
}

// No deadline, unlike Explain: a view in another language may be made for it, which takes its time.
Result<std::vector<InspectedView>> InspectCalls::Inspect(const InspectSubject& subject,
                                                         std::span<const std::string> views) {
  v1::InspectRequest request = RequestOf(subject);
  KILN_TRY_VOID(AddViews(views, request));
  Context context;
  const auto stream = connection_.compile->Inspect(&context.grpc, request);
  std::vector<InspectedView> seen;
  v1::InspectReply reply;
  // What a daemon sends is kept until its end, so it is bounded; the limit is far above any view.
  uint64_t bytes = 0;
  while (stream->Read(&reply)) {
    bytes += reply.ByteSizeLong();
    if (bytes > kMostViewBytes) {
      context.grpc.TryCancel();
      (void)stream->Finish();  // or the daemon hears of it late
      return Error{.code = ErrorCode::kDataLoss,
                   .context = "the daemon sends views of more than " +
                              std::to_string(kMostViewBytes) + " bytes",
                   .reason = "MORE_THAN_ASKED_FOR"};
    }
    std::string name = NameOf(reply);
    // Long views come in several messages, one behind the other. A view of another name or target
    // begins a new row.
    if (seen.empty() || seen.back().view != name || seen.back().target != reply.target()) {
      seen.push_back({.view = std::move(name), .target = reply.target(), .text = {}, .json = {}});
    }
    seen.back().text += reply.text();
    seen.back().json += reply.json();
  }
  const grpc::Status status = stream->Finish();
  if (!status.ok()) {
    return context.Failed(status);
  }
  return seen;
}

}  // namespace kiln::client
