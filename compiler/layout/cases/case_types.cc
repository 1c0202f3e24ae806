// SPDX-License-Identifier: MIT
#include "compiler/layout/cases/case_types.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace kiln::layout {
namespace {

Error Wrong(std::string text) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(text), .reason = {}};
}

// The first name that is equal counts; lists are short.
struct ScalarName {
  std::string_view text;
  ScalarKind scalar;
};
// The names of WGSL and GLSL-like texts, where a type says its bits.
constexpr ScalarName kScalarNames[] = {
    {"f32", ScalarKind::kF32},   {"i32", ScalarKind::kI32}, {"u32", ScalarKind::kU32},
    {"bool", ScalarKind::kBool}, {"f16", ScalarKind::kF16}, {"i16", ScalarKind::kI16},
    {"u16", ScalarKind::kU16},   {"f64", ScalarKind::kF64}, {"i64", ScalarKind::kI64},
    {"u64", ScalarKind::kU64},   {"i8", ScalarKind::kI8},   {"u8", ScalarKind::kU8},
};
// HLSL's, which take a number of components.
constexpr ScalarName kHlslScalars[] = {
    {"float", ScalarKind::kF32},     {"int", ScalarKind::kI32},      {"uint", ScalarKind::kU32},
    {"bool", ScalarKind::kBool},     {"half", ScalarKind::kF16},     {"double", ScalarKind::kF64},
    {"float16_t", ScalarKind::kF16}, {"int16_t", ScalarKind::kI16},  {"uint16_t", ScalarKind::kU16},
    {"int64_t", ScalarKind::kI64},   {"uint64_t", ScalarKind::kU64},
};

// Linear: a dozen rows, and cases are a few hundred.
template <size_t kCount>
std::optional<ScalarKind> FindScalar(const ScalarName (&names)[kCount], std::string_view text) {
  for (const ScalarName& name : names) {
    if (name.text == text) {
      return name.scalar;
    }
  }
  return std::nullopt;
}

// Vectors have up to four components.
bool IsSize(char c) { return c >= '1' && c <= '4'; }

// What HLSL calls a resource, without its type argument.
// What matters to the layout is only which kind of register a resource takes, so all textures are
// one class.
std::optional<ResourceClass> ClassOfName(std::string_view name) {
  constexpr std::string_view kRead[] = {"Texture1D",
                                        "Texture1DArray",
                                        "Texture2D",
                                        "Texture2DArray",
                                        "Texture2DMS",
                                        "Texture2DMSArray",
                                        "Texture3D",
                                        "TextureCube",
                                        "TextureCubeArray",
                                        "Buffer",
                                        "StructuredBuffer",
                                        "ByteAddressBuffer",
                                        "RaytracingAccelerationStructure"};
  constexpr std::string_view kWrite[] = {
      "RWTexture1D",        "RWTexture1DArray",   "RWTexture2D",        "RWTexture2DArray",
      "RWTexture3D",        "RWTexture2DMS",      "RWTexture2DMSArray", "RWBuffer",
      "RWStructuredBuffer", "RWByteAddressBuffer"};
  constexpr std::string_view kCombined[] = {
      "Sampler1D",       "Sampler1DArray",       "Sampler2D",         "Sampler2DArray",
      "Sampler3D",       "SamplerCube",          "SamplerCubeArray",  "Sampler2DMS",
      "Sampler2DShadow", "Sampler2DArrayShadow", "SamplerCubeShadow", "SamplerCubeArrayShadow"};
  const auto in = [&](const auto& names) {
    return std::ranges::find(names, name) != std::end(names);
  };
  if (in(kRead)) {
    return ResourceClass::kRead;
  }
  constexpr std::string_view kOrdered = "RasterizerOrdered";
  // A rasterizer-ordered resource is the writable one of the same name.
  if (in(kWrite) || (name.starts_with(kOrdered) && in(kWrite) == false &&
                     std::ranges::find(kWrite, "RW" + std::string(name.substr(kOrdered.size()))) !=
                         std::end(kWrite))) {
    return ResourceClass::kWrite;
  }
  if (in(kCombined)) {
    return ResourceClass::kCombined;
  }
  if (name == "AppendStructuredBuffer" || name == "ConsumeStructuredBuffer") {
    return ResourceClass::kCounted;
  }
  if (name == "SamplerState" || name == "SamplerComparisonState") {
    return ResourceClass::kSampler;
  }
  if (name == "TextureBuffer") {
    return ResourceClass::kTextureBuffer;
  }
  if (name == "SubpassInput" || name == "SubpassInputMS") {
    return ResourceClass::kSubpass;
  }
  return std::nullopt;
}

