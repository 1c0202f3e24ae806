// SPDX-License-Identifier: MIT
#include "compiler/front/hlsl/check/context.h"

#include <algorithm>

namespace kiln::hlsl {

// A count, then the items; all lists share one table.
ListId Unit::AddList(std::span<const uint32_t> items) {
  ChargeMemory((items.size() + 1) * sizeof(uint32_t));
  const ListId id{static_cast<uint32_t>(lists.size())};
  lists.push_back(static_cast<uint32_t>(items.size()));
  lists.insert(lists.end(), items.begin(), items.end());
  return id;
}

// The text of a message is cut near kMaxArgument bytes: a range may be as long as a source.
std::string CheckContext::Text(TokenRange at) const {
  std::string text;
  for (uint32_t token = at.begin; token < at.end && text.size() < kMaxArgument; ++token) {
    const Token& row = stream.tokens[token];
    if (!text.empty() && (row.space_before() || row.starts_line())) {
      text += ' ';
    }
    text += stream.Text(row);
  }
  return text;
}

// spec/hlsl 8.1: the name of an option in a namespace is dotted.
std::string CheckContext::Dotted(uint32_t token) const {
  std::string text;
  for (const uint32_t name : path) {
    text.append(Text(name)).append(".");
  }
  return text.append(Text(token));
}

// Ranges are cut to the tokens there are; an empty one is its first token.
Diagnostic CheckContext::At(Code code, TokenRange at) const {
  const auto last = static_cast<uint32_t>(stream.tokens.size() - 1);
  const uint32_t begin = std::min(at.begin, last);
  const uint32_t end = at.end == 0 ? begin : std::clamp(at.end - 1, begin, last);
  return stream.MakeAt(code, stream.tokens[begin].origin, stream.tokens[end].origin);
}

void CheckContext::Refuse(TokenRange at, std::string_view text, std::string_view family) {
  Say(At(Code::kHlsl8004, at).With("text", text).With("family", family));
}

// What goes beyond is counted as well: only the step over the limit is said.
bool CheckContext::Spend(Budget& budget, uint64_t amount, TokenRange at) {
  const bool was_within = budget.used <= budget.most;
  budget.used += std::min(amount, budget.most + 1);
  if (was_within && budget.used > budget.most) {
    Say(At(Code::kHlsl1007, at)
            .With("what", "source")
            .With("size", std::to_string(budget.used) + std::string(budget.unit))
            .With("limit", budget.most));
  }
  return budget.used <= budget.most;
}

Location CheckContext::LocationOf(uint32_t token) const {
  return stream.Where(stream.tokens[token].origin);
}

}  // namespace kiln::hlsl
