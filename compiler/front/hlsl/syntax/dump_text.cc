// SPDX-License-Identifier: MIT
// Texts of single things: expressions in prefix form with parentheses, so the dump shows how
// operators bind, types with their modifiers in one order, places and attributes. Spellings of
// literals are not shown but their values.
#include "compiler/front/hlsl/syntax/dump_text.h"

#include <array>
#include <bit>

#include <fmt/format.h>

#include "compiler/base/check.h"

namespace kiln::hlsl::syntax {
namespace {

// By syntax::Modifier.
constexpr auto kModifiers = std::to_array<std::string_view>({
#define KILN_HLSL_MODIFIER(enumerator, text, is_keyword) text,
#include "compiler/front/hlsl/syntax/modifiers.def"
});
// "vk::binding", "unroll": the name space is part of the text, as a table row says.
constexpr auto kAttributes = std::to_array<std::string_view>({
#define KILN_HLSL_ATTRIBUTE(enumerator, space, text, family) \
  sizeof(space) == 1 ? text : space "::" text,
#include "compiler/front/hlsl/syntax/attributes.def"
});

// In the order of the table, whatever the order in the source.
std::string ModifierText(uint32_t modifiers) {
  std::string out;
  for (uint32_t rest = modifiers; rest != 0; rest &= rest - 1) {
    out += kModifiers[static_cast<size_t>(std::countr_zero(rest))];
    out += ' ';
  }
  return out;
}

// A string on one line: only what would break the line or end the string is written in another
// way.
std::string Escaped(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : c == '"' || c == '\\' ? "\\" : "";
    if (c != '\n' && c != '\t') {
      out += c;
    }
  }
  return out + '"';
}

// Both forms of `++` have one token, so the order of the source has to be said.
bool IsPostfix(const Expr& e) {
  const auto op = static_cast<UnaryOp>(e.op);
  return op == UnaryOp::kPostIncrement || op == UnaryOp::kPostDecrement;
}

}  // namespace

// `A::B::name`, without a leading `::`.
std::string DumpText::Path(uint32_t list, uint32_t name) const {
  std::string out;
  for (const uint32_t token : ast_.List(list)) {
    out += Token(token);
    out += "::";
  }
  return out += Token(name);
}

// Values, so that the reading of literals shows, and the suffix as far as it decides a type.
// The dump must show what was read: a wrong radix or rounding would not show in the spelling.
std::string DumpText::Literal(const Expr& e) const {
  constexpr auto kIntegers = std::to_array<std::string_view>({"", "u", "l", "ul", "ll", "ull"});
  constexpr auto kFloats = std::to_array<std::string_view>({"", "f", "h", "l"});
  switch (e.kind) {
    case ExprKind::kBool:
      return e.a != 0 ? "true" : "false";
    case ExprKind::kInteger:
      return fmt::format("{}{}", e.bits(), kIntegers[e.op]);
    case ExprKind::kFloat:
      return fmt::format("{:#}{}", std::bit_cast<double>(e.bits()), kFloats[e.op]);
    default:
      return Escaped(ast_.StringOf(e));
  }
}

// Each row's text is moved into its user's, so the work is linear in the output for all but
// degenerate trees.
std::string DumpText::Row(const ExprRange& range, std::vector<std::string>& texts,
                          uint32_t row) const {
  const Expr& e = ast_.exprs[row];
  const auto of = [&](uint32_t operand) { return std::move(texts[operand - range.first]); };
  const auto list = [&](uint32_t items) {
    std::string joined;
    for (const uint32_t item : ast_.List(items)) {
      joined += ' ';
      joined += of(item);
    }
    return joined;
  };
  switch (e.kind) {
    case ExprKind::kName:
      return ((e.flags & Expr::kGlobal) != 0 ? "::" : "") + Path(e.a, e.token);
    case ExprKind::kThis:
      return "this";
    case ExprKind::kBool:
    case ExprKind::kInteger:
    case ExprKind::kFloat:
    case ExprKind::kString:
      return Literal(e);
    case ExprKind::kUnary:
      return fmt::format("({}{} {})", Token(e.token), IsPostfix(e) ? " post" : "", of(e.a));
    case ExprKind::kBinary:
    case ExprKind::kLogical:
    case ExprKind::kAssign:
    case ExprKind::kComma:
      return fmt::format("({} {} {})", Token(e.token), of(e.a), of(e.b));
    case ExprKind::kSelect:
      return fmt::format("(? {}{})", of(e.a), list(e.b));
    case ExprKind::kMember:
      return fmt::format("(. {} {})", of(e.a), Token(e.token));
    case ExprKind::kIndex:
      return fmt::format("([] {} {})", of(e.a), of(e.b));
    case ExprKind::kCall:
      return fmt::format("(call {}{})", of(e.a), list(e.b));
    case ExprKind::kConstruct:
      return fmt::format("(make {}{})", TypeText(e.a), list(e.b));
    case ExprKind::kCast:
      return fmt::format("(cast {} {})", TypeText(e.a), of(e.b));
    case ExprKind::kList:
      return fmt::format("(list{})", list(e.a));
    case ExprKind::kRight:
    case ExprKind::kThen:
    case ExprKind::kElse:
    case ExprKind::kTypeRows:
      return {};
  }
  KILN_UNREACHABLE();
}

