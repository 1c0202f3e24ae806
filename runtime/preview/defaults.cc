// SPDX-License-Identifier: MIT
#include "runtime/preview/defaults.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/base/hash/checksum.h"
#include "compiler/base/text/closest_name.h"
#include "runtime/pipeline/parameter_block.h"

namespace kiln::preview {
namespace {

using artifact::Parameter;
using artifact::ParameterType;

constexpr Matrix kIdentity = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
// The shapes have a radius of about 0.8, so from this distance with 45 degrees they fill most of
// the picture, and near and far are well away from them.
constexpr float kDistance = 3;
constexpr float kNear = 0.1F;
constexpr float kFar = 10;

// Without case and underscores, of a dotted name the last part.
std::string Plain(std::string_view name) {
  std::string out;
  // Without a dot the search gives the largest number, and one more is zero: the whole name.
  for (const char c : name.substr(name.rfind('.') + 1)) {
    if (c != '_') {
      out += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
  }
  return out;
}

enum class Meaning : uint8_t {
  kClip,
  kProjection,
  kView,
  kModel,
  kEye,
  kLight,
  kTime,
  kFrame,
  kPosition,
  kNormal,
  kTangent,
  kBitangent,
  kUv,
  kColor,
  kJoints,
  kWeights,
  kNone
};

struct Word {
  std::string_view word;
  Meaning meaning;
};
// Underscores left out, as Plain does.
// Words that engines use for the same thing. Only whole names match: a part of a name says too
// little, and a wrong matrix is worse than the identity.
constexpr Word kParameterWords[] = {{"cliptransform", Meaning::kClip},
                                    {"projectionviewmatrix", Meaning::kClip},
                                    {"viewprojection", Meaning::kClip},
                                    {"clipfromworld", Meaning::kClip},
                                    {"projectionmulview", Meaning::kClip},
                                    {"projection", Meaning::kProjection},
                                    {"projectionmatrix", Meaning::kProjection},
                                    {"view", Meaning::kView},
                                    {"viewmatrix", Meaning::kView},
                                    {"model", Meaning::kModel},
                                    {"modelmatrix", Meaning::kModel},
                                    {"modelspace", Meaning::kModel},
                                    {"world", Meaning::kModel},
                                    {"worldtransform", Meaning::kModel},
                                    {"cameraposition", Meaning::kEye},
                                    {"eye", Meaning::kEye},
                                    {"lightdirection", Meaning::kLight},
                                    {"sundirection", Meaning::kLight},
                                    {"time", Meaning::kTime},
                                    {"clock", Meaning::kTime},
                                    {"frame", Meaning::kFrame}};
// `numbered`: a digit or a suffix may follow.
constexpr Word kAttributeWords[] = {
    {"position", Meaning::kPosition},       {"pos", Meaning::kPosition},
    {"vertexposition", Meaning::kPosition}, {"normal", Meaning::kNormal},
    {"tangent", Meaning::kTangent},         {"bitangent", Meaning::kBitangent},
    {"jointindices", Meaning::kJoints},     {"boneindices", Meaning::kJoints},
    {"jointweights", Meaning::kWeights},    {"boneweights", Meaning::kWeights}};

Meaning ParameterMeaning(std::string_view name) {
  const std::string plain = Plain(name);
  for (const Word& word : kParameterWords) {
    if (plain == word.word) {
      return word.meaning;
    }
  }
  return Meaning::kNone;
}

Meaning AttributeMeaning(std::string_view name) {
  std::string plain = Plain(name);
  for (const Word& word : kAttributeWords) {
    if (plain == word.word) {
      return word.meaning;
    }
  }
  // Colours have names such as `color0` and `tint_hair`, so the beginning is enough here.
  for (const std::string_view start : {"color", "colour", "tint"}) {
    if (plain.starts_with(start)) {
      return Meaning::kColor;
    }
  }
  // A shader may have several sets of texture coordinates, which are told apart by a number.
  while (!plain.empty() && plain.back() >= '0' && plain.back() <= '9') {
    plain.pop_back();
  }
  return plain == "uv" || plain == "texcoord" || plain == "texturecoordinates" ? Meaning::kUv
                                                                               : Meaning::kNone;
}

// The first tag with a meaning, else the name.
// A tag comes before the name, because a programmer has put it there to say what the parameter
// means.
template <class Lookup>
Meaning MeaningOf(const std::vector<std::string>& tags, const std::string& name, Lookup lookup,
                  std::string& rule) {
  for (const std::string& tag : tags) {
    if (const Meaning meaning = lookup(tag); meaning != Meaning::kNone) {
      rule = "tag " + tag;
      return meaning;
    }
  }
  const Meaning meaning = lookup(name);
  rule = meaning == Meaning::kNone ? "" : "name " + Plain(name);
  return meaning;
}

bool IsMatrix(ParameterType type) { return ShapeOf(type).columns > 1; }
bool IsInteger(ParameterType type) {
  return type >= ParameterType::kU1 && type <= ParameterType::kS4;
}

// Matrices lie column by column, here and in the blocks.
std::vector<double> FromMatrix(const Matrix& matrix, uint32_t side) {
  std::vector<double> out;
  for (uint32_t column = 0; column < side; ++column) {
    for (uint32_t row = 0; row < side; ++row) {
      out.push_back(matrix[size_t{column} * 4 + row]);
    }
  }
  return out;
}

std::optional<Matrix> MatrixOf(Meaning meaning, const View& view) {
  switch (meaning) {
    case Meaning::kClip:
      return Multiply(view.projection, view.view);
    case Meaning::kProjection:
      return view.projection;
    case Meaning::kView:
      return view.view;
    case Meaning::kModel:
      return view.model;
    case Meaning::kEye:
    case Meaning::kLight:
    case Meaning::kTime:
    case Meaning::kFrame:
    case Meaning::kPosition:
    case Meaning::kNormal:
    case Meaning::kTangent:
    case Meaning::kBitangent:
    case Meaning::kUv:
    case Meaning::kColor:
    case Meaning::kJoints:
    case Meaning::kWeights:
    case Meaning::kNone:
      return std::nullopt;
  }
  KILN_UNREACHABLE();
}

// A vector with a tag means what the engine says, and one of these names no colour: both are ones,
// which change nothing where they multiply.
bool MayBeAColour(const Parameter& parameter) {
  constexpr std::string_view kOthers[] = {"range",  "factor",   "scale",  "offset", "size",
                                          "extent", "position", "normal", "axis",   "direction",
                                          "weight", "param",    "tuning", "bound",  "transform"};
  const std::string name = Plain(parameter.name);
  return parameter.tags.empty() && std::ranges::none_of(kOthers, [&](std::string_view word) {
           return name.find(word) != std::string::npos;
         });
}

// A hue of its own for every name, so that two colours of a shader can be told apart; opaque. The
// same in every process.
std::vector<double> ColourOf(std::string_view name) {
  const double hue = static_cast<double>(Checksum64(AsBytes(name)) % 360) / 60;
  // The usual conversion of a hue at full saturation, squeezed into 0.2 to 0.9, so that no colour
  // is black or burnt out when it is multiplied with light.
  // The three channels are the same curve, shifted by a third of the circle.
  const auto part = [hue](double offset) {
    const double place = std::fmod(hue + offset, 6.0);
    return 0.2 + 0.7 * std::clamp(std::abs(place - 3) - 1, 0.0, 1.0);
  };
  return {part(0), part(4), part(2), 1};
}

// As many values as the type has components.
// The rule goes into the report, so that a user sees why a value is what it is and which name would
// have changed it.
std::vector<double> DefaultOf(const Parameter& parameter, const View& view, std::string& rule) {
  const artifact::AttributeShape shape = ShapeOf(parameter.type);
  const Meaning meaning = MeaningOf(parameter.tags, parameter.name, ParameterMeaning, rule);
  if (IsMatrix(parameter.type)) {
    const std::optional<Matrix> matrix = MatrixOf(meaning, view);
    rule = matrix.has_value() ? rule : "other matrix";
    // Smaller matrices are the upper left part, which for a transform is its rotation.
    return FromMatrix(matrix.value_or(kIdentity), shape.columns);
  }
  std::vector<double> known;
  if (meaning == Meaning::kEye) {
    known = {view.eye[0], view.eye[1], view.eye[2], 1};
  } else if (meaning == Meaning::kLight) {
    // Light from the upper right in front, which shows the form of a shape best.
    const double length = std::sqrt(0.4 * 0.4 + 0.8 * 0.8 + 0.45 * 0.45);
    known = {0.4 / length, 0.8 / length, 0.45 / length, 0};
  } else if (meaning == Meaning::kTime) {
    // Sixty frames are a second, so a picture depends on the number of the frame and never on a
    // clock.
    known.assign(4, view.frame / 60.0);
  } else if (meaning == Meaning::kFrame) {
    known.assign(4, view.frame);
  } else if (!IsInteger(parameter.type) && shape.rows >= 3 && MayBeAColour(parameter)) {
    rule = "colour of the name";
    known = ColourOf(Plain(parameter.name));
  } else {
    rule = IsInteger(parameter.type) ? "other integer" : "other float";
    known.assign(4, IsInteger(parameter.type) ? 0 : 1);
  }
  // Four values were made, of which a smaller vector takes the first.
  known.resize(shape.rows);
  return known;
}

// A tag comes first, then the name with its block, then the name alone: the more exact one wins.
const std::pair<const std::string, std::vector<double>>* FindSet(std::string_view block,
                                                                 const Parameter& parameter,
                                                                 const SetValues& set) {
  std::vector<std::string> names = parameter.tags;
  names.push_back(fmt::format("{}.{}", block, parameter.name));
  names.push_back(parameter.name);
  for (const std::string& name : names) {
    if (const auto found = set.find(name); found != set.end()) {
      return &*found;
    }
  }
  return nullptr;
}

// Values are doubles, as a command line gives them, and become what the block holds only here.
Bytes Encode(ParameterType type, std::span<const double> values) {
  Bytes out;
  for (const double value : values) {
    // The types stand in groups in the enumeration, with the halves last.
    if (type >= ParameterType::kH1) {
      AppendLittle(out, runtime::HalfFromFloat(static_cast<float>(value)));
    } else if (type >= ParameterType::kU1 && type <= ParameterType::kU4) {
      AppendLittle(out, static_cast<uint32_t>(value));
    } else if (IsInteger(type)) {
      AppendLittle(out, static_cast<int32_t>(value));
    } else {
      AppendLittle(out, static_cast<float>(value));
    }
  }
  return out;
}

}  // namespace

Matrix Multiply(const Matrix& a, const Matrix& b) {
  Matrix out{};
  for (size_t column = 0; column < 4; ++column) {
    for (size_t row = 0; row < 4; ++row) {
      for (size_t k = 0; k < 4; ++k) {
        out[column * 4 + row] += a[k * 4 + row] * b[column * 4 + k];
      }
    }
  }
  return out;
}

View MakeView(std::string_view mesh, float aspect, bool reversed, uint32_t frame) {
  View view{.frame = frame};
  // With a reversed test, near and far change their places in the projection, and everything behind
  // stays the same.
  const float near = reversed ? kFar : kNear;
  const float far = reversed ? kNear : kFar;
  const float focus = 1.0F / std::tan(std::numbers::pi_v<float> / 8);  // half of 45°
  // Column by column; the depth goes from 0 to 1, as Vulkan has it.
  view.projection = {focus / aspect,
                     0,
                     0,
                     0,
                     0,
                     focus,
                     0,
                     0,
                     0,
                     0,
                     far / (near - far),
                     -1,
                     0,
                     0,
                     near * far / (near - far),
                     0};
  view.view = kIdentity;
  view.view[14] = -kDistance;
  view.model = kIdentity;
  // A cube seen from the front would be a square; it is turned so that three faces show.
  if (mesh == "cube") {
    const float y = std::numbers::pi_v<float> / 6;
    const float x = std::numbers::pi_v<float> / 9;
    const Matrix about_y = {std::cos(y), 0, -std::sin(y), 0, 0, 1, 0, 0,
                            std::sin(y), 0, std::cos(y),  0, 0, 0, 0, 1};
    const Matrix about_x = {
        1, 0, 0, 0, 0, std::cos(x), std::sin(x), 0, 0, -std::sin(x), std::cos(x), 0, 0, 0, 0, 1};
    view.model = Multiply(about_x, about_y);
  }
  return view;
}

// Every item of an array gets the same value. Padding is zero, so equal parameters give equal
// pictures.
Result<Bytes> FillDefaults(std::string_view block, std::span<const Parameter> parameters,
                           uint32_t size, const View& view, const SetValues& set,
                           std::vector<Match>& matches, std::vector<std::string>& used) {
  Bytes memory(size);
  const runtime::ParameterBlock all(parameters);
  for (uint32_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    std::string rule;
    std::vector<double> values = DefaultOf(parameter, view, rule);
    if (const auto* const given = FindSet(block, parameter, set)) {
      if (given->second.size() != values.size()) {
        return Error{ErrorCode::kInvalidArgument,
                     fmt::format("'{}' is {}, {} values, not {}", given->first,
                                 NameOf(parameter.type), values.size(), given->second.size()),
                     "USAGE"};
      }
      values = given->second;
      rule = "set";
      used.push_back(given->first);
    }
    matches.push_back({fmt::format("{}.{}", block, parameter.name), rule});
    const runtime::ParameterHandle handle = all.Handle(runtime::Slot{i});
    const Bytes bytes = Encode(parameter.type, values);
    // An item is written alone, since the stride of an array may be larger than the item.
    for (uint32_t item = 0; item < handle.items(); ++item) {
      if (!handle.Write(memory, bytes, item)) {
        return Error{ErrorCode::kInvalidArgument,
                     fmt::format("parameter '{}.{}' lies outside its block", block, parameter.name),
                     "METADATA_INVALID"};
      }
    }
  }
  return memory;
}

namespace {

// Components of one element of a vertex attribute.
std::vector<float> VertexValue(Meaning meaning, const Vertex& vertex) {
  const auto& n = vertex.normal;
  const auto& t = vertex.tangent;
  switch (meaning) {
    case Meaning::kPosition:
      return {vertex.position[0], vertex.position[1], vertex.position[2], 1};
    case Meaning::kNormal:
      return {n[0], n[1], n[2], 0};
    case Meaning::kTangent:
      return {t[0], t[1], t[2], t[3]};
    // The third axis follows from the other two and the sign in the tangent, as shaders compute it.
    case Meaning::kBitangent:
      return {(n[1] * t[2] - n[2] * t[1]) * t[3], (n[2] * t[0] - n[0] * t[2]) * t[3],
              (n[0] * t[1] - n[1] * t[0]) * t[3], 0};
    case Meaning::kUv:
      return {vertex.uv[0], vertex.uv[1], 0, 0};
    case Meaning::kColor:
      return {1, 1, 1, 1};
    case Meaning::kWeights:
      return {1, 0, 0, 0};
    case Meaning::kClip:
    case Meaning::kProjection:
    case Meaning::kView:
    case Meaning::kModel:
    case Meaning::kEye:
    case Meaning::kLight:
    case Meaning::kTime:
    case Meaning::kFrame:
    case Meaning::kJoints:
    case Meaning::kNone:
      return {0, 0, 0, 0};
  }
  KILN_UNREACHABLE();
}

bool IsIntegerItem(artifact::ItemFormat item) { return item >= artifact::ItemFormat::kUint8; }
bool IsSignedItem(artifact::ItemFormat item) { return item >= artifact::ItemFormat::kSint8; }

// What an attribute has in every element, and the rule that says so.
struct AttributeValues {
  std::variant<std::vector<float>, std::vector<uint32_t>, std::vector<int32_t>> values;
  uint32_t components = 0;  // of one element
  std::string rule;
};

// Indices of joints and the like: zero is valid for each of them.
AttributeValues ZerosOf(const artifact::Attribute& attribute, uint32_t components, size_t count,
                        const std::string& rule) {
  AttributeValues out{.components = components, .rule = rule.empty() ? "other integer" : rule};
  if (IsSignedItem(attribute.item_format)) {
    out.values = std::vector<int32_t>(count * components);
  } else {
    out.values = std::vector<uint32_t>(count * components);
  }
  return out;
}

AttributeValues MatricesOf(const artifact::Attribute& attribute, uint32_t columns, size_t count,
                           const View& view) {
  std::string rule;
  const bool model =
      MeaningOf(attribute.tags, attribute.name, ParameterMeaning, rule) == Meaning::kModel;
  const std::vector<double> matrix = FromMatrix(model ? view.model : kIdentity, columns);
  std::vector<float> values;
  values.reserve(count * matrix.size());
  for (size_t element = 0; element < count; ++element) {
    values.insert(values.end(), matrix.begin(), matrix.end());
  }
  return {.values = std::move(values),
          .components = static_cast<uint32_t>(matrix.size()),
          .rule = model ? rule : "other matrix"};
}

AttributeValues FloatsOf(Meaning meaning, std::span<const Vertex> elements,
                         const std::string& rule) {
  std::vector<float> values;
  uint32_t components = 0;
  for (const Vertex& element : elements) {
    const std::vector<float> one = VertexValue(meaning, element);
    components = static_cast<uint32_t>(one.size());
    values.insert(values.end(), one.begin(), one.end());
  }
  return {.values = std::move(values),
          .components = components,
          .rule = rule.empty() ? "other: zero" : rule};
}

}  // namespace

Result<Bytes> PackDefaults(const artifact::AttributeSource& source, const Shape& shape,
                           const View& view, std::vector<Match>& matches) {
  const bool per_vertex = source.rate == artifact::InputRate::kVertex;
  // Data of an instance have one element, and the draw has one instance.
  const std::vector<Vertex> instance(1);
  const std::span<const Vertex> elements = per_vertex ? std::span(shape.vertices) : instance;
  const bool has_position =
      std::ranges::any_of(source.attributes, [](const artifact::Attribute& attribute) {
        std::string rule;
        return MeaningOf(attribute.tags, attribute.name, AttributeMeaning, rule) ==
               Meaning::kPosition;
      });
  // Without a position the picture would be empty. If no name tells one, the first attribute that
  // could be a position is taken for it.
  bool placed = has_position || !per_vertex;
  std::vector<AttributeValues> all;
  for (const artifact::Attribute& attribute : source.attributes) {
    std::string rule;
    Meaning meaning = MeaningOf(attribute.tags, attribute.name, AttributeMeaning, rule);
    const artifact::AttributeShape form = ShapeOf(attribute.kind);
    if (!placed && form.columns == 1 && form.rows >= 3 && meaning == Meaning::kNone) {
      meaning = Meaning::kPosition;
      rule = "first of three components";
      placed = true;
    }
    // The format in the buffer decides and not the type in the shader, because the buffer is what
    // is filled here.
    if (IsIntegerItem(attribute.item_format)) {
      all.push_back(ZerosOf(attribute, form.rows * form.columns, elements.size(), rule));
    } else if (form.columns > 1) {
      all.push_back(MatricesOf(attribute, form.columns, elements.size(), view));
    } else {
      all.push_back(FloatsOf(meaning, elements, rule));
    }
    matches.push_back({fmt::format("{}.{}", source.name, attribute.name), all.back().rule});
  }
  // The spans point into `all`, which is complete now and does not move any more.
  std::vector<runtime::AttributeData> data;
  for (size_t i = 0; i < all.size(); ++i) {
    std::visit(
        [&](const auto& values) {
          data.push_back({.name = source.attributes[i].name,
                          .components = all[i].components,
                          .values = std::span(values)});
        },
        all[i].values);
  }
  return runtime::PackVertices(source, data, static_cast<uint32_t>(elements.size()));
}

std::string Closest(std::string_view wrong, std::span<const std::string> names) {
  return std::string(ClosestName(wrong).OfferAll(names).best());
}

}  // namespace kiln::preview
