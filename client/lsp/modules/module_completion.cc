// SPDX-License-Identifier: MIT
// What can stand at the cursor of HLSL and WGSL. What is being typed rarely parses, so names are
// those of the last text that did, and what stands before the cursor is read by its characters.
#include "client/lsp/modules/module_completion.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "client/lsp/documents/languages.h"
#include "client/lsp/modules/module_names.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/module/index.h"
#include "compiler/front/wgsl/module/index.h"

namespace kiln::lsp {
namespace {

using front::IndexedSymbol;
using front::IndexKind;
using front::SourceIndex;

constexpr size_t kMaxItems = 5000;
constexpr size_t kMaxChain = 32;       // members of members
constexpr uint32_t kMaxBack = 10'000;  // bytes before the cursor that are looked at

// CompletionItemKind of the protocol.
int ItemKindOf(IndexKind kind) {
  switch (kind) {
    case IndexKind::kNamespace:
    case IndexKind::kBlock:
      return 9;
    case IndexKind::kStruct:
      return 22;
    case IndexKind::kMember:
      return 5;
    case IndexKind::kEnum:
      return 13;
    case IndexKind::kEnumerator:
    case IndexKind::kOption:
      return 20;
    case IndexKind::kAlias:
      return 25;
    case IndexKind::kFunction:
      return 3;
    case IndexKind::kParameter:
    case IndexKind::kVariable:
    case IndexKind::kLocal:
      return 6;
    case IndexKind::kConstant:
      return 21;
  }
  return 6;
}
constexpr int kKeywordIcon = 14;
constexpr int kTypeIcon = 25;
constexpr int kFunctionIcon = 3;
constexpr int kFieldIcon = 5;

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The word that ends at the byte.
std::string_view WordBefore(std::string_view text, uint32_t end) {
  uint32_t begin = end;
  while (begin > 0 && IsLetter(text[begin - 1])) {
    --begin;
  }
  return text.substr(begin, end - begin);
}

// Names before the cursor, outermost first: "a", "b" of `a.b.`. Indexes are left out, since the
// items of an array have its type. Empty if the cursor is not behind a '.'.
std::vector<std::string> ChainBefore(std::string_view text, uint32_t at) {
  std::vector<std::string> chain;
  at -= static_cast<uint32_t>(WordBefore(text, at).size());
  const uint32_t last = at > kMaxBack ? at - kMaxBack : 0;
  while (at > last && text[at - 1] == '.' && chain.size() < kMaxChain) {
    --at;
    while (at > last && text[at - 1] == ']') {
      const size_t open = text.rfind('[', at);
      if (open == std::string_view::npos || open < last) {
        return {};
      }
      at = static_cast<uint32_t>(open);
    }
    const std::string_view word = WordBefore(text, at);
    if (word.empty()) {
      return {};
    }
    chain.insert(chain.begin(), std::string(word));
    at -= static_cast<uint32_t>(word.size());
  }
  return chain;
}

// In a comment of its line or in a text nothing is offered. Block comments are not looked for.
bool IsInComment(std::string_view text, uint32_t at) {
  const size_t line = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1 is 0
  return text.substr(line, at - line).find("//") != std::string_view::npos;
}

// The struct that a type names: "Light" of "array<Light, 4>", "const Light",
// "ConstantBuffer<Light>".
uint32_t StructOf(const SourceIndex& index, std::string_view type) {
  uint32_t found = IndexedSymbol::kNone;
  size_t begin = 0;
  while (begin < type.size()) {
    size_t end = begin;
    while (end < type.size() && IsLetter(type[end])) {
      ++end;
    }
    for (uint32_t i = 0; end > begin && i < index.symbols.size(); ++i) {
      CheckStop();
      const IndexedSymbol& symbol = index.symbols[i];
      if (symbol.kind == IndexKind::kStruct && symbol.name == type.substr(begin, end - begin)) {
        found = i;
      }
    }
    begin = std::max(end, begin + 1);
  }
  return found;
}

// Whether what has the type has components: `vec3<f32>`, `vec3f`, `float3`, `uint2`.
bool IsVector(std::string_view type) {
  const size_t name = type.find_last_of(" >") == type.size() - 1 ? 0 : type.rfind(' ') + 1;
  const std::string_view word = type.substr(name);
  if (word.starts_with("vec")) {
    return true;
  }
  return word.size() > 1 && word.back() >= '2' && word.back() <= '4' &&
         (word.size() < 3 || word[word.size() - 2] != 'x') && word[0] >= 'a' && word[0] <= 'z';
}

class Completion {
 public:
  Completion(Session& session, const Spot& spot)
      : spot_(spot),
        text_(spot.file.document->text()),
        view_(session.analysis.LastModuleViewOf(spot.file.path)) {}

