// SPDX-License-Identifier: MIT
// What is said here are the three kinds of errors that occur everywhere: WGSL forbids it
// (WGSL2010), it is right and not built (WGSL1008), or a type does not fit (WGSL2002). Keeping
// them apart is what makes docs/wgsl/CONFORMANCE.md true.
#include "compiler/front/wgsl/check/context.h"

#include <algorithm>

#include "compiler/base/threads/stop.h"

namespace kiln::wgsl::front {
namespace {

// Of 8 bytes each: 32 MiB.
constexpr size_t kMostWords = size_t{1} << 22;  // of constants of a module
// Of values that are put together from structs wherever they are mentioned. What is no larger than
// a matrix does not count: rows are limited.
constexpr uint64_t kMostParts = uint64_t{1} << 20;
constexpr uint64_t kSmallParts = 16;

}  // namespace

std::string CheckContext::Text(TokenRange at) const {
  return std::string(TextOf(stream.text, stream.SpanOf(at)));
}

void CheckContext::Forbid(TokenRange at, std::string_view reason) {
  Say(At(Code::kWgsl2010, at).With("text", Text(at)).With("reason", reason));
}
void CheckContext::Refuse(TokenRange at, std::string_view reason) {
  Say(At(Code::kWgsl1008, at).With("text", Text(at)).With("reason", reason));
}
void CheckContext::Mismatch(TokenRange at, std::string_view expected, std::string_view found) {
  Say(At(Code::kWgsl2002, at).With("expected", expected).With("found", found));
}

// For messages about something that is no value where one is expected.
std::string CheckContext::FoundText(ExprId id) const {
  switch (Get(id).kind) {
    case ExprKind::kType:
      return "type " + TypeText(id);
    case ExprKind::kGenerator:
      return "type without arguments";
    case ExprKind::kFunction:
    case ExprKind::kPredeclared:
      return "function";
    case ExprKind::kWord:
      return "word of the language";
    default:
      return TypeText(id);
  }
}

// Instructions that a constant of a type becomes: numbers and arrays of them are one, a struct is
// put together from its members. Recursion is as deep as types nest; each type is asked once.
uint64_t CheckContext::CostOf(TypeId type) {
  if (const uint64_t* known = costs_.Find(type.value)) {
    return *known;
  }
  TypeId item = type;
  uint64_t count = 1;
  for (; types()[item].kind == TypeKind::kArray; item = TypeId{types()[item].element}) {
    count = std::min(2 * kMostParts, count * std::max(1u, types()[item].count));
  }
  uint64_t cost = 1;
  if (types()[item].kind == TypeKind::kStruct) {
    for (const StructMember& member : types().StructOf(item).members) {
      cost += CostOf(member.type);
    }
    cost = std::min(2 * kMostParts, count * std::min(cost, 2 * kMostParts));
  }
  costs_.Insert(type.value, cost);
  return cost;
}

// What goes beyond is counted as well: only the step over the limit is said.
bool CheckContext::SpendParts(TypeId type, TokenRange at) {
  const uint64_t cost = CostOf(type);
  if (cost <= kSmallParts) {
    return true;
  }
  const bool was_within = parts_ <= kMostParts;
  parts_ += cost;
  if (was_within && parts_ > kMostParts) {
    Say(At(Code::kWgsl1007, at)
            .With("what", "parts of all values of structs")
            .With("limit", kMostParts));
  }
  return parts_ <= kMostParts;
}

// All constants of a module are limited together, since one is made for each expression that is
// folded: a hundred copies of a large array are as large as one array of a hundred times as
// many items.
ExprId CheckContext::AddConstant(TypeId type, std::span<const Word> words, TokenRange at) {
  if (words.size() > limits.value_items || unit.words.size() + words.size() > kMostWords) {
    const bool one = words.size() > limits.value_items;
    Say(At(Code::kWgsl1007, at)
            .With("what", one ? "items of a constant" : "items of all constants")
            .With("limit", one ? limits.value_items : kMostWords));
    return Failed(at);
  }
  if (!SpendParts(type, at)) {
    return Failed(at);
  }
  ChargeMemory(words.size_bytes());
  unit.constants.push_back({.first = static_cast<uint32_t>(unit.words.size()),
                            .count = static_cast<uint32_t>(words.size())});
  // `words` may lie in what grows.
  const std::vector<Word> copy(words.begin(), words.end());
  unit.words.insert(unit.words.end(), copy.begin(), copy.end());
  return Add({.kind = ExprKind::kConstant,
              .rate = Rate::kConst,
              .type = type,
              .a = static_cast<uint32_t>(unit.constants.size() - 1),
              .at = at});
}

}  // namespace kiln::wgsl::front
