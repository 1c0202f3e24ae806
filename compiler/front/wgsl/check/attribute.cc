// SPDX-License-Identifier: MIT
// Attributes are checked in three steps by three callers. AllowAttributes says which may stand
// at a place; it knows names only. CheckInterface reads those of interfaces and bindings into
// one row. CheckPlacing reads @align and @size, which need the type that they place. A caller
// that forgets the first step accepts an attribute without a meaning, so each kind of
// declaration calls it first.
#include "compiler/front/wgsl/check/attribute.h"

#include <algorithm>
#include <optional>
#include <string>

#include "compiler/base/threads/stop.h"
#include "compiler/front/wgsl/check/expressions/expression.h"
#include "compiler/front/wgsl/check/expressions/value.h"
#include "compiler/front/wgsl/sema/builtin_value.h"
#include "compiler/front/wgsl/sema/layout.h"

namespace kiln::wgsl::front {
namespace {

// All attributes of WGSL. A name that is not here is unknown (WGSL1005); one that is here and
// may not stand at this place is WGSL1004.
constexpr std::string_view kAttributes[] = {
    "align",    "binding",  "blend_src", "builtin", "const",         "diagnostic",
    "compute",  "fragment", "group",     "id",      "interpolate",   "invariant",
    "location", "must_use", "size",      "vertex",  "workgroup_size"};

// Words of @interpolate: the type, then the sampling.
// Sampling without a word is `center`, and of `flat` `first`, which is what Vulkan does;
// `either` leaves the choice, so it is the same.
std::optional<ir::Interpolation> InterpolationOf(std::string_view type, std::string_view sampling) {
  const bool plain = sampling.empty() || sampling == "center";
  if (type == "flat" && (sampling.empty() || sampling == "first" || sampling == "either")) {
    return ir::Interpolation::kFlat;
  }
  if (type == "linear" && plain) {
    return ir::Interpolation::kNoPerspective;
  }
  if (type != "perspective") {
    return std::nullopt;
  }
  return plain                    ? std::optional(ir::Interpolation::kSmooth)
         : sampling == "centroid" ? std::optional(ir::Interpolation::kCentroid)
         : sampling == "sample"   ? std::optional(ir::Interpolation::kSample)
                                  : std::nullopt;
}

// `linear` at a centroid or sample is right and cannot be said in the IR, so it is refused by
// another message than a wrong word.
void ReadInterpolation(CheckContext& context, const syntax::Attribute& row, Attributes& made) {
  const std::span<const uint32_t> words = context.ast.List(row.words);
  const std::string_view type = words.empty() ? "" : context.Text(words[0]);
  const std::string_view sampling = words.size() < 2 ? "" : context.Text(words[1]);
  const std::optional<ir::Interpolation> found = InterpolationOf(type, sampling);
  if (found.has_value()) {
    made.interpolation = static_cast<uint32_t>(*found);
  } else if (type == "linear" && (sampling == "centroid" || sampling == "sample")) {
    context.Refuse(row.at, "linear interpolation at a centroid or sample has no form in the IR");
  } else {
    context.Say(context.At(Code::kWgsl1005, row.at)
                    .With("kind", "interpolation")
                    .With("name", type.empty() ? "" : context.Text(row.at)));
  }
}

// The name is kept, even an unknown one: what it is used for is checked with the entry point.
void ReadBuiltin(CheckContext& context, const syntax::Attribute& row, Attributes& made) {
  const std::span<const uint32_t> words = context.ast.List(row.words);
  const std::string_view name = words.empty() ? "" : context.Text(words[0]);
  made.builtin = name;
  if (name == "clip_distances") {
    context.Refuse(row.at, "clip distances are not lowered");
  } else if (FindBuiltinValue(name) == nullptr) {
    context.Say(
        context.At(Code::kWgsl1005, row.at).With("kind", "built-in value").With("name", name));
  }
}

}  // namespace

// `diagnostic` may stand anywhere and more than once. Of others one of each.
void AllowAttributes(CheckContext& context, syntax::ListId list,
                     std::initializer_list<std::string_view> allowed, std::string_view where) {
  std::vector<std::string_view> seen;
  for (const uint32_t id : context.ast.List(list)) {
    const syntax::Attribute& row = context.ast.attributes[id];
    const std::string_view name = context.Text(row.token);
    CheckStop();
    const bool known = std::ranges::find(kAttributes, name) != std::end(kAttributes);
    const bool repeated = std::ranges::find(seen, name) != seen.end();
    if (!known) {
      context.Say(
          context.At(Code::kWgsl1005, row.token).With("kind", "attribute").With("name", name));
    } else if (std::ranges::find(allowed, name) == allowed.end() && name != "diagnostic") {
      context.Say(context.At(Code::kWgsl1004, row.token).With("name", name).With("where", where));
    } else if (name != "diagnostic" && repeated) {
      context.Say(context.At(Code::kWgsl1004, row.token)
                      .With("name", name)
                      .With("where", std::string(where) + " that has one"));
    }
    // Names that are known are few, so looking for one costs little however many there are.
    if (known && !repeated) {
      seen.push_back(name);
    }
  }
}

// The first of the name. That there is no second one is said by AllowAttributes.
const syntax::Attribute* FindAttribute(const CheckContext& context, syntax::ListId list,
                                       std::string_view name) {
  for (const uint32_t id : context.ast.List(list)) {
    if (context.Text(context.ast.attributes[id].token) == name) {
      return &context.ast.attributes[id];
    }
  }
  return nullptr;
}

// A constant integer from 0 to `most`, of either type. kNoRow after an error: callers treat it
// as not written.
uint32_t NumberOf(CheckContext& context, const syntax::Attribute& attribute, uint32_t most) {
  const std::span<const uint32_t> arguments = context.ast.List(attribute.arguments);
  if (arguments.size() != 1) {
    context.Forbid(attribute.at, "it takes one number");
    return kNoRow;
  }
  const ExprId value = CheckConstant(context, syntax::ExprId{arguments[0]});
  if (context.IsFailed(value)) {
    return kNoRow;
  }
  const std::optional<int64_t> number = WholeOf(context, value);
  if (!number.has_value()) {
    context.Mismatch(context.Get(value).at, "i32 or u32", context.TypeText(value));
    return kNoRow;
  }
  if (*number < 0 || *number > most) {
    context.Forbid(attribute.at, "it takes a number from 0 to " + std::to_string(most));
    return kNoRow;
  }
  return static_cast<uint32_t>(*number);
}

// One row for all attributes of an interface that stand at one place; kNoRow if there are none.
// Limits are those of spec/wgsl 5.5: groups 0 to 3, and locations below 32.
uint32_t CheckInterface(CheckContext& context, syntax::ListId list) {
  Attributes made;
  bool any = false;
  for (const uint32_t id : context.ast.List(list)) {
    const syntax::Attribute& row = context.ast.attributes[id];
    const std::string_view name = context.Text(row.token);
    // The place that messages name is the first attribute.
    made.at = any ? made.at : row.at;
    any = true;
    if (name == "builtin") {
      ReadBuiltin(context, row, made);
    } else if (name == "interpolate") {
      ReadInterpolation(context, row, made);
    } else if (name == "location") {
      made.location = NumberOf(context, row, 31);
    } else if (name == "blend_src") {
      made.blend_src = NumberOf(context, row, 1);
    } else if (name == "group") {
      made.group = NumberOf(context, row, 3);
    } else if (name == "binding") {
      made.binding = NumberOf(context, row, 65535);
    } else if (name == "invariant") {
      context.Refuse(row.at, "invariance is not lowered");
    }
  }
  if (!any) {
    return kNoRow;
  }
  context.unit.attributes.push_back(made);
  return static_cast<uint32_t>(context.unit.attributes.size() - 1);
}

// WGSL, "Structure Types": @align is a power of two and a multiple of what the type needs,
// @size not less than its size. Numbers up to 2^30 keep all sums within 64 bits.
void CheckPlacing(CheckContext& context, syntax::ListId list, StructMember& member) {
  const Extent extent = ExtentOf(context.types(), member.type);
  if (const syntax::Attribute* row = FindAttribute(context, list, "align")) {
    const uint32_t align = NumberOf(context, *row, 1u << 30);
    const bool power = align != kNoRow && align != 0 && (align & (align - 1)) == 0;
    if (align != kNoRow && (!power || align % extent.align != 0)) {
      context.Forbid(row->at,
                     "it is no power of two that is a multiple of " + std::to_string(extent.align));
    } else {
      member.align = align == kNoRow ? 0 : align;
    }
  }
  if (const syntax::Attribute* row = FindAttribute(context, list, "size")) {
    const uint32_t size = NumberOf(context, *row, 1u << 30);
    if (size != kNoRow && size < extent.size) {
      context.Forbid(row->at, "the type has " + std::to_string(extent.size) + " bytes");
    } else {
      member.size = size == kNoRow ? 0 : size;
    }
  }
}

}  // namespace kiln::wgsl::front
