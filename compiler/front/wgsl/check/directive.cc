// SPDX-License-Identifier: MIT
// Directives stand before all declarations and are checked before them. An unknown name is an
// error even if nothing depends on it: the source asked for something that it would not get.
#include "compiler/front/wgsl/check/directive.h"

#include <algorithm>
#include <string_view>

namespace kiln::wgsl::front {
namespace {

// WGSL, "Language Extensions": all of them are always on, so `requires` only asks whether they
// exist.
constexpr std::string_view kFeatures[] = {
    "readonly_and_readwrite_storage_textures", "packed_4x8_integer_dot_product",
    "unrestricted_pointer_parameters", "pointer_composite_access"};
constexpr std::string_view kSeverities[] = {"error", "warning", "info", "off"};

void Unknown(CheckContext& context, uint32_t token, std::string_view kind) {
  context.Say(
      context.At(Code::kWgsl1005, token).With("kind", kind).With("name", context.Text(token)));
}

// WGSL, "Enable Extensions". Some are right and not compiled, which is another error than an
// unknown name.
void Enable(CheckContext& context, uint32_t token) {
  const std::string_view name = context.Text(token);
  if (name == "f16") {
    context.has_f16 = true;
  } else if (name == "dual_source_blending") {
    context.has_dual_source = true;
  } else if (name == "clip_distances" || name == "subgroups" || name == "primitive_index") {
    context.Refuse({token, token + 1}, "this extension is not compiled");
  } else {
    Unknown(context, token, "extension");
  }
}

}  // namespace

void CheckDirectives(CheckContext& context) {
  for (const syntax::Directive& row : context.ast.directives) {
    const std::span<const uint32_t> words = context.ast.List(row.words);
    switch (row.kind) {
      case syntax::DirectiveKind::kEnable:
        for (const uint32_t token : words) {
          Enable(context, token);
        }
        break;
      case syntax::DirectiveKind::kRequires:
        for (const uint32_t token : words) {
          if (std::ranges::find(kFeatures, context.Text(token)) == std::end(kFeatures)) {
            Unknown(context, token, "language feature");
          }
        }
        break;
      // The rule that a severity is for may be any name; that of derivatives is read by
      // uniformity/filters.
      case syntax::DirectiveKind::kDiagnostic:
        if (std::ranges::find(kSeverities, context.Text(words[0])) == std::end(kSeverities)) {
          Unknown(context, words[0], "severity");
        }
        break;
    }
  }
}

}  // namespace kiln::wgsl::front
