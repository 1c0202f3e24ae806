// SPDX-License-Identifier: MIT
// Characters of the text form.
#include "compiler/ir/text/text_scanner.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace kiln::ir {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDigit(c) || c == '_';
}
bool IsScalarCharacter(char c) { return IsWordCharacter(c) || c == '.' || c == '-' || c == '+'; }

}  // namespace

// Only the first error counts: those behind it mostly follow from it. The line is counted here and
// not while scanning, as a text that is right never needs it.
void TextScanner::Fail(std::string_view message) {
  if (!error_) {
    const std::string_view before = text_.substr(0, token_);
    // The rest of the line shows where the reading stopped.
    const std::string_view next = text_.substr(token_, text_.find('\n', token_) - token_);
    error_ = Error{.code = ErrorCode::kInvalidArgument,
                   .context = fmt::format("line {}: {} at '{}'",
                                          std::ranges::count(before, '\n') + 1, message, next)};
  }
}

// Lines beginning with `//` may stand anywhere; tests use them to say what a text is about.
void TextScanner::SkipSpace() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (text_.substr(position_).starts_with("//")) {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++position_;
    } else {
      break;
    }
  }
  // Errors are told at the last token, so its place is noted whenever space was skipped.
  token_ = position_;
}

std::string_view TextScanner::TakeWhile(bool (*matches)(char)) {
  const size_t begin = position_;
  while (position_ < text_.size() && matches(text_[position_])) {
    ++position_;
  }
  return text_.substr(begin, position_ - begin);
}

bool TextScanner::AtEnd() {
  SkipSpace();
  return !ok() || position_ == text_.size();
}

// A word has to end where the token ends, or `in` would be found in `inout`. A token of punctuation
// may be followed by anything. After an error nothing matches, which ends the loops of the parsers.
bool TextScanner::Peek(std::string_view token) {
  SkipSpace();
  const std::string_view rest = text_.substr(position_);
  // A token of this grammar is either all word or all punctuation, so its last byte tells which.
  const bool word = IsWordCharacter(token.back());
  return ok() && rest.starts_with(token) &&
         !(word && rest.size() > token.size() && IsWordCharacter(rest[token.size()]));
}

bool TextScanner::Accept(std::string_view token) {
  const bool next = Peek(token);
  position_ += next ? token.size() : 0;
  return next;
}

// A keyword with a colon behind it is the name of a member, and so it is given back.
bool TextScanner::AcceptKeyword(std::string_view word) {
  const size_t before = position_;
  if (!Accept(word)) {
    return false;
  }
  if (Peek(":")) {
    position_ = before;
    return false;
  }
  return true;
}

void TextScanner::Expect(std::string_view token) {
  if (!Accept(token)) {
    Fail(fmt::format("expected '{}'", token));
  }
}

std::string_view TextScanner::Word() {
  SkipSpace();
  const std::string_view word = TakeWhile(IsWordCharacter);
  if (word.empty()) {
    Fail("expected a word");
  }
  return word;
}

std::string_view TextScanner::ScalarWord() {
  SkipSpace();
  const std::string_view word = TakeWhile(IsScalarCharacter);
  if (word.empty()) {
    Fail("expected a constant");
  }
  return word;
}

// Leaf types are no single words: `sampled image_color_2d`, `image(2d ms) f1`, `image_color_2d<u>`.
// Which spaces belong to the type is decided here, whether it is a type at all by ParseLeaf.
std::string_view TextScanner::LeafWord() {
  const std::string_view word = Word();
  const size_t begin = position_ - word.size();
  if (word == "sampled" && position_ < text_.size() && text_[position_] == ' ') {
    ++position_;
    // Not deeper than one level, or a text of `sampled` alone would overflow the stack.
    if (!Peek("sampled")) {
      LeafWord();
    }
    return text_.substr(begin, position_ - begin);
  }
  if (word == "image" && position_ < text_.size() && text_[position_] == '(') {
    // A bracket has to be closed on its line; otherwise the error is told at the bracket and not at
    // the end of the text.
    position_ = std::min(text_.find_first_of(")\n", position_), text_.size());
    Expect(")");
    Word();
    return text_.substr(begin, position_ - begin);
  }
  if (position_ == text_.size() || text_[position_] != '<') {
    return word;
  }
  ++position_;
  Word();
  Expect(">");
  return text_.substr(begin, position_ - begin);
}

uint32_t TextScanner::Number() {
  const std::string_view digits = Word();
  uint32_t number = 0;
  // Decimal digits only; whatever else the word has is an error.
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    Fail("expected a number");
  }
  return number;
}

std::string TextScanner::Quoted() {
  Expect("\"");
  std::string text;
  while (ok() && position_ < text_.size() && text_[position_] != '"') {
    if (text_[position_] != '\\') {
      text += text_[position_++];
      continue;
    }
    // Two digits exactly, as Quote writes them; with fewer of them the byte would depend on the
    // letter behind it.
    uint8_t byte = 0;
    const char* digits = text_.data() + position_ + 2;
    if (text_.substr(position_).size() < 4 || text_[position_ + 1] != 'x' ||
        std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) {
      Fail("expected \\xNN");
    }
    text += static_cast<char>(byte);
    position_ += 4;
  }
  Expect("\"");
  return text;
}

// Class and bits are one word (`unorm8`), which is cut at its first digit.
std::pair<PackClass, uint8_t> TextScanner::ReadPack() {
  const std::string_view word = Word();
  // A word without digits leaves an empty text, which from_chars refuses.
  const std::string_view digits =
      word.substr(std::min(word.find_first_of("0123456789"), word.size()));
  uint8_t bits = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    Fail("expected a class and bits");
  }
  return {Known(FromName<PackClass>(word.substr(0, word.size() - digits.size()))), bits};
}

// `x#2` is the second thing with the name `x`. The key keeps the number, so it tells things apart,
// and the base is the name as the source has it. A name that contains `#` itself is quoted, so the
// number stands behind the quotes.
TextScanner::Name TextScanner::ReadName() {
  Name name;
  name.quoted = Peek("\"");
  name.base = name.quoted ? Quoted() : std::string(Word());
  name.key = name.base;
  if (position_ < text_.size() && text_[position_] == '#') {
    ++position_;
    name.key += fmt::format("#{}", Number());
  }
  return name;
}

}  // namespace kiln::ir
