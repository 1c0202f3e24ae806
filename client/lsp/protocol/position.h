// SPDX-License-Identifier: MIT
// Positions of the protocol (line, character in code units of a negotiated encoding) <-> bytes of a
// text. Lines end with "\n", "\r\n" or "\r", as kiln::LineIndex has them.
// Spec: LSP 3.17 "Text Documents", PositionEncodingKind.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "client/lsp/protocol/json.h"
#include "compiler/source/span.h"

namespace kiln::lsp {

enum class Encoding : uint8_t { kUtf16, kUtf8 };

// The encoding that a client offers first among those that are known; kUtf16 if it says nothing.
Encoding ChooseEncoding(const Json& initialize_params);
std::string_view EncodingText(Encoding encoding);

struct Position {
  uint32_t line = 0;
  uint32_t character = 0;
  friend auto operator<=>(const Position&, const Position&) = default;
};
struct Range {
  Position start;
  Position end;
};

// Where the lines of a text begin.
class LineTable {
 public:
  explicit LineTable(std::string_view text);

  uint32_t line_count() const { return static_cast<uint32_t>(starts_.size()); }
  uint32_t LineOf(uint32_t offset) const;
  // Bytes of a line without its end. Requires: line < line_count(); `text` is that of the table.
  Span LineSpan(std::string_view text, uint32_t line) const;

  // A byte inside a character belongs to its start; beyond the end is the end.
  Position At(std::string_view text, uint32_t offset, Encoding encoding) const;
  // Nothing if there is no such line. A character beyond the line's end is its end, one inside of a
  // surrogate pair the start of that.
  std::optional<uint32_t> OffsetOf(std::string_view text, Position at, Encoding encoding) const;

 private:
  std::vector<uint32_t> starts_;
};

// {"line": 1, "character": 2}; nothing if it is something else or a number is out of range.
std::optional<Position> ReadPosition(const Json* json);
std::optional<Range> ReadRange(const Json* json);
Json JsonOf(Position position);
Json JsonOf(const Range& range);

}  // namespace kiln::lsp
