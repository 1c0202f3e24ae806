// SPDX-License-Identifier: MIT
// JSON-RPC 2.0: content of a frame -> request, notification or answer; outcome -> answer.
// Spec: LSP 3.17 "Base Protocol".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "client/lsp/protocol/json.h"

namespace kiln::lsp {

enum class RpcCode : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kServerNotInitialized = -32002,
  kRequestFailed = -32803,
  kContentModified = -32801,
  kRequestCancelled = -32800,
};

struct RpcError {
  RpcCode code = RpcCode::kInternalError;
  std::string message;
};

// What a request comes to.
using Outcome = std::variant<Json, RpcError>;

inline RpcError InvalidParams(std::string message) {
  return {.code = RpcCode::kInvalidParams, .message = std::move(message)};
}
inline RpcError Failed(std::string message) {
  return {.code = RpcCode::kRequestFailed, .message = std::move(message)};
}

struct RpcMessage {
  enum class Kind : uint8_t { kRequest, kNotification, kAnswer };
  Kind kind = Kind::kNotification;
  Json id;              // a number or a text; null of notifications
  std::string method;   // empty of answers
  Json params;          // of answers: the result, null if there is none
  bool failed = false;  // of answers: it is an error
};

// A message, or what to answer: kParseError, kInvalidRequest. `id` of the answer is that of the
// message where one can be told.
struct BadRpcMessage {
  Json id;
  RpcError error;
};
std::variant<RpcMessage, BadRpcMessage> ReadMessage(std::string_view content);

Json AnswerOf(const Json& id, Outcome outcome);
Json NotificationOf(std::string_view method, Json params);
Json RequestOf(int64_t id, std::string_view method, Json params);

}  // namespace kiln::lsp
