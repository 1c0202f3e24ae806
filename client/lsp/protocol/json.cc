// SPDX-License-Identifier: MIT
// JSON of messages: bounded depth, and questions that never throw.
#include "client/lsp/protocol/json.h"

#include <utility>

namespace kiln::lsp {
namespace {

// Brackets are counted before anything is parsed, so that no text, however deep, costs more than
// its length. Those inside of strings do not count.
bool IsShallow(std::string_view text) {
  size_t depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      i += c == '\\' ? 1 : 0;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxJsonDepth) {
        return false;
      }
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return true;
}

}  // namespace

// Nothing for a text that is no JSON or too deep. Members that come twice are the library's matter,
// which keeps the last.
std::optional<Json> ParseJson(std::string_view text) {
  if (!IsShallow(text)) {
    return std::nullopt;
  }
  // Without exceptions: a text that is no JSON is an answer, not a failure. The parser checks
  // UTF-8.
  Json value = Json::parse(text, nullptr, false);
  return value.is_discarded() ? std::nullopt : std::optional(std::move(value));
}

const Json* Find(const Json& value, std::string_view key) {
  if (!value.is_object()) {
    return nullptr;
  }
  const auto found = value.find(key);
  return found == value.end() ? nullptr : &*found;
}

// An empty path is the value itself.
const Json* FindPath(const Json& value, std::string_view path) {
  // Members of the protocol have no '/' in their names.
  const Json* at = &value;
  while (at != nullptr && !path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    at = Find(*at, path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return at;
}

std::optional<std::string> TextAt(const Json& value, std::string_view path) {
  const Json* found = FindPath(value, path);
  return found != nullptr && found->is_string() ? std::optional(found->get<std::string>())
                                                : std::nullopt;
}

std::optional<int64_t> IntegerAt(const Json& value, std::string_view path) {
  const Json* found = FindPath(value, path);
  if (found == nullptr || !found->is_number_integer()) {
    return std::nullopt;
  }
  // The library keeps every number without a sign as an unsigned one, and a cast of those above
  // 2^63 would wrap.
  if (found->is_number_unsigned() && found->get<uint64_t>() > uint64_t{INT64_MAX}) {
    return std::nullopt;
  }
  return found->get<int64_t>();
}

std::optional<bool> FlagAt(const Json& value, std::string_view path) {
  const Json* found = FindPath(value, path);
  return found != nullptr && found->is_boolean() ? std::optional(found->get<bool>()) : std::nullopt;
}

// Bytes that are no UTF-8 are replaced: a message must be valid, and a name from a file system may
// be anything.
std::string Dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kiln::lsp
