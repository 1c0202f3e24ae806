// SPDX-License-Identifier: MIT
// Inspect: chunks of a stream -> whole views.
#include <algorithm>
#include <array>
#include <utility>

#include "client/state.h"

namespace kiln::client {
namespace {

using View = v1::InspectRequest;

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

v1::InspectRequest RequestOf(const Client::InspectSubject& subject) {
  v1::InspectRequest request;
  if (const auto* signature = std::get_if<Client::InspectSignature>(&subject)) {
    request.set_signature(IdOf(signature->hex));
  } else if (const auto* content = std::get_if<Client::InspectContent>(&subject)) {
    request.mutable_digest()->set_id(IdOf(content->hex));
  } else {
    const auto& variant = std::get<Client::InspectVariant>(subject);
    ToProto(variant.program, request.mutable_variant()->mutable_inline_program());
    for (const Option& option : variant.options) {
      ToProto(option, request.mutable_variant()->add_options());
    }
  }
  return request;
}

Result<void> AddViews(std::span<const std::string> names, v1::InspectRequest& request) {
  for (const std::string& name : names) {
    const auto row = std::ranges::find(kViews, name, &ViewRow::name);
    if (row == kViews.end()) {
      return Error{.code = ErrorCode::kInvalidArgument,
                   .context = "there is no view '" + name + "'",
                   .reason = "USAGE"};
    }
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

std::string NameOf(const v1::InspectReply& reply) {
  const auto row = std::ranges::find_if(kViews, [&](const ViewRow& candidate) {
    return candidate.view == reply.view() && candidate.dialect == reply.dialect();
  });
  return row == kViews.end() ? reply.dialect() : std::string(row->name);
}

}  // namespace

Result<std::vector<InspectedView>> Client::Inspect(const InspectSubject& subject,
                                                   std::span<const std::string> views) {
  v1::InspectRequest request = RequestOf(subject);
  KILN_TRY_VOID(AddViews(views, request));
  Context context;
  const auto stream = state_->compile->Inspect(&context.grpc, request);
  std::vector<InspectedView> seen;
  v1::InspectReply reply;
  while (stream->Read(&reply)) {
    std::string name = NameOf(reply);
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
