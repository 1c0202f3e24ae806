// SPDX-License-Identifier: MIT
// Contents of one kind that resemble each other as modules do, for tests of dictionaries: the same
// for the same number.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "compiler/base/bytes.h"

namespace kiln::cache {

// SPIR-V by its first bytes: phrases that all of them have, in another order, between random words.
inline Bytes LikeCode(uint64_t number) {
  std::mt19937_64 common(7);
  std::vector<Bytes> phrases(120);
  for (Bytes& phrase : phrases) {
    while (phrase.size() < 48) {
      AppendLittle<uint64_t>(phrase, common());
    }
  }
  std::mt19937_64 random(number);
  Bytes code;
  AppendLittle<uint32_t>(code, 0x07230203);
  AppendLittle<uint64_t>(code, number);
  for (int i = 0; i < 40; ++i) {
    Append(code, phrases[random() % phrases.size()]);
    AppendLittle<uint64_t>(code, random());
  }
  return code;
}

inline std::vector<Bytes> LikeCodes(uint64_t first, uint64_t end) {
  std::vector<Bytes> codes;
  for (uint64_t number = first; number < end; ++number) {
    codes.push_back(LikeCode(number));
  }
  return codes;
}

}  // namespace kiln::cache
