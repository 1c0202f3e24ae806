// SPDX-License-Identifier: MIT
// Knows comments and the four kinds of strings, because dots and brackets in them count for
// nothing.
#include "compiler/base/text/toml_bounds.h"

#include <algorithm>

#include <fmt/core.h>

namespace kiln {
namespace {

// Not a parser: it counts, before the parser runs, what the parser would recurse or allocate for.
class Scan {
 public:
  explicit Scan(std::string_view text) : text_(text) {}

  std::optional<TomlExcess> Run() {
    while (at_ < text_.size()) {
      const size_t begin = at_;
      Step();
      // Both are asked after each step, so that the place which is told is where the excess begins.
      if (parts_ > kMaxTomlKeyParts) {
        return Excess(begin, fmt::format("a key of more than {} parts", kMaxTomlKeyParts));
      }
      if (depth_ > kMaxTomlNesting) {
        return Excess(
            begin, fmt::format("more than {} lists and tables within each other", kMaxTomlNesting));
      }
    }
    return std::nullopt;
  }

 private:
  // Each call consumes at least one byte, so the scan is linear.
  void Step() {
    switch (text_[at_]) {
      case '#':
        at_ = std::min(text_.find('\n', at_), text_.size());
        return;
      case '"':
      case '\'':
        SkipString(text_[at_]);
        return;
      // Dots of numbers count too, which does no harm: no number has as many as a key would need.
      case '.':
        ++parts_;
        break;
      case '[':
      case '{':
        ++depth_;
        parts_ = 1;
        break;
      case ']':
      case '}':
        // A closing bracket too many is the parser's to refuse; the count stays at the ground.
        depth_ -= depth_ == 0 ? 0 : 1;
        parts_ = 1;
        break;
      // Each of these ends a key, and the next one begins with its first part.
      case '=':
      case ',':
      case '\n':
        parts_ = 1;
        break;
      default:
        break;
    }
    ++at_;
  }

  // Leaves `at_` behind the string, or behind the text if the string does not end.
  void SkipString(char quote) {
    const std::string three(3, quote);
    const bool escapes = quote == '"';
    if (text_.substr(at_, 3) == three) {
      at_ += 3;
      // An escape takes its next byte with it, so that `\"` does not end the string. Literal
      // strings with single quotes have no escapes.
      while (at_ < text_.size() && text_.substr(at_, 3) != three) {
        at_ += escapes && text_[at_] == '\\' ? 2 : 1;
      }
      at_ += 3;
      for (int i = 0; i < 2 && at_ < text_.size() && text_[at_] == quote; ++i) {
        ++at_;  // up to two quotes before the closing three belong to the text
      }
      return;
    }
    // A string of one line ends with the line, even if its quote is missing: the rest is scanned as
    // what it is.
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n';) {
      at_ += escapes && text_[at_] == '\\' ? 2 : 1;
    }
    ++at_;
  }

  TomlExcess Excess(size_t offset, std::string what) const {
    // The lines are counted only here, where something is wrong.
    const std::string_view before = text_.substr(0, offset);
    const size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
    return {.line = static_cast<uint32_t>(std::ranges::count(before, '\n') + 1),
            .column = static_cast<uint32_t>(offset - line_begin + 1),
            .what = std::move(what)};
  }

  const std::string_view text_;
  size_t at_ = 0;
  uint32_t parts_ = 1;
  uint32_t depth_ = 0;
};

}  // namespace

// Linear in the text; it allocates nothing but the message.
std::optional<TomlExcess> FindTomlExcess(std::string_view text) {
  if (text.size() > kMaxTomlBytes) {
    return TomlExcess{
        .line = 1,
        .column = 1,
        .what = fmt::format("a text of {} bytes; at most {} are read", text.size(), kMaxTomlBytes)};
  }
  return Scan(text).Run();
}

}  // namespace kiln
