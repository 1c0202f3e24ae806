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

// Where the lines of a text begin, and marks in lines that are long, so that no place costs a walk
// over the whole of its line.
class LineTable {
 public:
  // A walk to a place is shorter than this and a character.
  static constexpr uint32_t kBytesPerMark = 512;

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

  // The start of a character of the line, and how many code units of the line lie before it.
  struct Mark {
    uint32_t offset = 0;
    uint32_t character = 0;
  };
  // The last mark of the line that is not behind the byte: where the walk to it begins. Requires:
  // line < line_count().
  Mark MarkBefore(uint32_t line, uint32_t offset, Encoding encoding) const;

 private:
  void AddMarks(std::string_view text, uint32_t begin, uint32_t end);
  Mark MarkOf(uint32_t line, size_t number, Encoding encoding) const;

  std::vector<uint32_t> starts_;
  // Of lines that are longer than kBytesPerMark, ascending; characters are those of UTF-16. In
  // UTF-8 a character of the protocol is a byte.
  std::vector<Mark> marks_;
};

// {"line": 1, "character": 2}; nothing if it is something else or a number is out of range.
std::optional<Position> ReadPosition(const Json* json);
std::optional<Range> ReadRange(const Json* json);
Json JsonOf(Position position);
Json JsonOf(const Range& range);

}  // namespace kiln::lsp
