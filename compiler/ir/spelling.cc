// SPDX-License-Identifier: MIT
// Spells and reads names, leaf types and scalar constants.
#include "compiler/ir/spelling.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/ir/enum_names.h"

namespace kiln::ir {
namespace {

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::optional<Scalar> ScalarOfLetter(char letter) {
  for (uint32_t i = 1; i < CountOf<Scalar>(); ++i) {
    if (ScalarLetter(static_cast<Scalar>(i)) == letter) {
      return static_cast<Scalar>(i);
    }
  }
  return std::nullopt;
}

// A count of 1 to 4 written as one digit; 0 for anything else.
uint8_t DigitAt(std::string_view text, size_t i) {
  return i < text.size() && text[i] >= '1' && text[i] <= '4' ? static_cast<uint8_t>(text[i] - '0')
                                                             : uint8_t{0};
}

Scalar ScalarOfKind(ValueKind kind) {
  switch (kind) {
    case ValueKind::kFlag:
      return Scalar::kBool;
    case ValueKind::kUint:
      return Scalar::kU32;
    case ValueKind::kSint:
      return Scalar::kS32;
    case ValueKind::kFloat:
      return Scalar::kF32;
    case ValueKind::kString:
    case ValueKind::kFailed:
      return Scalar::kNone;
  }
  KILN_UNREACHABLE();
}

bool Eat(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) {
    return false;
  }
  text.remove_prefix(prefix.size());
  return true;
}

// "2d_array<u>" behind the prefix.
std::optional<Type> ParseImage(std::string_view text, ImageTraits traits) {
  std::string_view parameter;
  if (const size_t open = text.find('<'); open != std::string_view::npos) {
    if (!text.ends_with('>')) {
      return std::nullopt;
    }
    parameter = text.substr(open + 1, text.size() - open - 2);
    text = text.substr(0, open);
  }
  if (text.ends_with("_array")) {
    traits.arrayed = true;
    text.remove_suffix(6);
  }
  const std::optional<ImageDim> dim = FromName<ImageDim>(text);
  if (!dim) {
    return std::nullopt;
  }
  traits.dim = *dim;
  std::optional<Scalar> item = Scalar::kF32;
  if (traits.storage) {
    const std::optional<ImageFormat> format = FromName<ImageFormat>(parameter);
    traits.format = format.value_or(ImageFormat::kUnknown);
    item = format ? std::optional(ItemOf(*format)) : std::nullopt;
  } else if (!parameter.empty()) {
    item = parameter.size() == 1 ? ScalarOfLetter(parameter[0]) : std::nullopt;
  }
  if (!item) {
    return std::nullopt;
  }
  return Type{.kind = TypeKind::kImage, .scalar = *item, .extent = PackImage(traits)};
}

std::string ImageText(const Type& type) {
  const ImageTraits traits = UnpackImage(type.extent);
  const std::string_view array = traits.arrayed ? "_array" : "";
  if (traits.storage) {
    return fmt::format("storage_image_{}{}<{}>", NameOf(traits.dim), array, NameOf(traits.format));
  }
  std::string text =
      fmt::format("image_{}_{}{}", traits.depth ? "depth" : "color", NameOf(traits.dim), array);
  if (type.scalar != Scalar::kF32) {
    text += fmt::format("<{}>", ScalarLetter(type.scalar));
  }
  return text;
}

}  // namespace

bool IsWord(std::string_view text) {
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') &&
         std::ranges::all_of(text, IsWordCharacter);
}

