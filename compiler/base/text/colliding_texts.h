// SPDX-License-Identifier: MIT
// Two texts with one XXH3-128 of seed 0, which nobody has to search for. For tests.
//
// XXH3 adds the product of the halves of (lane ^ secret) to an accumulator, and the lane itself to
// its neighbour. Where the upper half of a lane is that of the secret the product is zero, whatever
// the lower half is; two such lanes of one accumulator may exchange their lower halves, and the sum
// stays.
#pragma once

#include <string>
#include <string_view>

#include "compiler/base/check.h"

namespace kiln {

struct CollidingTexts {
  std::string first, second;  // UTF-8; they differ in one digit each of code and of a comment
};

// `before`, a digit, a comment to the end of the line, `after`: in the first text the digit is 5,
// in the second 7. Requires: `before` has no more than kMostBefore bytes.
inline CollidingTexts TextsOfOneXxh3(std::string_view before, std::string_view after) {
  constexpr size_t kLanes[] = {448, 704};  // of accumulator 0, in the stripes 7 and 11
  constexpr size_t kMostBefore = kLanes[0] - 3;
  // Bytes 4 to 7 of the secret at 8 x 7 and 8 x 11, as UTF-8: they end a letter, and the second
  // begin one, too.
  constexpr std::string_view kUpper[] = {"\x81\x3a\x26\x4c", "\xa9\xde\xac\xd8"};
  KILN_CHECK(before.size() <= kMostBefore);
  const auto text_with = [&](char in_code, char in_comment) {
    std::string text = "//" + std::string(kMostBefore - before.size(), '.') + "\n";
    text.append(before).append(1, in_code).append("//\xc3").append(kUpper[0]).append("\n");
    text.append(after);
    KILN_CHECK(text.size() + 3 <= kLanes[1]);
    text.append("//").append(kLanes[1] - 2 - text.size(), '.');
    text.resize(kLanes[1], '.');
    text.append(1, in_comment).append("//\xc3").append(kUpper[1]).append("\xa8");
    return text.append(100, '.').append("\n");  // the last stripe has a secret of its own
  };
  return {.first = text_with('5', '7'), .second = text_with('7', '5')};
}

}  // namespace kiln
