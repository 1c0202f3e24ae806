// SPDX-License-Identifier: MIT
// JSON of the protocol: reading what a peer sent without trusting its types or its depth.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace kiln::lsp {

using Json = nlohmann::json;

// Brackets in each other that a message may have; those of the protocol have ten.
inline constexpr size_t kMaxJsonDepth = 64;

// Nothing if the text is no JSON, not UTF-8, or nested deeper than kMaxJsonDepth.
std::optional<Json> ParseJson(std::string_view text);

// The member of an object; null if `value` is none or lacks it.
const Json* Find(const Json& value, std::string_view key);
// The member at a path of keys, "textDocument/uri".
const Json* FindPath(const Json& value, std::string_view path);

// Members at a path as what they are; nothing if they are absent or something else.
std::optional<std::string> TextAt(const Json& value, std::string_view path);
std::optional<int64_t> IntegerAt(const Json& value, std::string_view path);
std::optional<bool> FlagAt(const Json& value, std::string_view path);

// One line; bytes that are no UTF-8 become U+FFFD.
std::string Dump(const Json& value);

}  // namespace kiln::lsp
