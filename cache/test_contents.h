// SPDX-License-Identifier: MIT
// Contents of one kind that resemble each other, for tests of dictionaries and blocks: the same for
// the same number.
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

// A SPIR-V module as a compiler makes it, of variant `bits`: some constants and functions are there
// or not, so that ids differ from variant to variant while what they stand for does not.
inline Bytes SampleModule(uint32_t bits) {
  std::vector<uint32_t> words{0x07230203, 0x00010300, 0, 0, 0};
  uint32_t id = 0;
  const auto add = [&](uint32_t opcode, const std::vector<uint32_t>& operands) {
    words.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | opcode);
    words.insert(words.end(), operands.begin(), operands.end());
  };
  add(17, {1});     // OpCapability Shader
  add(14, {0, 1});  // OpMemoryModel
  const size_t name_place = words.size();
  const uint32_t void_type = ++id;
  add(19, {void_type});
  const uint32_t float_type = ++id;
  add(22, {float_type, 32});
  const uint32_t function_type = ++id;
  add(33, {function_type, void_type});
  std::vector<uint32_t> constants;
  for (uint32_t i = 0; i < 40; ++i) {
    if (i >= 12 || (bits >> i & 1) != 0) {
      constants.push_back(++id);
      add(43, {float_type, id, i * 7});  // OpConstant
    }
  }
  std::vector<uint32_t> functions;
  for (uint32_t f = 0; f < 12; ++f) {
    if (f >= 6 || (bits >> f & 1) == 0) {
      functions.push_back(++id);
      add(54, {void_type, id, 0, function_type});
      add(248, {++id});
      std::mt19937 random(f);
      uint32_t before = constants[constants.size() - 1 - f];
      for (uint32_t i = 0; i < 24; ++i) {
        const uint32_t with = constants[constants.size() - 1 - random() % 20];
        add(133, {float_type, ++id, before, with});  // OpFMul
        before = id;
      }
      if (f != 11) {
        add(57, {void_type, ++id, functions[0]});
      }
      add(253, {});
      add(56, {});
    }
  }
  words[3] = id + 1;
  std::vector<uint32_t> debug;
  for (const uint32_t function : functions) {
    debug.insert(debug.end(), {3U << 16 | 5, function, 0x66});  // OpName "f"
  }
  words.insert(words.begin() + static_cast<ptrdiff_t>(name_place), debug.begin(), debug.end());
  const ByteView bytes = std::as_bytes(std::span<const uint32_t>(words));
  return {bytes.begin(), bytes.end()};
}

// Modules of which none has the ids of the one before: what zstd finds in them, it finds with
// symbols alone. Different ones for numbers below 17.
inline Bytes ModuleWithOtherIds(uint32_t number) {
  return SampleModule(((1U << number % 12) - 1) ^ (number / 12 << 5));
}

}  // namespace kiln::cache
