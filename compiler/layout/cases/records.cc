// SPDX-License-Identifier: MIT
#include "compiler/layout/cases/records.h"

#include <fmt/format.h>

#include "compiler/layout/reflection/dump.h"

namespace kiln::layout {
namespace {

Error Wrong(std::string text) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(text), .reason = {}};
}

// Linear: a diagnostic has a handful of arguments.
const std::string* ArgumentOf(const Diagnostic& diagnostic, std::string_view name) {
  for (const Argument& argument : diagnostic.arguments) {
    if (argument.name == name) {
      return &argument.value;
    }
  }
  return nullptr;
}

}  // namespace

// Only the code, the names and the place are compared. Texts may change without a change of the
// cases.
Json DescribeError(const Diagnostic& diagnostic) {
  Json names = Json::array();
  for (const char* argument : {"name", "owner", "other"}) {
    if (const std::string* name = ArgumentOf(diagnostic, argument)) {
      // Owner and other are optional: what a code has is told, the rest is left out.
      names.push_back(*name);
    }
  }
  Json described = {{"code", CodeText(diagnostic.code)}, {"names", std::move(names)}};
  if (const std::string* place = ArgumentOf(diagnostic, "place")) {
    described["place"] = *place;
  }
  return described;
}

Json DescribeErrors(const ProgramLayout& layout) {
  Json errors = Json::array();
  for (const Finding& finding : layout.findings) {
    // Warnings do not change a layout and are no part of an answer.
    if (finding.diagnostic.severity == Severity::kError) {
      errors.push_back(DescribeError(finding.diagnostic));
    }
  }
  return {{"error", std::move(errors)}};
}

Json DescribeMembers(ByteLayouts& bytes, TypeId block, Rules rules) {
  Json members = Json::array();
  for (const ListedMember& listed : ListMembers(bytes, block, rules)) {
    Json member = {{"path", listed.path},
                   {"offset", listed.offset},
                   {"size", listed.unsized ? Json("unsized") : Json(listed.size)}};
    // Strides are there only where there is something to step over.
    if (listed.array_stride != 0) {
      member["array_stride"] = listed.array_stride;
    }
    if (listed.matrix_stride != 0) {
      member["matrix_stride"] = listed.matrix_stride;
    }
    members.push_back(std::move(member));
  }
  return members;
}

// Attachments have their own place in another answer.
std::string PlacesText(Platform platform, const PlacedLeaf& leaf) {
  std::string text;
  for (const Place& place : leaf.places) {
    if (place.kind != Kind::kAttachment) {
      text += (text.empty() ? "" : " ") + PlaceText(platform, place);
    }
  }
  return text;
}

// The readers below give views into the file, which lives as long as the case is read.
Result<const Json*> PartOf(const Json& object, const std::string& key) {
  if (!object.is_object() || !object.contains(key)) {
    return Wrong(fmt::format("no member '{}'", key));
  }
  return &object[key];
}

Result<const std::string*> TextOf(const Json& object, const std::string& key) {
  KILN_TRY(const Json* part, PartOf(object, key));
  if (!part->is_string()) {
    return Wrong(fmt::format("'{}' is no text", key));
  }
  return &part->get_ref<const std::string&>();
}

Result<const Json*> ListOf(const Json& object, const std::string& key) {
  KILN_TRY(const Json* part, PartOf(object, key));
  if (!part->is_array()) {
    return Wrong(fmt::format("'{}' is no list", key));
  }
  return part;
}

bool Has(const Json& object, const std::string& key) {
  // A null counts as absent, because tools write it for what they do not know.
  return object.contains(key) && !object[key].is_null();
}

Result<std::optional<uint32_t>> NumberOf(const Json& object, const std::string& key) {
  if (!object.is_object()) {
    return Wrong(fmt::format("'{}' is no object", Shortened(object.dump())));
  }
  if (!Has(object, key)) {
    return std::optional<uint32_t>{};
  }
  const Json& part = object[key];
  if (!part.is_number_unsigned() || part.get<uint64_t>() > 0xffffffffu) {
    return Wrong(fmt::format("'{}' is no number of 32 bits", key));
  }
  return std::optional<uint32_t>{static_cast<uint32_t>(part.get<uint64_t>())};
}

}  // namespace kiln::layout
