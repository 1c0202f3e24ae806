// SPDX-License-Identifier: MIT
// Keys and tables of kiln.toml, found in text that may be no TOML at the moment.
#include "client/lsp/manifest/keys.h"

#include <algorithm>
#include <array>

namespace kiln::lsp {
namespace {

constexpr auto kKeys = std::to_array<ManifestKeyRow>({
#define KILN_MANIFEST_KEY(table, key, text) {table, key, text},
#include "client/lsp/manifest/keys.def"
});

// Bare keys of TOML.
bool IsKeyByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

// `begin` gets the offset of the line. The line has no line end.
std::string_view LineAt(std::string_view text, uint32_t offset, uint32_t* begin) {
  offset = std::min(offset, static_cast<uint32_t>(text.size()));
  const size_t before = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  const size_t first = before == std::string_view::npos ? 0 : before + 1;
  const size_t end = std::min(text.find('\n', first), text.size());
  *begin = static_cast<uint32_t>(first);
  return text.substr(first, end - first);
}

std::string_view Trimmed(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line;
}

// Whether a line that begins with a bracket is a row of an array of several lines: `["a", "b"],`.
// Names of tables that a manifest has are bare words, and stand alone in their brackets.
bool IsRowOfArray(std::string_view behind_bracket) {
  const std::string_view code = behind_bracket.substr(0, behind_bracket.find('#'));
  return code.empty() ? false
                      : !IsKeyByte(code.front()) || code.find(',') != std::string_view::npos;
}

// "program" of "[[program]]", "target" of "[target.vk]".
std::optional<std::string_view> HeaderOf(std::string_view line) {
  line = Trimmed(line);
  if (!line.starts_with('[')) {
    return std::nullopt;
  }
  line.remove_prefix(line.starts_with("[[") ? 2 : 1);
  if (IsRowOfArray(line)) {
    return std::nullopt;
  }
  size_t end = 0;
  // Only the first word of a dotted header counts: what follows is a name that the author chose.
  while (end < line.size() && IsKeyByte(line[end])) {
    ++end;
  }
  return line.substr(0, end);
}

// Linear in some dozens of rows.
const ManifestKeyRow* FindKey(std::string_view table, std::string_view key) {
  const auto found = std::ranges::find_if(
      kKeys, [&](const ManifestKeyRow& row) { return row.table == table && row.key == key; });
  return found == kKeys.end() ? nullptr : &*found;
}

}  // namespace

std::span<const ManifestKeyRow> ManifestKeys() { return kKeys; }

std::string TableAt(std::string_view text, uint32_t offset) {
  std::string table;
  offset = std::min(offset, static_cast<uint32_t>(text.size()));
  // From the start of the text to the line of the byte; the last header on the way is the table. A
  // manifest is read line by line here, because TOML that is being typed does not parse.
  for (size_t at = 0; at <= offset && at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (const std::optional<std::string_view> header = HeaderOf(text.substr(at, end - at))) {
      table = *header;
    }
    at = end + 1;
  }
  return table;
}

// Nothing where the cursor is at no word, or at one that is no key.
std::optional<ManifestKeyAt> KeyAt(std::string_view text, uint32_t offset) {
  uint32_t first = 0;
  const std::string_view line = LineAt(text, offset, &first);
  uint32_t begin = std::min(offset, static_cast<uint32_t>(text.size()));
  uint32_t end = begin;
  while (begin > first && IsKeyByte(text[begin - 1])) {
    --begin;
  }
  while (end < text.size() && IsKeyByte(text[end])) {
    ++end;
  }
  // No word there.
  if (begin == end) {
    return std::nullopt;
  }
  const std::string key(text.substr(begin, end - begin));
  const bool header = HeaderOf(line).has_value();
  std::string_view behind = Trimmed(text.substr(end));
  // A word that no '=' follows is a value or a part of one. `behind` may begin in the next line,
  // which does no harm: no line begins with '='.
  if (!header && !behind.starts_with('=')) {
    return std::nullopt;
  }
  const std::string table = header ? std::string() : TableAt(text, begin);
  return ManifestKeyAt{.table = table,
                       .key = key,
                       .bytes = {.begin = begin, .end = end},
                       .row = FindKey(table, key)};
}

bool IsAtKey(std::string_view text, uint32_t offset) {
  uint32_t first = 0;
  const std::string_view line = LineAt(text, offset, &first);
  const std::string_view before = Trimmed(line.substr(0, offset - first));
  // Nothing but white space and one unfinished key stands before the cursor.
  return std::ranges::all_of(before, IsKeyByte);
}

}  // namespace kiln::lsp