// Rows of an expression are contiguous and in post-order, so one loop makes all texts.
std::string DumpText::Expression(const ExprRange& range) const {
  if (range.empty()) {
    return {};
  }
  std::vector<std::string> texts(range.root - range.first + 1);
  for (uint32_t row = range.first; row <= range.root; ++row) {
    texts[row - range.first] = Row(range, texts, row);
  }
  return std::move(texts.back());
}

// Types nest by their arguments, as deep as the parser lets them.
std::string DumpText::TypeText(uint32_t row) const {
  const Type& type = ast_.types[row];
  std::string out = ModifierText(type.modifiers);
  if (type.kind == TypeKind::kRecord) {
    return out + "struct";
  }
  out += (type.flags & Type::kElaborated) != 0 ? "struct " : "";
  out += (type.flags & Type::kGlobal) != 0 ? "::" : "";
  out += type.kind == TypeKind::kUnsigned ? "unsigned" : Path(type.path, type.token);
  if (type.arguments != kNone) {
    std::string separator = "<";
    for (const uint32_t argument : ast_.List(type.arguments)) {
      const TemplateArgument& a = ast_.arguments[argument];
      out += separator + (a.type == kNone ? Expression(a.value) : TypeText(a.type));
      separator = ", ";
    }
    out += '>';
  }
  return out + Extents(type.extents);
}

// Extents are pairs of words: first row and root of an expression; `[]` is an empty one.
std::string DumpText::Extents(uint32_t list) const {
  std::string out;
  const std::span<const uint32_t> words = ast_.List(list);
  for (size_t i = 0; i < words.size(); i += 2) {
    out += '[' + Expression({words[i], words[i + 1]}) + ']';
  }
  return out;
}

// The name, its extents, its places and its initialiser; the type is the declaration's.
std::string DumpText::VariableText(const Variable& variable) const {
  std::string out(variable.name == kNone ? "" : Token(variable.name));
  out += Extents(variable.extents) + Places(variable.places);
  return variable.initialiser.empty() ? out : out + " = " + Expression(variable.initialiser);
}

// Places keep the order of the source, which says how several of a kind are read.
std::string DumpText::Places(const RowRange& rows) const {
  std::string out;
  for (uint32_t row = rows.first; row < rows.first + rows.count; ++row) {
    const Place& place = ast_.places[row];
    out += fmt::format(" : {}", Token(place.token));
    for (const uint32_t argument : ast_.List(place.arguments)) {
      out += fmt::format(" {}", Token(argument));
    }
  }
  return out;
}

// Arguments of attributes are pairs like extents.
std::string DumpText::Attributes(const RowRange& rows) const {
  std::string out;
  for (uint32_t row = rows.first; row < rows.first + rows.count; ++row) {
    const Attribute& attribute = ast_.attributes[row];
    out += fmt::format("[{}", kAttributes[static_cast<size_t>(attribute.name)]);
    const std::span<const uint32_t> words = ast_.List(attribute.arguments);
    for (size_t i = 0; i < words.size(); i += 2) {
      out += ' ' + Expression({words[i], words[i + 1]});
    }
    out += "] ";
  }
  return out;
}

}  // namespace kiln::hlsl::syntax
