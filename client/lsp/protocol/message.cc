// SPDX-License-Identifier: MIT
// Messages of JSON-RPC 2.0. Batches are not read, as the protocol has none.
#include "client/lsp/protocol/message.h"

namespace kiln::lsp {
namespace {

// JSON-RPC advises against fractions, and the protocol does not allow them.
bool IsId(const Json& id) { return id.is_number_integer() || id.is_string(); }

BadRpcMessage Invalid(Json id, std::string text) {
  return {.id = std::move(id),
          .error = {.code = RpcCode::kInvalidRequest, .message = std::move(text)}};
}

}  // namespace

// Only the envelope is checked; each method checks its own parameters.
std::variant<RpcMessage, BadRpcMessage> ReadMessage(std::string_view content) {
  std::optional<Json> json = ParseJson(content);
  if (!json.has_value()) {
    return BadRpcMessage{.id = nullptr,
                         .error = {.code = RpcCode::kParseError,
                                   .message = "the message is no JSON, or is nested too deep"}};
  }
  if (!json->is_object()) {
    return Invalid(nullptr, "a message is an object");
  }
  const Json* id = Find(*json, "id");
  // An error is answered with the id of the message where there is a usable one; the protocol asks
  // for null otherwise.
  Json known = id != nullptr && IsId(*id) ? *id : Json(nullptr);
  if (TextAt(*json, "jsonrpc") != "2.0") {
    return Invalid(std::move(known), "\"jsonrpc\" is not \"2.0\"");
  }
  const Json* method = Find(*json, "method");
  // Without a method it can only be an answer to a request of the server. An answer with an error
  // counts as one without a result.
  if (method == nullptr) {
    if (id == nullptr || (Find(*json, "result") == nullptr && Find(*json, "error") == nullptr)) {
      return Invalid(std::move(known), "a message has a method, or is an answer");
    }
    const Json* result = Find(*json, "result");
    return RpcMessage{.kind = RpcMessage::Kind::kAnswer,
                      .id = std::move(known),
                      .method = {},
                      .params = result != nullptr ? *result : Json(nullptr),
                      .failed = Find(*json, "error") != nullptr};
  }
  if (!method->is_string()) {
    return Invalid(std::move(known), "\"method\" is a text");
  }
  // A null id is not taken for a notification: the client would wait for ever.
  if (id != nullptr && known.is_null()) {
    return Invalid(nullptr, "an id is a whole number or a text");
  }
  const Json* params = Find(*json, "params");
  if (params != nullptr && !params->is_structured() && !params->is_null()) {
    return Invalid(std::move(known), "\"params\" is an object or an array");
  }
  return RpcMessage{
      .kind = id != nullptr ? RpcMessage::Kind::kRequest : RpcMessage::Kind::kNotification,
      .id = std::move(known),
      .method = method->get<std::string>(),
      .params = params != nullptr ? *params : Json::object(),
      .failed = false};
}

// Either a result or an error, never both; a result may be null.
Json AnswerOf(const Json& id, Outcome outcome) {
  Json answer{{"jsonrpc", "2.0"}, {"id", id}};
  if (auto* error = std::get_if<RpcError>(&outcome)) {
    answer["error"] = {{"code", static_cast<int>(error->code)},
                       {"message", std::move(error->message)}};
  } else {
    answer["result"] = std::move(std::get<Json>(outcome));
  }
  return answer;
}

Json NotificationOf(std::string_view method, Json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

Json RequestOf(int64_t id, std::string_view method, Json params) {
  Json request{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}};
  // JSON-RPC allows params to be an object or an array, or absent, but not null.
  if (!params.is_null()) {
    request["params"] = std::move(params);
  }
  return request;
}

}  // namespace kiln::lsp