  Json Run() && {
    if (IsInComment(text_, spot_.offset)) {
      return Take();
    }
    const uint32_t word = static_cast<uint32_t>(WordBefore(text_, spot_.offset).size());
    const bool behind_dot = spot_.offset > word && text_[spot_.offset - word - 1] == '.';
    if (behind_dot) {
      AddMembers(ChainBefore(text_, spot_.offset));
    } else {
      AddNames();
      AddLanguage();
    }
    return Take();
  }

 private:
  Json Take() { return {{"isIncomplete", false}, {"items", std::move(items_)}}; }

  void Add(std::string_view label, int kind, const std::string& detail, int rank) {
    if (items_.size() >= kMaxItems || !labels_.emplace(label).second) {
      return;
    }
    Json item{{"label", label}, {"kind", kind}, {"sortText", fmt::format("{}{}", rank, label)}};
    if (!detail.empty()) {
      item["detail"] = detail;
    }
    items_.push_back(std::move(item));
  }

  std::string DetailOf(const IndexedSymbol& symbol) const {
    return symbol.kind == IndexKind::kFunction || !symbol.type.valid()
               ? symbol.text
               : std::string(view_->index().TypeOf(symbol));
  }

  // Names that a function declares are offered in it, where its place is that of the text: behind
  // the cursor nothing has moved that is before it. Members are offered by blocks, whose names are
  // those of the module.
  void AddNames() {
    if (!view_.has_value()) {
      return;
    }
    const SourceIndex& index = view_->index();
    const uint32_t at = view_->first + spot_.offset;
    uint32_t function = IndexedSymbol::kNone;
    for (uint32_t i = 0; i < index.symbols.size(); ++i) {
      const IndexedSymbol& one = index.symbols[i];
      if (one.kind == IndexKind::kFunction && one.whole.begin <= at &&
          (function == IndexedSymbol::kNone ||
           one.whole.begin >= index.symbols[function].whole.begin)) {
        function = i;
      }
    }
    for (const IndexedSymbol& symbol : index.symbols) {
      const bool top = symbol.parent == IndexedSymbol::kNone;
      const IndexKind outer = top ? IndexKind::kNamespace : index.symbols[symbol.parent].kind;
      const bool of_function = !top && symbol.parent == function;
      if (of_function) {
        Add(symbol.name, ItemKindOf(symbol.kind), DetailOf(symbol), 0);
      } else if (top || outer == IndexKind::kBlock || outer == IndexKind::kEnum) {
        Add(symbol.name, ItemKindOf(symbol.kind), DetailOf(symbol), 1);
      }
    }
  }

  void AddLanguage() {
    const auto add = [&](const auto& names, int kind, int rank) {
      for (const auto& name : names) {
        Add(name, kind, {}, rank);
      }
    };
    if (LanguageOf(spot_.file.path) == DocumentLanguage::kWgsl) {
      add(wgsl::front::InbuiltFunctions(), kFunctionIcon, 5);
      add(wgsl::front::InbuiltTypes(), kTypeIcon, 6);
      add(wgsl::front::Keywords(), kKeywordIcon, 7);
    } else {
      add(hlsl::InbuiltFunctions(), kFunctionIcon, 5);
      add(hlsl::InbuiltTypes(), kTypeIcon, 6);
      add(hlsl::Keywords(), kKeywordIcon, 7);
    }
  }