// Of the other resources the argument is a format, which has no bytes in a block.
// Whether the argument is a type with a layout.
bool HasElement(std::string_view name) {
  return name.ends_with("StructuredBuffer") || name == "TextureBuffer";
}

// In bytes. Files are written by people, and no type that somebody wrote is longer.
constexpr size_t kMaxTypeText = 1u << 16;

// Counted on the text before it is read, because reading calls itself once for each bracket.
// How deep angle brackets are nested: what reading takes of the stack.
uint32_t DepthOf(std::string_view text) {
  uint32_t depth = 0;
  uint32_t deepest = 0;
  for (const char c : text) {
    depth += c == '<' ? 1 : 0;
    depth -= c == '>' && depth != 0 ? 1 : 0;
    deepest = std::max(deepest, depth);
  }
  return deepest;
}

// Where the base ends and the extents begin: the first '[' outside of angle brackets.
size_t FindExtents(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '<' ? 1 : text[i] == '>' ? -1 : 0;
    if (text[i] == '[' && depth == 0) {
      return i;
    }
  }
  return text.size();
}

// A number of items; one that does not fit is the largest there is.
std::optional<uint64_t> ReadExtent(std::string_view text) {
  if (text.empty() || !std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; })) {
    return std::nullopt;
  }
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  // Too large is not refused here: the layout has a message for arrays that are too long.
  return error == std::errc{} ? number : ~uint64_t{0};
}

// Names in a type that could be structs.
// Too many names do no harm: what is no struct is not found.
std::vector<std::string> NamesIn(std::string_view text) {
  std::vector<std::string> names;
  std::string name;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      name += c;
    } else if (!name.empty()) {
      names.push_back(std::exchange(name, {}));
    }
  }
  if (!name.empty()) {
    names.push_back(name);
  }
  return names;
}

}  // namespace

// [name, type] or [name, type, order].
Result<void> CheckFields(const Json& fields) {
  if (!fields.is_array()) {
    return Wrong("fields are not a list");
  }
  for (const Json& field : fields) {
    const bool good = field.is_array() && field.size() >= 2 && field.size() <= 3 &&
                      std::ranges::all_of(field, [](const Json& part) { return part.is_string(); });
    if (!good) {
      return Wrong(fmt::format("'{}' is not a field [name, type]", Shortened(field.dump())));
    }
  }
  return {};
}

// The order of the file does not matter: structs may mention later ones.
Result<void> CaseTypes::ReadStructs(const Json& structs) {
  if (!structs.is_object()) {
    return Wrong("structs are not an object");
  }
  WrittenStructs written;
  for (const auto& [name, fields] : structs.get_ref<const Json::object_t&>()) {
    KILN_TRY_VOID(CheckFields(fields));
    written.emplace(name, &fields);
  }
  // In the order of their names; each is read behind those that it mentions.
  for (const auto& [name, fields] : written) {
    KILN_TRY_VOID(Visit(name, written));
  }
  return {};
}

