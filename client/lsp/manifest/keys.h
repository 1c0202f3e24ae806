// SPDX-License-Identifier: MIT
// Keys of kiln.toml with their meaning (keys.def), and which one stands at a place of a
// text. The text is read line by line, so that it may be wrong elsewhere.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "compiler/source/span.h"

namespace kiln::lsp {

struct ManifestKeyRow {
  std::string_view table;
  std::string_view key;
  std::string_view text;
};
std::span<const ManifestKeyRow> ManifestKeys();

// The table that a byte is in: "program" behind [[program]], "target" behind [target.vk]; "axes"
// for [axes.mesh]; "" before the first header.
std::string TableAt(std::string_view text, uint32_t offset);

// The key, or word of a header, that covers the byte.
struct ManifestKeyAt {
  std::string table;
  std::string key;
  Span bytes;
  const ManifestKeyRow* row = nullptr;  // null: no key of kiln.toml
};
std::optional<ManifestKeyAt> KeyAt(std::string_view text, uint32_t offset);

// Whether the byte is where a key begins its line, or before its '='.
bool IsAtKey(std::string_view text, uint32_t offset);

}  // namespace kiln::lsp
