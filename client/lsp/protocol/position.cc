// SPDX-License-Identifier: MIT
// Lines and characters of the protocol, and bytes. A table of line starts, and one of marks in long
// lines, make both directions a search and a walk over at most kBytesPerMark bytes: places are
// asked for by the hundred thousand, and whole sources stand on one line.
#include "client/lsp/protocol/position.h"

#include <algorithm>
#include <ranges>

#include "compiler/base/text/utf8.h"
#include "compiler/base/threads/stop.h"

namespace kiln::lsp {
namespace {

// Bytes and code units of the character at the start of `text`, which is not empty. A byte that
// begins none counts as one of both, so that any text has positions.
struct Character {
  uint32_t bytes = 1;
  uint32_t units = 1;
};
Character FirstOf(std::string_view text, Encoding encoding) {
  if (static_cast<unsigned char>(text.front()) < 0x80) {
    return {};
  }
  const CodePoint point = DecodeUtf8(text);
  if (point.size <= 1) {
    return {};
  }
  // A character outside of the basic plane takes two code units of UTF-16, a surrogate pair.
  const uint32_t units =
      encoding == Encoding::kUtf8 ? point.size : (point.value >= 0x10000 ? 2u : 1u);
  return {.bytes = point.size, .units = units};
}

// Nothing for a number that is negative or too large.
std::optional<uint32_t> UnsignedAt(const Json& json, std::string_view key) {
  const std::optional<int64_t> number = IntegerAt(json, key);
  // The protocol's `uinteger` has 31 bits.
  return number.has_value() && *number >= 0 && *number <= INT32_MAX
             ? std::optional(static_cast<uint32_t>(*number))
             : std::nullopt;
}

}  // namespace

// UTF-16 is what the protocol assumes where nothing is offered.
Encoding ChooseEncoding(const Json& initialize_params) {
  const Json* offered = FindPath(initialize_params, "capabilities/general/positionEncodings");
  if (offered != nullptr && offered->is_array()) {
    // The client's order counts. UTF-8 saves both sides the walk over a line.
    for (const Json& one : *offered) {
      if (one == "utf-8") {
        return Encoding::kUtf8;
      }
      if (one == "utf-16") {
        return Encoding::kUtf16;
      }
    }
  }
  return Encoding::kUtf16;
}

std::string_view EncodingText(Encoding encoding) {
  return encoding == Encoding::kUtf8 ? "utf-8" : "utf-16";
}

LineTable::LineTable(std::string_view text) : starts_{0} {
  // A '\r' ends a line unless a '\n' follows, which then ends it.
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'))) {
      AddMarks(text, starts_.back(), static_cast<uint32_t>(i));
      starts_.push_back(static_cast<uint32_t>(i + 1));
    }
  }
  AddMarks(text, starts_.back(), static_cast<uint32_t>(text.size()));
}

// Once over a long line, a mark at the first character behind each kBytesPerMark bytes.
void LineTable::AddMarks(std::string_view text, uint32_t begin, uint32_t end) {
  if (end - begin <= kBytesPerMark) {
    return;
  }
  uint32_t character = 0;
  uint32_t next = begin + kBytesPerMark;
  for (uint32_t i = begin; i < end;) {
    if (i >= next) {
      marks_.push_back({.offset = i, .character = character});
      next = i + kBytesPerMark;
    }
    const Character one = FirstOf(text.substr(i, end - i), Encoding::kUtf16);
    i += one.bytes;
    character += one.units;
  }
}

// The same bytes are the same characters in both encodings, so marks fall on characters of both.
LineTable::Mark LineTable::MarkOf(uint32_t line, size_t number, Encoding encoding) const {
  const Mark& mark = marks_[number];
  return {.offset = mark.offset,
          .character = encoding == Encoding::kUtf8 ? mark.offset - starts_[line] : mark.character};
}

LineTable::Mark LineTable::MarkBefore(uint32_t line, uint32_t offset, Encoding encoding) const {
  const auto behind = std::ranges::upper_bound(marks_, offset, {}, &Mark::offset);
  if (behind == marks_.begin() || (behind - 1)->offset < starts_[line]) {
    return {.offset = starts_[line], .character = 0};
  }
  return MarkOf(line, static_cast<size_t>(behind - marks_.begin()) - 1, encoding);
}