// Reads what a struct names before the struct, with a stack of its own because files nest them as
// deep as they like.
Result<void> CaseTypes::Visit(std::string_view root, const WrittenStructs& written) {
  struct Frame {
    std::string_view name;
    const Json* fields = nullptr;
    std::vector<std::string> names;  // that its fields mention
    size_t next = 0;
  };
  // `open` has the names that are on the stack: meeting one of them again is a circle.
  std::vector<Frame> stack;
  std::set<std::string_view> open;
  const auto enter = [&](std::string_view name, const Json& fields) {
    Frame frame{.name = name, .fields = &fields, .names = {}};
    for (const Json& field : fields) {
      for (std::string& mentioned : NamesIn(field[1].get_ref<const std::string&>())) {
        frame.names.push_back(std::move(mentioned));
      }
    }
    open.insert(name);
    stack.push_back(std::move(frame));
  };
  if (!structs_.contains(root)) {
    enter(root, *written.at(root));
  }
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (frame.next < frame.names.size()) {
      const auto found = written.find(frame.names[frame.next++]);
      if (found == written.end() || structs_.contains(found->first)) {
        continue;
      }
      // A struct that holds itself gets a type that says so. Layout reports it, and reading goes
      // on.
      if (open.contains(found->first)) {
        // Replaced when it is read.
        // The type stands in for the struct while its members are read, so each of them finds
        // something.
        structs_.emplace(found->first, types_.Endless(types_.Keep(found->first)));
        continue;
      }
      enter(found->first, *found->second);
      continue;
    }
    KILN_TRY(const TypeId type, Struct(types_.Keep(frame.name), *frame.fields));
    structs_.insert_or_assign(std::string(frame.name), type);
    open.erase(frame.name);
    stack.pop_back();
  }
  return {};
}

// All that the members mention was read before (Visit).
Result<TypeId> CaseTypes::Struct(std::string_view name, const Json& fields) {
  std::vector<Member> members;
  members.reserve(fields.size());
  for (const Json& field : fields) {
    KILN_TRY(const TypeId type, Read(field[1].get_ref<const std::string&>()));
    MatrixOrder order = MatrixOrder::kDefault;
    if (field.size() > 2) {
      const std::string& word = field[2].get_ref<const std::string&>();
      if (word != "row" && word != "column" && word != "col") {
        return Wrong(fmt::format("'{}' is not 'row'", Shortened(word)));
      }
      order = word == "row" ? MatrixOrder::kRow : MatrixOrder::kColumn;
    }
    members.push_back({.name = types_.Keep(field[0].get_ref<const std::string&>()),
                       .type = type,
                       .order = order});
  }
  return types_.Struct(name, members);
}

// The form of a type in these files: a name with arguments in angle brackets, then sizes.
Result<TypeId> CaseTypes::Read(std::string_view text) {
  if (text.size() > kMaxTypeText) {
    return Wrong(fmt::format("a type of {} bytes is too long", text.size()));
  }
  // Too deep is a type that has no end, which the layout reports like any other fault.
  if (DepthOf(text) > kMaxDepth) {
    return types_.Endless(types_.Keep(text));
  }
  const size_t extents = FindExtents(text);
  KILN_TRY(const TypeId item, Base(text.substr(0, extents)));
  return Arrays(item, text.substr(extents));
}

// "[2][3]" is an array of two arrays of three.
Result<TypeId> CaseTypes::Arrays(TypeId item, std::string_view extents) {
  // From the right to the left, thus from the inside to the outside.
  while (!extents.empty()) {
    const size_t open = extents.rfind('[');
    if (open == std::string_view::npos || extents.back() != ']') {
      return Wrong(fmt::format("'{}' is not an array size", Shortened(extents)));
    }
    const std::string_view count = extents.substr(open + 1, extents.size() - open - 2);
    extents = extents.substr(0, open);
    if (count.empty()) {
      item = types_.RuntimeArray(item);
      continue;
    }
    const std::optional<uint64_t> number = ReadExtent(count);
    if (!number) {
      return Wrong(fmt::format("'{}' is not an array size", Shortened(count)));
    }
    item = types_.Array(item, *number);
  }
  return item;
}

