// SPDX-License-Identifier: MIT
// Tables of declarations and mentions that editors look into.
#include "compiler/front/common/source_index.h"

#include <algorithm>
#include <tuple>

namespace kiln::front {

std::string_view IndexKindText(IndexKind kind) {
  switch (kind) {
    case IndexKind::kNamespace:
      return "namespace";
    case IndexKind::kStruct:
      return "struct";
    case IndexKind::kMember:
      return "member";
    case IndexKind::kEnum:
      return "enum";
    case IndexKind::kEnumerator:
      return "enumerator";
    case IndexKind::kAlias:
      return "alias";
    case IndexKind::kBlock:
      return "block";
    case IndexKind::kFunction:
      return "function";
    case IndexKind::kParameter:
      return "parameter";
    case IndexKind::kVariable:
      return "variable";
    case IndexKind::kLocal:
      return "local";
    case IndexKind::kConstant:
      return "constant";
    case IndexKind::kOption:
      return "option";
  }
  return {};
}

// Mentions do not overlap once they are settled, so the last that begins at or before the byte is
// the only one that may cover it. A cursor behind the last letter of a name means the name.
const IndexedMention* SourceIndex::At(uint32_t offset) const {
  const auto behind = std::ranges::upper_bound(
      mentions, offset, {}, [](const IndexedMention& one) { return one.at.begin; });
  if (behind == mentions.begin()) {
    return nullptr;
  }
  const IndexedMention& found = *(behind - 1);
  return offset <= found.at.end ? &found : nullptr;
}

void Settle(SourceIndex& index) {
  std::ranges::sort(index.mentions, [](const IndexedMention& a, const IndexedMention& b) {
    return std::tuple(a.at.begin, a.at.end, a.symbol) < std::tuple(b.at.begin, b.at.end, b.symbol);
  });
  const auto same = std::ranges::unique(
      index.mentions,
      [](const IndexedMention& a, const IndexedMention& b) { return a.at.begin == b.at.begin; });
  index.mentions.erase(same.begin(), same.end());
}

std::string IndexText(const SourceIndex& index) {
  std::string text;
  for (size_t i = 0; i < index.symbols.size(); ++i) {
    const IndexedSymbol& symbol = index.symbols[i];
    for (uint32_t up = symbol.parent; up != IndexedSymbol::kNone; up = index.symbols[up].parent) {
      text += "  ";
    }
    text += IndexKindText(symbol.kind);
    text += " " + symbol.name + (symbol.type.empty() ? "" : ": " + symbol.type);
    for (const IndexedMention& mention : index.mentions) {
      if (mention.symbol == i) {
        text += " @" + std::to_string(mention.at.begin);
      }
    }
    text += "\n";
  }
  return text;
}

std::string OneLine(std::string_view text) {
  constexpr size_t kMost = 200;
  std::string line;
  for (size_t i = 0; i < text.size() && line.size() < kMost; ++i) {
    if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.substr(i, 2) == "/*") {
      i = std::min(text.find("*/", i + 2), text.size() - 2) + 1;
    } else if (static_cast<unsigned char>(text[i]) > ' ') {
      line += text[i];
      continue;
    }
    if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (line.ends_with(' ')) {
    line.pop_back();
  }
  return line;
}

}  // namespace kiln::front