std::string Quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c < 0x20 || c > 0x7e || c == '"' || c == '\\') {
      quoted += fmt::format("\\x{:02x}", static_cast<uint8_t>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string NameText(std::string_view name) {
  return IsWord(name) ? std::string(name) : Quote(name);
}

Scalar ItemOf(ImageFormat format) {
  const std::string_view name = NameOf(format);
  if (name.ends_with("_sint")) {
    return Scalar::kS32;
  }
  return name.ends_with("_uint") ? Scalar::kU32 : Scalar::kF32;
}

namespace {
// Of rows and columns, which are at most four.
char Digit(uint8_t number) { return static_cast<char>('0' + number); }
}  // namespace

std::string LeafText(const Type& type) {
  const char letter = ScalarLetter(type.scalar);
  switch (type.kind) {
    case TypeKind::kVoid:
      return "void";
    case TypeKind::kVector:
      return type.scalar == Scalar::kBool && type.rows == 1 ? "bool"
                                                            : std::string{letter, Digit(type.rows)};
    case TypeKind::kMatrix:
      return {letter, Digit(type.columns), 'x', Digit(type.rows)};
    case TypeKind::kSampler:
      return "sampler";
    case TypeKind::kImage:
      return ImageText(type);
    case TypeKind::kDeferred:
      return "deferred";
    case TypeKind::kArray:
    case TypeKind::kRuntimeArray:
    case TypeKind::kStruct:
    case TypeKind::kNamed:
      break;
  }
  KILN_UNREACHABLE();
}

std::optional<Type> ParseLeaf(std::string_view text) {
  if (text == "void") {
    return VoidType();
  }
  if (text == "bool") {
    return VectorType(Scalar::kBool, 1);
  }
  if (text == "sampler") {
    return Type{.kind = TypeKind::kSampler};
  }
  if (text == "deferred") {
    return Type{.kind = TypeKind::kDeferred};
  }
  if (Eat(text, "storage_image_")) {
    return ParseImage(text, {.storage = true});
  }
  if (Eat(text, "image_color_")) {
    return ParseImage(text, {});
  }
  if (Eat(text, "image_depth_")) {
    return ParseImage(text, {.depth = true});
  }
  const std::optional<Scalar> scalar = text.empty() ? std::nullopt : ScalarOfLetter(text[0]);
  const uint8_t first = DigitAt(text, 1);
  if (!scalar || first == 0) {
    return std::nullopt;
  }
  if (text.size() == 2) {
    return VectorType(*scalar, first);
  }
  const uint8_t rows = DigitAt(text, 3);
  return text.size() == 4 && text[2] == 'x' && rows >= 2 && first >= 2
             ? std::optional(MatrixType(*scalar, first, rows))
             : std::nullopt;
}

std::string ScalarText(Scalar scalar, uint32_t bits) {
  switch (scalar) {
    case Scalar::kF32: {
      const float value = std::bit_cast<float>(bits);
      if (!std::isfinite(value)) {
        break;
      }
      std::string text = fmt::format("{}", value);
      return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
    }
    case Scalar::kU32:
      return fmt::format("{}", bits);
    case Scalar::kS32:
      return fmt::format("{}", static_cast<int32_t>(bits));
    case Scalar::kBool:
      if (bits > 1) {
        break;
      }
      return bits != 0 ? "true" : "false";
    case Scalar::kF16:
    case Scalar::kNone:
      break;
  }
  return fmt::format("0x{:08x}", bits);
}

std::optional<uint32_t> ParseScalar(Scalar scalar, std::string_view text) {
  const auto parse = [](std::string_view digits, auto value, auto... format) {
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, format...);
    return error == std::errc() && end == digits.data() + digits.size()
               ? std::optional(std::bit_cast<uint32_t>(value))
               : std::nullopt;
  };
  if (text.starts_with("0x")) {
    return parse(text.substr(2), uint32_t{0}, 16);
  }
  switch (scalar) {
    case Scalar::kF32:
      return parse(text, 0.0f);
    case Scalar::kU32:
      return parse(text, uint32_t{0}, 10);
    case Scalar::kS32:
      return parse(text, int32_t{0}, 10);
    case Scalar::kBool:
      return text == "true"    ? std::optional<uint32_t>(1)
             : text == "false" ? std::optional<uint32_t>(0)
                               : std::nullopt;
    case Scalar::kF16:
    case Scalar::kNone:
      break;
  }
  return std::nullopt;
}

std::string ValueText(ValueKind kind, uint32_t bits) {
  return ScalarText(ScalarOfKind(kind), bits);
}
std::optional<uint32_t> ParseValue(ValueKind kind, std::string_view text) {
  return ParseScalar(ScalarOfKind(kind), text);
}

}  // namespace kiln::ir
