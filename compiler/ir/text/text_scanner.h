// SPDX-License-Identifier: MIT
// Reads the text form piece by piece. The first thing that does not fit is remembered; from then on
// everything fails quickly, so that readers check once, in their loops and at the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/base/result.h"
#include "compiler/ir/enum_names.h"

namespace kiln::ir {

class TextScanner {
 public:
  explicit TextScanner(std::string_view text) : text_(text) {}

  // A name with an optional "#n" that tells equal names apart.
  struct Name {
    std::string base;
    std::string key;  // base, or base#n
    bool quoted = false;
  };

  bool ok() const { return !error_; }
  // Requires: !ok().
  Error error() const { return *error_; }
  void Fail(std::string_view message);

  bool AtEnd();  // or failed
  // Skips `token` if it is next. A token of word characters matches whole words only.
  bool Accept(std::string_view token);
  void Expect(std::string_view token);
  bool Peek(std::string_view token);
  // Skips `word` if it is next and not the name of a member: no colon stands behind it.
  bool AcceptKeyword(std::string_view word);

  std::string_view Word();  // letters, digits, underscores
  Name ReadName();          // word or quoted, with "#n"
  std::string Quoted();
  uint32_t Number();
  // A number with sign, point and exponent, or a word: what ParseScalar reads.
  std::string_view ScalarWord();
  // A word, with "<word>" behind it if there is one, or an image in its long form: what ParseLeaf
  // reads.
  std::string_view LeafWord();

  // "unorm8": class and bits in one word.
  std::pair<PackClass, uint8_t> ReadPack();

  template <class Enum>
  Enum ReadEnum() {
    return Known(FromName<Enum>(Word()));
  }
  // The value, or a failure and a value that is never used.
  template <class T>
  T Known(const std::optional<T>& value) {
    if (!value) {
      Fail("unknown word");
    }
    return value.value_or(T{});
  }

 private:
  void SkipSpace();
  std::string_view TakeWhile(bool (*matches)(char));

  std::string_view text_;
  size_t position_ = 0;
  size_t token_ = 0;  // start of the last thing read, for messages
  std::optional<Error> error_;
};

}  // namespace kiln::ir
