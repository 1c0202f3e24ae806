// SPDX-License-Identifier: MIT
// Spells and reads names, leaf types and scalar constants.
#include "compiler/ir/text/spelling.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <type_traits>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/base/text/words.h"
#include "compiler/ir/enum_names.h"

namespace kiln::ir {
namespace {

// Of names that are written without quotes.
bool IsWordCharacter(char c) {
  // Without the functions of the C library, which depend on the locale.
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::optional<Scalar> ScalarOfLetter(char letter) {
  // Scalar 0 is none and has no letter.
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

// None for texts and failed values, which are spelled elsewhere.
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

// False leaves the text as it is.
bool Eat(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) {
    return false;
  }
  text.remove_prefix(prefix.size());
  return true;
}

// Can the image be said as RPL says it?
bool HasShortText(const Type& type, const ImageTraits& traits) {
  const bool plain = traits.dim <= ImageDim::kCube && !traits.unknown_depth &&
                     !traits.multisampled && !(traits.storage && traits.depth);
  // A storage image has the scalar of its format in RPL, so another scalar needs the long form.
  return plain && (!traits.storage || type.scalar == ItemOf(traits.format));
}

// "image(2d array ms) u1"
std::string LongImageText(const Type& type, const ImageTraits& traits) {
  std::string text = fmt::format("image({}", NameOf(traits.dim));
  const auto add = [&text](bool holds, std::string_view word) {
    text += holds ? fmt::format(" {}", word) : "";
  };
  add(traits.arrayed, "array");
  add(traits.multisampled, "ms");
  add(traits.storage, fmt::format("storage {}", NameOf(traits.format)));
  add(traits.depth, "depth");
  add(traits.unknown_depth, "unknown");
  return fmt::format("{}) {}1", text, ScalarLetter(type.scalar));
}

// "2d array ms) u1" behind "image(".
std::optional<Type> ParseLongImage(std::string_view text) {
  const size_t close = text.find(')');
  if (close == std::string_view::npos || text.size() != close + 4 || text[close + 1] != ' ' ||
      text[close + 3] != '1') {
    return std::nullopt;
  }
  const std::optional<Scalar> item = ScalarOfLetter(text[close + 2]);
  std::string_view words = text.substr(0, close);
  const std::optional<ImageDim> dim = FromName<ImageDim>(TakeWord(words));
  if (!item || !dim) {
    return std::nullopt;
  }
  ImageTraits traits{.dim = *dim};
  while (!words.empty()) {
    const std::string_view word = TakeWord(words);
    if (word == "array") {
      traits.arrayed = true;
    } else if (word == "ms") {
      traits.multisampled = true;
    } else if (word == "depth") {
      traits.depth = true;
    } else if (word == "unknown") {
      traits.unknown_depth = true;
    } else if (word == "storage") {
      const std::optional<ImageFormat> format = FromName<ImageFormat>(TakeWord(words));
      // A format that nobody knows leaves the trait off, and the check below refuses the image.
      traits.storage = format.has_value();
      traits.format = format.value_or(ImageFormat::kUnknown);
    }
    // Unknown words are no image at all; a trait that was skipped would be lost in a round trip.
    if (word == "storage"
            ? !traits.storage
            : word != "array" && word != "ms" && word != "depth" && word != "unknown") {
      return std::nullopt;
    }
  }
  return Type{.kind = TypeKind::kImage, .scalar = *item, .extent = PackImage(traits)};
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
  // The suffix is taken before the dimension, as no name of a dimension ends like this.
  if (text.ends_with("_array")) {
    traits.arrayed = true;
    text.remove_suffix(6);
  }
  const std::optional<ImageDim> dim = FromName<ImageDim>(text);
  // Dimensions behind the cube are written in the long form.
  if (!dim || *dim > ImageDim::kCube) {
    return std::nullopt;
  }
  traits.dim = *dim;
  // The item is a float unless the text says otherwise, as in RPL. A storage image has the item of
  // its format, so it names the format only.
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

// The reader takes both forms, whichever the printer chooses.
std::string ImageText(const Type& type) {
  const ImageTraits traits = UnpackImage(type.extent);
  // The short form is that of RPL, and it cannot say everything that HLSL and WGSL have; the long
  // form says all. An image is printed in one of them only, so equal types have equal texts.
  if (!HasShortText(type, traits)) {
    return LongImageText(type, traits);
  }
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

// Names that begin with a digit would be read as numbers.
bool IsWord(std::string_view text) {
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') &&
         std::ranges::all_of(text, IsWordCharacter);
}

// Everything outside of printable ASCII is escaped byte by byte. So a text stays ASCII and one
// line, whatever a name or a file path holds, and it is read back to the same bytes.
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

// Names of HLSL may hold dots and those of other modules anything, so some have to be quoted.
std::string NameText(std::string_view name) {
  return IsWord(name) ? std::string(name) : Quote(name);
}

// The names of formats end with the type of their items, and only the two formats of 64 bits need a
// wider scalar than the suffix says.
Scalar ItemOf(ImageFormat format) {
  const std::string_view name = NameOf(format);
  if (format == ImageFormat::kR64Sint || format == ImageFormat::kR64Uint) {
    return format == ImageFormat::kR64Sint ? Scalar::kS64 : Scalar::kU64;
  }
  if (name.ends_with("_sint")) {
    return Scalar::kS32;
  }
  return name.ends_with("_uint") ? Scalar::kU32 : Scalar::kF32;
}

namespace {
// Of rows and columns, which are at most four.
char Digit(uint8_t number) { return static_cast<char>('0' + number); }
}  // namespace

// The text of a type without parts, as ParseLeaf reads it.
std::string LeafText(const Type& type) {
  const char letter = ScalarLetter(type.scalar);
  switch (type.kind) {
    case TypeKind::kVoid:
      return "void";
    case TypeKind::kVector:
      // A single boolean is called as in the languages; vectors of them have the letter.
      return type.scalar == Scalar::kBool && type.rows == 1 ? "bool"
                                                            : std::string{letter, Digit(type.rows)};
    case TypeKind::kMatrix:
      return {letter, Digit(type.columns), 'x', Digit(type.rows)};
    case TypeKind::kSampler:
      return "sampler";
    case TypeKind::kImage:
      return ImageText(type);
    case TypeKind::kSampledImage:
      return "sampled " + ImageText(type);
    case TypeKind::kAccel:
      return "accel";
    case TypeKind::kRayQuery:
      return "ray_query";
    case TypeKind::kDeferred:
      return "deferred";
    case TypeKind::kArray:
    case TypeKind::kRuntimeArray:
    case TypeKind::kStruct:
    case TypeKind::kNamed:
    case TypeKind::kDeclared:
      break;
  }
  KILN_UNREACHABLE();
}

// Takes more than LeafText writes, such as `b1` for `bool`; each text is one type all the same.
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
  if (text == "accel") {
    return Type{.kind = TypeKind::kAccel};
  }
  if (text == "ray_query") {
    return Type{.kind = TypeKind::kRayQuery};
  }
  // `sampled sampled` would otherwise be read by recursion as deep as the text is long.
  if (Eat(text, "sampled ")) {
    std::optional<Type> image = text.starts_with("sampled ") ? std::nullopt : ParseLeaf(text);
    if (image) {
      image->kind = image->kind == TypeKind::kImage ? TypeKind::kSampledImage : TypeKind::kVoid;
    }
    return image && image->kind == TypeKind::kSampledImage ? image : std::nullopt;
  }
  if (Eat(text, "image(")) {
    return ParseLongImage(text);
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
  // What is left is a letter and one or two digits: `f3` or `f3x4`, columns first. A matrix with
  // one row or one column is written as a vector, so it is refused here.
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

namespace {

// The shortest text that reads back to the same bits; with the `.0` it cannot be taken for an
// integer.
std::string FloatText(auto value) {
  std::string text = fmt::format("{}", value);
  // Very large and very small numbers are printed with an exponent, which marks a float as well.
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

// Decimal digits, as a number of type T.
template <class T, class... Format>
std::optional<T> Parse(std::string_view digits, Format... format) {
  T value{};
  // The whole text has to be the number: `1x` is none.
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, format...);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole ? std::optional(value) : std::nullopt;
}

// The bits of a number of type T, zero above.
template <class T>
std::optional<uint64_t> ParseNumber(std::string_view text) {
  // A bit cast needs a word of the same size; the wider result has zeros above.
  using Word = std::conditional_t<sizeof(T) == 8, uint64_t,
                                  std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>>;
  const std::optional<T> value = Parse<T>(text);
  return value ? std::optional<uint64_t>(std::bit_cast<Word>(*value)) : std::nullopt;
}

}  // namespace

// Infinities and NaNs are printed as bits: a NaN has a payload, and no decimal text would bring it
// back. Halves are always bits, because C++20 has no type to convert them with.
std::string ScalarText(Scalar scalar, uint64_t bits) {
  const auto low = static_cast<uint32_t>(bits);
  switch (scalar) {
    case Scalar::kF32:
      // Infinities and NaNs fall through to the bits.
      if (const auto value = std::bit_cast<float>(low); std::isfinite(value)) {
        return FloatText(value);
      }
      break;
    case Scalar::kF64:
      if (const auto value = std::bit_cast<double>(bits); std::isfinite(value)) {
        return FloatText(value);
      }
      return fmt::format("0x{:016x}", bits);
    case Scalar::kU32:
    case Scalar::kU64:
    case Scalar::kU16:
      return fmt::format("{}", bits);
    case Scalar::kS32:
      return fmt::format("{}", static_cast<int32_t>(low));
    case Scalar::kS64:
      return fmt::format("{}", static_cast<int64_t>(bits));
    case Scalar::kS16:
      return fmt::format("{}", static_cast<int16_t>(low));
    case Scalar::kBool:
      if (bits > 1) {
        break;
      }
      return bits != 0 ? "true" : "false";
    case Scalar::kF16:
    case Scalar::kNone:
      break;
  }
  return fmt::format("0x{:08x}", low);
}

// What ScalarText writes comes back bit by bit.
std::optional<uint64_t> ParseBits(Scalar scalar, std::string_view text) {
  // Bits are accepted for every scalar, as they are what is printed when a value has no text.
  if (text.starts_with("0x")) {
    // Where a value has 32 bits or fewer, more digits would be lost.
    const std::optional<uint64_t> bits = Parse<uint64_t>(text.substr(2), 16);
    const bool wide = scalar != Scalar::kNone && BitWidthOf(scalar) == 64;
    return bits && (wide || *bits <= UINT32_MAX) ? bits : std::nullopt;
  }
  switch (scalar) {
    case Scalar::kF32:
      return ParseNumber<float>(text);
    case Scalar::kF64:
      return ParseNumber<double>(text);
    case Scalar::kU32:
      return ParseNumber<uint32_t>(text);
    case Scalar::kS32:
      return ParseNumber<int32_t>(text);
    case Scalar::kU64:
      return ParseNumber<uint64_t>(text);
    case Scalar::kS64:
      return ParseNumber<int64_t>(text);
    case Scalar::kU16:
      return ParseNumber<uint16_t>(text);
    case Scalar::kS16:
      return ParseNumber<int16_t>(text);
    case Scalar::kBool:
      return text == "true"    ? std::optional<uint64_t>(1)
             : text == "false" ? std::optional<uint64_t>(0)
                               : std::nullopt;
    case Scalar::kF16:
    case Scalar::kNone:
      break;
  }
  return std::nullopt;
}

// Nothing for values of 64 bits that do not fit.
std::optional<uint32_t> ParseScalar(Scalar scalar, std::string_view text) {
  const std::optional<uint64_t> bits = ParseBits(scalar, text);
  return bits && *bits <= UINT32_MAX ? std::optional(static_cast<uint32_t>(*bits)) : std::nullopt;
}

std::string ValueText(ValueKind kind, uint32_t bits) {
  return ScalarText(ScalarOfKind(kind), bits);
}
std::optional<uint32_t> ParseValue(ValueKind kind, std::string_view text) {
  return ParseScalar(ScalarOfKind(kind), text);
}

}  // namespace kiln::ir