  // The type of the first name is that of its last declaration before the cursor; each further name
  // is a member of the struct so far.
  void AddMembers(const std::vector<std::string>& chain) {
    if (chain.empty() || !view_.has_value()) {
      return;
    }
    const SourceIndex& index = view_->index();
    const uint32_t at = view_->first + spot_.offset;
    std::string type;
    for (const IndexedSymbol& symbol : index.symbols) {
      const bool member = symbol.kind == IndexKind::kMember &&
                          index.symbols[symbol.parent].kind == IndexKind::kStruct;
      const bool inner = symbol.kind == IndexKind::kLocal || symbol.kind == IndexKind::kParameter;
      if (symbol.name == chain.front() && !member && (!inner || symbol.name_at.begin < at)) {
        type = index.TypeOf(symbol);
      }
    }
    for (size_t i = 1; i < chain.size(); ++i) {
      type = TypeOfMember(index, StructOf(index, type), chain[i]);
    }
    const uint32_t owner = StructOf(index, type);
    for (const IndexedSymbol& symbol : index.symbols) {
      if (owner != IndexedSymbol::kNone && symbol.parent == owner) {
        Add(symbol.name, ItemKindOf(symbol.kind), DetailOf(symbol), 0);
      }
    }
    if (owner == IndexedSymbol::kNone && IsVector(type)) {
      for (const char* components : {"x", "y", "z", "w", "xy", "xyz", "rgb", "r", "g", "b", "a"}) {
        Add(components, kFieldIcon, type, 0);
      }
    }
  }

  static std::string TypeOfMember(const SourceIndex& index, uint32_t owner,
                                  const std::string& name) {
    for (const IndexedSymbol& symbol : index.symbols) {
      if (owner != IndexedSymbol::kNone && symbol.parent == owner && symbol.name == name) {
        return std::string(index.TypeOf(symbol));
      }
    }
    return {};
  }

  const Spot& spot_;
  const std::string& text_;
  const std::optional<Analysis::ModuleView> view_;
  std::set<std::string> labels_;
  Json items_ = Json::array();
};

// The call whose arguments the byte is in: its name, and the number of the argument.
struct OpenCallInText {
  std::string name;
  uint32_t argument = 0;
};
std::optional<OpenCallInText> OpenCallBefore(std::string_view text, uint32_t at) {
  uint32_t argument = 0;
  uint32_t depth = 0;
  const uint32_t last = at > kMaxBack ? at - kMaxBack : 0;
  while (at > last) {
    const char c = text[--at];
    if (c == ';' || c == '{' || c == '}') {
      return std::nullopt;
    }
    if (c == ')' || c == ']') {
      ++depth;
    } else if (c == '[' || (c == '(' && depth > 0)) {
      depth -= depth > 0 ? 1 : 0;
    } else if (c == '(') {
      while (at > last && text[at - 1] == ' ') {
        --at;
      }
      const std::string_view name = WordBefore(text, at);
      return name.empty() ? std::nullopt
                          : std::optional(OpenCallInText{std::string(name), argument});
    } else if (c == ',' && depth == 0) {
      ++argument;
    }
  }
  return std::nullopt;
}

}  // namespace

Json CompleteInModule(Session& session, const Spot& spot) {
  return Completion(session, spot).Run();
}

Json SignaturesInModule(Session& session, const Spot& spot) {
  const std::optional<OpenCallInText> call =
      OpenCallBefore(spot.file.document->text(), spot.offset);
  const std::optional<Analysis::ModuleView> view =
      session.analysis.LastModuleViewOf(spot.file.path);
  if (!call.has_value() || !view.has_value()) {
    return nullptr;
  }
  constexpr size_t kMaxSignatures = 64;
  const SourceIndex& index = view->index();
  Json signatures = Json::array();
  for (uint32_t i = 0; i < index.symbols.size(); ++i) {
    const IndexedSymbol& symbol = index.symbols[i];
    if (symbol.kind != IndexKind::kFunction || symbol.name != call->name ||
        signatures.size() >= kMaxSignatures) {
      continue;
    }
    Json parameters = Json::array();
    for (uint32_t j = i + 1; j < index.symbols.size() && index.symbols[j].parent == i; ++j) {
      if (index.symbols[j].kind == IndexKind::kParameter) {
        parameters.push_back({{"label", index.symbols[j].text}});
      }
    }
    signatures.push_back({{"label", symbol.text}, {"parameters", std::move(parameters)}});
  }
  if (signatures.empty()) {
    return nullptr;
  }
  return {{"signatures", std::move(signatures)}, {"activeParameter", call->argument}};
}

}  // namespace kiln::lsp
