// SPDX-License-Identifier: MIT
// Operands are small and never zero, so that nothing overflows and nothing is divided by zero;
// where a function has a narrower domain, `Domain` moves them into it.
#include "tests/wgsl_front/meaning_rows.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "compiler/base/text/words.h"

namespace kiln::wgsl::front {
namespace {

struct Pattern {
  std::string_view function;
  std::string_view name;
  std::string_view of;
  std::string_view parameters;
  std::string_view result;
};
struct Name {
  std::string_view function, name;
};
constexpr Name kNames[] = {
#define KILN_WGSL_FUNCTION(enumerator, name, rate, stages, builtin) {#enumerator, name},
#include "compiler/front/wgsl/sema/functions.def"
};
constexpr Pattern kPatterns[] = {
#define KILN_WGSL_OVERLOAD(function, of, parameters, result) \
  {#function, "", #of, parameters, result},
#include "compiler/front/wgsl/sema/overloads.def"
};

struct Choice {
  std::string_view scalar;
  uint32_t items = 1;
  uint32_t columns = 2, rows = 2, inner = 2;
};

bool Includes(std::string_view of, std::string_view scalar) {
  const bool is_float = scalar == "f32";
  const bool is_bool = scalar == "bool";
  return of == "Scalar"                    ? true
         : of == "Bool"                    ? is_bool
         : of == "Number"                  ? !is_bool
         : of == "Signed"                  ? scalar == "i32" || is_float
         : of == "Integer" || of == "Word" ? !is_bool && !is_float
                                           : is_float && of != "AbstractFloat";
}

std::string VectorText(std::string_view scalar, uint32_t rows) {
  return rows == 1 ? std::string(scalar) : fmt::format("vec{}<{}>", rows, scalar);
}

struct Shape {
  std::string_view scalar;
  uint32_t rows = 1, columns = 1;

  std::string Text() const {
    return columns == 1 ? VectorText(scalar, rows)
                        : fmt::format("mat{}x{}<{}>", columns, rows, scalar);
  }
};

Shape ShapeOf(std::string_view word, const Choice& c) {
  if (word.size() == 2) {
    const auto count = static_cast<uint32_t>(word[1] - '0');
    return {word[0] == 'v'   ? c.scalar
            : word[0] == 'f' ? "f32"
            : word[0] == 'u' ? "u32"
                             : "i32",
            count};
  }
  switch (word[0]) {
    case 'V':
    case 'v':
      return {c.scalar, c.items};
    case 'Q':
    case 'q':
      return {"bool", c.items};
    case 'U':
      return {"u32", c.items};
    case 'I':
      return {"i32", c.items};
    case 'M':
      return {c.scalar, c.rows, c.columns};
    case 'W':
      return {c.scalar, c.columns, c.rows};
    case 'S':
      return {c.scalar, c.rows, c.rows};
    case 'C':
      return {c.scalar, c.columns};
    case 'R':
      return {c.scalar, c.rows};
    case 'A':
      return {c.scalar, c.rows, c.inner};
    case 'B':
      return {c.scalar, c.inner, c.columns};
    case 'b':
      return {"bool"};
    case 'u':
      return {"u32"};
    case 'i':
      return {"i32"};
    default:
      return {c.scalar};
  }
}

// A float of an operand, moved to where the function has values.
double Domain(std::string_view function, size_t operand, double value) {
  const auto is = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, function) != names.end();
  };
  // Mesa's software device packs bytes below zero wrongly, whoever asks it: 0xffffee0e for
  // 0x0a1eee0e.
  if (function == "Pack4x8Snorm") {
    return std::abs(value) / 8;
  }
  if (is({"Acos", "Asin", "Atanh", "Pack2x16Snorm"})) {
    return value / 8;
  }
  if (is({"Acosh", "Log", "Log2", "Sqrt", "InverseSqrt", "Pow", "Pack4x8Unorm", "Pack2x16Unorm"}) &&
      operand == 0) {
    return std::abs(value) + (function == "Acosh" ? 1 : 0);
  }
  if (is({"Clamp", "Smoothstep"})) {  // the bounds are in order, wherever they stand
    const size_t low = function == "Clamp" ? 1 : 0;
    return operand == low ? -2.5 : operand == low + 1 ? 3.5 : value;
  }
  return value;
}

std::string LiteralOf(std::string_view function, size_t operand, const Shape& shape,
                      uint32_t item) {
  static constexpr int kSigned[] = {3, -5, 7, 2, -9, 11, -4, 6, 1, -13, 8, 5};
  const uint32_t at = (static_cast<uint32_t>(operand) * 5 + item) % 12;
  const int number = kSigned[at];
  const bool shifts = function == "ShiftLeft" || function == "ShiftRight";
  if (shape.scalar == "bool") {
    return number % 2 == 0 ? "true" : "false";
  }
  if (shape.scalar == "u32") {
    const bool field = function == "ExtractBits" || function == "InsertBits";
    if (function == "Clamp" && operand > 0) {
      return operand == 1 ? "100u" : "500u";
    }
    return fmt::format("{}u", shifts && operand == 1 ? at % 8
                              : field                ? static_cast<uint32_t>(std::abs(number)) * 3
                                      : static_cast<uint32_t>(std::abs(number)) * 77);
  }
  if (shape.scalar == "i32") {
    const bool bounded = function == "Clamp" && operand > 0;
    return fmt::format("{}i", bounded ? (operand == 1 ? -3 : 6) : number);
  }
  const double value = Domain(function, operand, number / 4.0 + 0.125);
  return fmt::format("{}f", value);
}

std::string ValueText(std::string_view function, size_t operand, const Shape& shape) {
  std::string items;
  for (uint32_t i = 0; i < shape.rows * shape.columns; ++i) {
    items += (i == 0 ? "" : ", ") + LiteralOf(function, operand, shape, i);
  }
  return fmt::format("{}({})", shape.Text(), items);
}

// Whether `c` and `r` are one: floats to some bits, as devices may have them.
std::string EqualText(const Shape& shape, std::string_view member) {
  const std::string c = fmt::format("c{}", member);
  const std::string r = fmt::format("r{}", member);
  if (shape.scalar != "f32") {
    return fmt::format("all({} == {})", c, r);
  }
  if (shape.columns == 1) {
    return fmt::format("all(abs({0} - {1}) <= 0.0005 * (1 + abs({0})))", c, r);
  }
  std::string text;
  for (uint32_t i = 0; i < shape.columns; ++i) {
    text += fmt::format("{2}all(abs({0}[{3}] - {1}[{3}]) <= 0.0005 * (1 + abs({0}[{3}])))", c, r,
                        i == 0 ? "" : " && ", i);
  }
  return text;
}

std::string CallText(std::string_view name, const std::vector<std::string>& operands) {
  if (std::isalpha(static_cast<unsigned char>(name[0])) != 0) {
    return fmt::format("{}({})", name, fmt::join(operands, ", "));
  }
  return operands.size() == 1 ? fmt::format("{}({})", name, operands[0])
                              : fmt::format("({}) {} ({})", operands[0], name, operands[1]);
}

MeaningRow RowOf(const Pattern& pattern, std::string_view name, const Choice& choice) {
  std::string statements;
  std::vector<std::string> constants;
  std::vector<std::string> variables;
  MeaningRow row{.name = fmt::format(
                     "{}({}) {} {}", name, pattern.parameters, choice.scalar,
                     choice.items * 1000 + choice.columns * 100 + choice.rows * 10 + choice.inner),
                 .statements = {}};
  for (const std::string_view word : WordsOf(pattern.parameters)) {
    const Shape shape = ShapeOf(word, choice);
    const std::string value = ValueText(pattern.function, constants.size(), shape);
    variables.push_back(fmt::format("x{}", variables.size()));
    statements += fmt::format("var {} = {}; ", variables.back(), value);
    constants.push_back(value);
  }
  statements += fmt::format("const c = {}; let r = {}; ", CallText(name, constants),
                            CallText(name, variables));
  if (pattern.result == "P") {
    const bool frexp = pattern.function == "Frexp";
    statements +=
        fmt::format("equal = {} && {};", EqualText({choice.scalar, choice.items}, ".fract"),
                    frexp ? EqualText({"i32", choice.items}, ".exp")
                          : EqualText({choice.scalar, choice.items}, ".whole"));
  } else {
    statements += fmt::format("equal = {};", EqualText(ShapeOf(pattern.result, choice), ""));
  }
  row.statements = std::move(statements);
  return row;
}

void AddOverloads(std::vector<MeaningRow>& rows) {
  for (const Pattern& pattern : kPatterns) {
    const auto name = std::ranges::find(kNames, pattern.function, &Name::function)->name;
    // Derivatives are of fragments; QuantizeToF16 is exact on both sides or not at all.
    if (pattern.of == "F32" && pattern.function != "QuantizeToF16") {
      continue;
    }
    const std::string all = fmt::format("{} {}", pattern.parameters, pattern.result);
    const bool sized = all.find_first_of("VQUI") != std::string::npos;
    const bool vectors = all.find_first_of("vq") != std::string::npos;
    const bool matrices = all.find_first_of("MWSCRAB") != std::string::npos;
    for (const std::string_view scalar : {"i32", "u32", "f32", "bool"}) {
      const bool fits = pattern.of == "None" ? scalar == "f32" : Includes(pattern.of, scalar);
      if (!fits) {
        continue;
      }
      if (matrices) {
        for (const auto& [columns, lines, inner] :
             {std::array{2u, 2u, 2u}, std::array{3u, 2u, 4u}, std::array{4u, 4u, 3u},
              std::array{2u, 3u, 3u}}) {
          rows.push_back(RowOf(pattern, name, {scalar, 1, columns, lines, inner}));
        }
        continue;
      }
      if (sized && !vectors) {
        rows.push_back(RowOf(pattern, name, {scalar, 1}));
      }
      for (const uint32_t items : {2u, 3u, 4u}) {
        if (sized || vectors) {
          rows.push_back(RowOf(pattern, name, {scalar, items}));
        }
      }
      if (!sized && !vectors) {
        rows.push_back(RowOf(pattern, name, {scalar, 1}));
      }
    }
  }
}

// Every scalar to every other, alone and in vectors; and its bits.
void AddConversions(std::vector<MeaningRow>& rows) {
  for (const std::string_view from : {"i32", "u32", "f32", "bool"}) {
    for (const std::string_view to : {"i32", "u32", "f32", "bool"}) {
      for (const uint32_t items : {1u, 3u}) {
        const Shape source{from, items};
        const Shape target{to, items};
        const std::string value = ValueText("Convert", 0, source);
        for (const bool bits : {false, true}) {
          if (bits && (from == "bool" || to == "bool")) {
            continue;
          }
          const std::string head = bits ? fmt::format("bitcast<{}>", target.Text()) : target.Text();
          // Bits of negative integers are no finite float.
          const std::string used =
              bits && to == "f32" ? ValueText("Convert", 0, {"u32", items}) : value;
          rows.push_back(
              {.name = fmt::format("{}({})", head, source.Text()),
               .statements = fmt::format(
                   "var x = {0}; const c = {1}({0}); let r = {1}(x); equal = "
                   "{2};",
                   used, head, to == "f32" && bits ? "all(c == r)" : EqualText(target, ""))});
        }
      }
    }
  }
}

void AddConstructors(std::vector<MeaningRow>& rows) {
  for (const std::string_view text :
       {"vec4f(x, 2, 3)", "vec4f(1, x, 3)", "vec4f(1, 2, x)", "vec4f(x, x)", "vec2f(x).xyxy",
        "mat2x2f(x, x) * x.x", "vec3f(x.y, x).zyx", "vec4(x.xy, x.yx).wzxy"}) {
    const bool matrix = text.starts_with("mat");
    std::string constant(text);
    for (size_t at = constant.find('x'); at != std::string::npos;) {
      const bool word = (at == 0 || !std::isalnum(static_cast<unsigned char>(constant[at - 1]))) &&
                        (at == 0 || constant[at - 1] != '.') &&
                        !std::isalnum(static_cast<unsigned char>(constant[at + 1]));
      if (word) {
        constant.replace(at, 1, "vec2f(0.5, -3)");
      }
      at = constant.find('x', at + (word ? 14 : 1));
    }
    const Shape shape{"f32",
                      matrix                                                            ? 2u
                      : text.find("zyx") != text.npos && text.find("wzxy") == text.npos ? 3u
                                                                                        : 4u,
                      matrix ? 2u : 1u};
    rows.push_back(
        {.name = std::string(text),
         .statements = fmt::format("var x = vec2f(0.5, -3); const c = {}; let r = {}; equal = {};",
                                   constant, text, EqualText(shape, ""))});
  }
}

// A `let` of a pointer is evaluated where it stands, however late it is used.
void AddPointers(std::vector<MeaningRow>& rows) {
  rows.push_back({.name = "a pointer in a continuing block",
                  .statements = "var a = array<u32, 4>(); var i = 0u; loop { if i >= 2u { break; } "
                                "let p = &a[i]; i = i + 1u; continuing { *p = *p + 7u; } } "
                                "equal = a[0] == 7u && a[1] == 7u && a[2] == 0u;"});
  rows.push_back(
      {.name = "a pointer of a pointer in a continuing block",
       .statements =
           "var a = array<array<u32, 2>, 2>(); var i = 0u; loop { let p = &a[i]; "
           "let q = &(*p)[1u - i]; i = i + 1u; continuing { *q = i; break if i == 2u; } } "
           "equal = a[0][1] == 1u && a[1][0] == 2u && a[0][0] == 0u && a[1][1] == 0u;"});
  rows.push_back({.name = "a pointer in a condition behind the continuing block",
                  .statements =
                      "var a = array<u32, 4>(3u, 5u, 0u, 9u); var i = 0u; loop { let p = &a[i]; "
                      "i = i + 1u; continuing { break if *p == 0u; } } equal = i == 3u;"});
}

}  // namespace

std::vector<MeaningRow> MeaningRows() {
  std::vector<MeaningRow> rows;
  AddOverloads(rows);
  AddConversions(rows);
  AddConstructors(rows);
  AddPointers(rows);
  return rows;
}

std::string ProgramOf(std::span<const MeaningRow> rows) {
  std::string text =
      "@group(0) @binding(0) var<storage, read_write> made : array<u32>;\n"
      "@compute @workgroup_size(1) fn main() {\n  var equal = false;\n";
  for (size_t i = 0; i < rows.size(); ++i) {
    text += fmt::format("  {{ {} made[{}] = select(1u, 2u, equal); }}\n", rows[i].statements, i);
  }
  return text + "}\n";
}

}  // namespace kiln::wgsl::front
