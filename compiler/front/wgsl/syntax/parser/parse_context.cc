// SPDX-License-Identifier: MIT
#include "compiler/front/wgsl/syntax/parser/parse_context.h"

#include <string>

namespace kiln::wgsl::front::syntax {

// A class of tokens is named ("identifier"), a token is quoted ("';'").
bool ParseContext::Expect(TokenKind kind) {
  if (Accept(kind)) {
    return true;
  }
  const bool is_class = kind == TokenKind::kIdentifier;
  const std::string text(TokenText(kind));
  Fail(is_class ? text : "'" + text + "'");
  return false;
}

// Only the first error of a statement is said. Behind it the parser goes on in silence until
// recovery has found where reading goes on, since all that follows could be its consequence.
void ParseContext::Fail(std::string_view expected) {
  if (failed) {
    return;
  }
  failed = true;
  // What is missing at the end of a line is missing behind the last thing there.
  const bool end = Is(TokenKind::kEnd);
  const TokenRange place = end && at > 0 ? TokenRange{at - 1, at} : TokenRange{at, at + 1};
  Say(Make(Code::kWgsl1001, Where(place))
          .With("expected", expected)
          .With("text", end ? "end of file" : stream.Text(at)));
}

// The same for what is nested too deep: one error, although each level around would find it.
void ParseContext::FailAtLimit() {
  if (!failed) {
    failed = true;
    Say(Make(Code::kWgsl1007, Where({at, at + 1}))
            .With("what", "nesting")
            .With("limit", limits.nesting));
  }
}

// Lists of all rows share one vector: the count, then the items. An empty list has no row, so
// `{}` and an invalid id mean the same.
ListId ParseContext::AddList(std::span<const uint32_t> items) {
  if (items.empty()) {
    return {};
  }
  const ListId id{static_cast<uint32_t>(ast.lists.size())};
  ast.lists.push_back(static_cast<uint32_t>(items.size()));
  ast.lists.insert(ast.lists.end(), items.begin(), items.end());
  return id;
}

}  // namespace kiln::wgsl::front::syntax
