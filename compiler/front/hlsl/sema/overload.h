// SPDX-License-Identifier: MIT
// Which of several functions a call means. Pure: types of arguments and of parameters -> one, none
// or several. See spec/hlsl 9.4
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/front/hlsl/sema/conversion.h"

namespace kiln::hlsl {

enum class Passing : uint8_t { kIn, kOut, kInOut };

struct ParameterType {
  TypeId type;
  Passing passing = Passing::kIn;
  bool optional = false;  // has a default
};
struct Candidate {
  std::span<const ParameterType> parameters;
};

inline constexpr uint32_t kNoCandidate = 0xffffffffu;
struct Choice {
  uint32_t candidate = kNoCandidate;
  std::vector<uint32_t> fitting;  // more than one if the call is ambiguous: these are as good
};
// Cost: candidates × arguments × candidates that fit.
Choice Choose(const Types& types, std::span<const Candidate> candidates,
              std::span<const TypeId> arguments, Dialect dialect);

}  // namespace kiln::hlsl