// Structs come first and may have any name, as in the languages that these texts are from.
Result<TypeId> CaseTypes::Base(std::string_view text) {
  if (const auto found = structs_.find(text); found != structs_.end()) {
    return found->second;
  }
  if (const auto scalar = FindScalar(kScalarNames, text)) {
    return types_.Vector(*scalar, 1);
  }
  const size_t angle = text.find('<');
  if (angle != std::string_view::npos && text.back() == '>') {
    return WithArgument(text, text.substr(0, angle),
                        text.substr(angle + 1, text.size() - angle - 2));
  }
  if (const auto resource = ClassOfName(text)) {
    return types_.Resource(*resource, types_.Keep(text));
  }
  // The longest form first: matrix, then scalar, then vector.
  // float, float3, float3x4
  size_t end = text.size();
  const bool matrix =
      end > 3 && IsSize(text[end - 1]) && text[end - 2] == 'x' && IsSize(text[end - 3]);
  if (matrix) {
    if (const auto scalar = FindScalar(kHlslScalars, text.substr(0, end - 3))) {
      return types_.Matrix(*scalar, static_cast<uint32_t>(text[end - 3] - '0'),
                           static_cast<uint32_t>(text[end - 1] - '0'));
    }
  }
  if (const auto scalar = FindScalar(kHlslScalars, text)) {
    return types_.Vector(*scalar, 1);
  }
  if (!text.empty() && IsSize(text.back())) {
    if (const auto scalar = FindScalar(kHlslScalars, text.substr(0, end - 1))) {
      return types_.Vector(*scalar, static_cast<uint32_t>(text.back() - '0'));
    }
  }
  return Wrong(fmt::format("'{}' is not a type", Shortened(text)));
}

// Texts stay the names of the types they make, so that messages quote the file.
Result<TypeId> CaseTypes::WithArgument(std::string_view text, std::string_view name,
                                       std::string_view argument) {
  if (name == "ConstantBuffer" || name == "ParameterBlock") {
    KILN_TRY(const TypeId content, Read(argument));
    return name == "ConstantBuffer" ? types_.ConstantBuffer(types_.Keep(text), content)
                                    : types_.ParameterBlock(types_.Keep(text), content);
  }
  if (const auto resource = ClassOfName(name)) {
    TypeId element;
    if (HasElement(name)) {
      KILN_TRY(element, Read(argument));
    }
    return types_.Resource(*resource, types_.Keep(text), element);
  }
  // vec3<f32>, mat_r3c4<f32>: only in these the argument is a scalar by its WGSL name.
  const auto scalar = FindScalar(kScalarNames, argument);
  if (scalar && name.size() == 4 && name.starts_with("vec") && IsSize(name[3])) {
    return types_.Vector(*scalar, static_cast<uint32_t>(name[3] - '0'));
  }
  if (scalar && name.size() == 8 && name.starts_with("mat_r") && IsSize(name[5]) &&
      name[6] == 'c' && IsSize(name[7])) {
    return types_.Matrix(*scalar, static_cast<uint32_t>(name[5] - '0'),
                         static_cast<uint32_t>(name[7] - '0'));
  }
  return Wrong(fmt::format("'{}' is not a type", Shortened(text)));
}

// The types of RPL: `f4x4[2]...`. There are no structs among them.
Result<TypeId> CaseTypes::ReadRpl(std::string_view text) {
  if (text.size() > kMaxTypeText) {
    return Wrong(fmt::format("a type of {} bytes is too long", text.size()));
  }
  constexpr std::string_view kTail = "...";
  size_t tails = 0;
  // `f4...` is a runtime array of f4: the dots stand at the end and are taken off first.
  for (; text.ends_with(kTail); text.remove_suffix(kTail.size())) {
    ++tails;
  }
  const size_t extents = FindExtents(text);
  const std::string_view base = text.substr(0, extents);
  constexpr std::string_view kLetters = "fusbh";
  constexpr ScalarKind kScalars[] = {ScalarKind::kF32, ScalarKind::kU32, ScalarKind::kI32,
                                     ScalarKind::kBool, ScalarKind::kF16};
  const size_t letter = base.empty() ? std::string_view::npos : kLetters.find(base[0]);
  const bool vector = base.size() == 2 && IsSize(base[1]);
  const bool matrix = base.size() == 4 && IsSize(base[1]) && base[2] == 'x' && IsSize(base[3]);
  if (letter == std::string_view::npos || (!vector && !matrix)) {
    return Wrong(fmt::format("'{}' is not a type of RPL", Shortened(text)));
  }
  const auto first = static_cast<uint32_t>(base[1] - '0');
  // Columns come first in RPL.
  const TypeId item =
      vector ? types_.Vector(kScalars[letter], first)
             : types_.Matrix(kScalars[letter], static_cast<uint32_t>(base[3] - '0'), first);
  KILN_TRY(TypeId type, Arrays(item, text.substr(extents)));
  for (; tails != 0; --tails) {
    type = types_.RuntimeArray(type);
  }
  return type;
}

}  // namespace kiln::layout
