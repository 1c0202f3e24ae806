// SPDX-License-Identifier: MIT
// textDocument/inlayHint: sets, bindings, offsets and padding beside what has them.
#include "client/lsp/features/inlay_hints.h"

#include <fmt/format.h>

#include "client/lsp/analysis/outline.h"

namespace kiln::lsp {
namespace {

// A set alone is not told: without a binding the declaration is not reached and has no place.
std::string HintText(const BlockPlace& place) {
  std::string text;
  if (place.set.has_value() && place.binding.has_value()) {
    text = fmt::format("set {}, binding {}", *place.set, *place.binding);
  } else if (place.binding.has_value()) {
    text = fmt::format("binding {}", *place.binding);
  }
  if (place.size > 0) {
    text += fmt::format("{}{} bytes", text.empty() ? "" : ", ", place.size);
  }
  return text;
}

// A vertex input has a location and, if it lies in a container, an offset as well.
std::string HintText(const FieldPlace& field) {
  std::string text;
  if (field.location.has_value()) {
    text = fmt::format("location {}", *field.location);
  }
  if (field.offset.has_value()) {
    text += fmt::format("{}offset {}", text.empty() ? "" : ", ", *field.offset);
  }
  if (field.padding > 0) {
    text += fmt::format(", {} padding", field.padding);
  }
  return text;
}

}  // namespace

// Hints are those of the variant that one looks at: another variant may have other offsets. A
// declaration that is not in it has none.
Outcome InlayHints(Session& session, const Json& params) {
  std::variant<OpenFile, RpcError> read = FileOf(session, params);
  if (auto* error = std::get_if<RpcError>(&read)) {
    return std::move(*error);
  }
  const OpenFile& open = std::get<OpenFile>(read);
  const std::optional<Range> range = ReadRange(Find(params, "range"));
  if (!range.has_value()) {
    return InvalidParams("inlayHint needs a range");
  }
  const std::optional<FileView> file = session.analysis.ViewOf(open.path);
  Json hints = Json::array();
  if (!file.has_value()) {
    return hints;
  }
  const resolve::Program& program = file->program->program();
  const std::shared_ptr<Variant> variant = session.analysis.VariantOf(file->program);
  const auto add = [&](uint32_t offset, const std::string& text) {
    const Position at = open.At(session, offset);
    if (!text.empty() && range->start <= at && at <= range->end) {
      hints.push_back({{"position", JsonOf(at)}, {"label", text}, {"paddingLeft", true}});
    }
  };
  // Every declaration of the file is looked at, whatever range was asked for. Its place is a
  // look-up in the layout of the variant, and `add` leaves out what is not in range.
  const uint32_t base = program.bases(file->module).decl;
  for (uint32_t i = 0; i < program.module(file->module).decls.size(); ++i) {
    const ir::DeclId id{base + i};
    const std::optional<BlockPlace> place = variant->PlaceOf(id);
    if (!place.has_value()) {
      continue;
    }
    add(program.NameLocation(id).bytes.end, HintText(*place));
    for (const FieldPlace& field : place->fields) {
      // Behind the ';' or ',' that follows the name of a field.
      add(program.NameLocation(field.member).bytes.end + 1, HintText(field));
    }
  }
  return hints;
}

}  // namespace kiln::lsp
