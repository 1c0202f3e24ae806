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