// Binary search. The first line starts at zero, so there is always one.
uint32_t LineTable::LineOf(uint32_t offset) const {
  const auto behind = std::upper_bound(starts_.begin(), starts_.end(), offset);
  return static_cast<uint32_t>(behind - starts_.begin()) - 1;
}

// Without its line end. Requires that the line exists.
Span LineTable::LineSpan(std::string_view text, uint32_t line) const {
  const uint32_t begin = starts_[line];
  uint32_t end = line + 1 < starts_.size() ? starts_[line + 1] : static_cast<uint32_t>(text.size());
  while (end > begin && (text[end - 1] == '\n' || text[end - 1] == '\r')) {
    --end;
  }
  return {.begin = begin, .end = end};
}

// An offset within a line end counts as the end of the line's text. Whoever makes places makes
// many, so this is where all of them ask whether to stop.
Position LineTable::At(std::string_view text, uint32_t offset, Encoding encoding) const {
  CheckStop();
  offset = std::min(offset, static_cast<uint32_t>(text.size()));
  const uint32_t line = LineOf(offset);
  const Span bytes = LineSpan(text, line);
  const Mark mark = MarkBefore(line, std::min(offset, bytes.end), encoding);
  Position at{.line = line, .character = mark.character};
  for (uint32_t i = mark.offset; i < std::min(offset, bytes.end);) {
    const Character next = FirstOf(text.substr(i, bytes.end - i), encoding);
    i += next.bytes;
    // A byte inside of a character counts as its start: the character's units are only added once
    // all of its bytes lie before the offset.
    at.character += i <= offset ? next.units : 0;
  }
  return at;
}

// A character behind the end of the line means its end, as the protocol says.
std::optional<uint32_t> LineTable::OffsetOf(std::string_view text, Position at,
                                            Encoding encoding) const {
  CheckStop();
  if (at.line >= line_count()) {
    return std::nullopt;
  }
  const Span bytes = LineSpan(text, at.line);
  // The last mark of the line that does not lie behind the character.
  const auto first = static_cast<size_t>(
      std::ranges::lower_bound(marks_, bytes.begin, {}, &Mark::offset) - marks_.begin());
  const auto last = static_cast<size_t>(
      std::ranges::lower_bound(marks_, bytes.end, {}, &Mark::offset) - marks_.begin());
  const auto numbers = std::views::iota(first, last);
  const auto behind = std::ranges::partition_point(numbers, [&](size_t number) {
    return MarkOf(at.line, number, encoding).character <= at.character;
  });
  const Mark mark = behind == numbers.begin() ? Mark{.offset = bytes.begin, .character = 0}
                                              : MarkOf(at.line, *(behind - 1), encoding);
  uint32_t offset = mark.offset;
  uint32_t character = mark.character;
  while (offset < bytes.end) {
    const Character next = FirstOf(text.substr(offset, bytes.end - offset), encoding);
    // The wanted position lies inside of this character, a surrogate pair: its start is taken.
    if (character + next.units > at.character) {
      break;
    }
    character += next.units;
    offset += next.bytes;
  }
  return offset;
}

std::optional<Position> ReadPosition(const Json* json) {
  if (json == nullptr) {
    return std::nullopt;
  }
  const std::optional<uint32_t> line = UnsignedAt(*json, "line");
  const std::optional<uint32_t> character = UnsignedAt(*json, "character");
  if (!line.has_value() || !character.has_value()) {
    return std::nullopt;
  }
  return Position{.line = *line, .character = *character};
}

std::optional<Range> ReadRange(const Json* json) {
  if (json == nullptr) {
    return std::nullopt;
  }
  const std::optional<Position> start = ReadPosition(Find(*json, "start"));
  const std::optional<Position> end = ReadPosition(Find(*json, "end"));
  if (!start.has_value() || !end.has_value()) {
    return std::nullopt;
  }
  return Range{.start = *start, .end = *end};
}

Json JsonOf(Position position) {
  return {{"line", position.line}, {"character", position.character}};
}

Json JsonOf(const Range& range) {
  // Three objects with six members: an answer has as many ranges as the text has names.
  constexpr uint64_t kJsonBytes = 768;
  ChargeMemory(kJsonBytes);
  return {{"start", JsonOf(range.start)}, {"end", JsonOf(range.end)}};
}

}  // namespace kiln::lsp
