// SPDX-License-Identifier: MIT
// Each argument has a rank, shape before item. One candidate is better than another if it is
// nowhere worse and somewhere better; the choice is the one that is better than all others.
#include "compiler/front/hlsl/sema/overload.h"

#include <algorithm>
#include <optional>

#include "compiler/base/threads/stop.h"

namespace kiln::hlsl {
namespace {

// Shape and item of one direction as one number; nothing if it does not convert.
// Four item ranks fit below a shape rank. A conversion of structs is worse than any of numbers.
std::optional<uint32_t> RankOf(const Types& types, TypeId from, TypeId to, Dialect dialect) {
  const Conversion conversion = ConversionOf(types, from, to, dialect);
  if (!conversion.implicit) {
    return std::nullopt;
  }
  const bool numbers = conversion.kind != ConversionKind::kLeaves;
  return numbers ? conversion.shape_rank * 4u + conversion.item_rank : 15u;
}

// spec/hlsl 9.4: an `out` parameter is judged by the way back, an `inout` one by the worse of
// both.
std::optional<uint32_t> RankOf(const Types& types, const ParameterType& parameter, TypeId argument,
                               Dialect dialect) {
  std::optional<uint32_t> rank = 0;
  if (parameter.passing != Passing::kOut) {
    rank = RankOf(types, argument, parameter.type, dialect);
  }
  if (rank && parameter.passing != Passing::kIn) {
    const std::optional<uint32_t> back = RankOf(types, parameter.type, argument, dialect);
    rank = back ? std::optional(std::max(*rank, *back)) : std::nullopt;
  }
  return rank;
}

// Fewer arguments than parameters fit if the rest have default values.
std::optional<std::vector<uint32_t>> RanksOf(const Types& types, const Candidate& candidate,
                                             std::span<const TypeId> arguments, Dialect dialect) {
  const auto takes = [&](size_t count) {
    return count <= candidate.parameters.size() &&
           std::ranges::all_of(candidate.parameters.subspan(count),
                               [](const ParameterType& p) { return p.optional; });
  };
  if (!takes(arguments.size())) {
    return std::nullopt;
  }
  std::vector<uint32_t> ranks;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::optional<uint32_t> rank =
        RankOf(types, candidate.parameters[i], arguments[i], dialect);
    if (!rank) {
      return std::nullopt;
    }
    ranks.push_back(*rank);
  }
  return ranks;
}

// Nowhere worse and somewhere better. Requires: as many ranks in both, since each is one of an
// argument.
bool IsBetter(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  bool better = false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) {
      return false;
    }
    better = better || a[i] < b[i];
  }
  return better;
}

}  // namespace

// Candidates that no other beats are kept, so the answer does not depend on their order. Cost:
// pairs of those that fit; candidates are limited by what a module declares.
Choice Choose(const Types& types, std::span<const Candidate> candidates,
              std::span<const TypeId> arguments, Dialect dialect) {
  std::vector<std::vector<uint32_t>> ranks;  // of those that fit and are not beaten yet
  Choice choice;
  for (uint32_t i = 0; i < candidates.size(); ++i) {
    CheckStop();
    std::optional<std::vector<uint32_t>> rank = RanksOf(types, candidates[i], arguments, dialect);
    if (!rank) {
      continue;
    }
    const auto beaten_by = [&](const std::vector<uint32_t>& other) {
      return IsBetter(other, *rank);
    };
    if (std::ranges::any_of(ranks, beaten_by)) {
      continue;
    }
    size_t kept = 0;
    for (size_t k = 0; k < ranks.size(); ++k) {
      if (!IsBetter(*rank, ranks[k])) {
        ranks[kept] = ranks[k];
        choice.fitting[kept++] = choice.fitting[k];
      }
    }
    ranks.resize(kept);
    choice.fitting.resize(kept);
    ranks.push_back(std::move(*rank));
    choice.fitting.push_back(i);
  }
  // The one that is left is better than all others that fit. Several are HLSL2022, and none is
  // HLSL2021.
  if (choice.fitting.size() == 1) {
    choice.candidate = choice.fitting[0];
  }
  return choice;
}

}  // namespace kiln::hlsl
