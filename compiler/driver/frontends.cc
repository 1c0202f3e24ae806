// SPDX-License-Identifier: MIT
#include "compiler/driver/frontends.h"

#include <utility>

#include "compiler/base/check.h"
#include "compiler/driver/fingerprint.h"
#include "compiler/front/hlsl/macro_pragmas.h"
#include "compiler/front/hlsl/module/front.h"
#include "compiler/front/hlsl/module/macro_module.h"
#include "compiler/front/rpl/front.h"
#include "compiler/front/wgsl/module/front.h"
#include "compiler/ir/verify/verify.h"

namespace kiln::driver {

std::optional<ir::Language> LanguageOf(std::string_view path) {
  // The name alone decides, and small letters only: the same file must be read alike on every
  // system.
  return path.ends_with(".rpl")    ? std::optional(ir::Language::kRpl)
         : path.ends_with(".hlsl") ? std::optional(ir::Language::kHlsl)
         : path.ends_with(".wgsl") ? std::optional(ir::Language::kWgsl)
                                   : std::nullopt;
}

// The text of default settings: HLSL has a text for each set of settings (spec/hlsl 1.5).
std::string LanguageText(ir::Language language) {
  switch (language) {
    case ir::Language::kRpl:
      return "rpl";
    case ir::Language::kHlsl:
      return hlsl::LanguageText({});
    case ir::Language::kWgsl:
      return "wgsl";
    case ir::Language::kSpirv:
      return "spirv";
  }
  KILN_UNREACHABLE();
}

// The one place that knows every front end; everything behind it sees modules.
ParsedSource ParseSource(ir::Language language, const SourceFile& source,
                         const SourceInputs& inputs, uint32_t module,
                         const LanguageLimits& limits) {
  switch (language) {
    case ir::Language::kRpl:
      return {.module = rpl::Parse(source, FrontFingerprint(language), module, limits),
              .files = {},
              .probes = {}};
    case ir::Language::kHlsl: {
      hlsl::ParsedModule parsed =
          hlsl::Parse(source, inputs.files, inputs.hlsl, FrontFingerprint(language), module, limits,
                      inputs.is_known);
      return {.module = std::move(parsed.module),
              .files = std::move(parsed.files),
              .probes = std::move(parsed.probes),
              .stream = parsed.stream,
              .is_known = parsed.is_known};
    }
    case ir::Language::kWgsl:
      return {.module = wgsl::front::Parse(source, FrontFingerprint(language), module, limits),
              .files = {},
              .probes = {}};
    case ir::Language::kSpirv:
      break;
  }
  KILN_UNREACHABLE();  // LanguageOf names no language without a front end
}

// An explicit choice wins over the name.
std::optional<ir::Language> LanguageOf(std::string_view path, const SourceInputs& inputs) {
  return inputs.language.has_value() ? inputs.language : LanguageOf(path);
}

// RPL and WGSL have no includes.
std::vector<Probe> ProbesOf(const SourceFile& source, const SourceInputs& inputs) {
  return LanguageOf(source.path, inputs) == ir::Language::kHlsl
             ? hlsl::ProbesOf(source, inputs.files, inputs.hlsl)
             : std::vector<Probe>{};
}

Diagnosed<ir::Module> ParseSource(ir::Language language, const SourceFile& source, uint32_t module,
                                  const LanguageLimits& limits) {
  return ParseSource(language, source, {}, module, limits).module;
}

std::vector<hlsl::MacroAxis> MacrosIn(std::string_view text) { return hlsl::MacrosIn(text); }

ir::Module MacroModule(std::span<const hlsl::MacroAxis> axes) {
  return hlsl::MacroModule(axes, FrontFingerprint(ir::Language::kHlsl));
}

// An image comes from a store, so it may be damaged or of another build. Ids are verified once
// here; behind it rows are indexed without checks.
Result<ir::Module> LoadModule(ir::Language language, ByteView image) {
  std::vector<std::byte> bytes(image.begin(), image.end());
  KILN_TRY(ir::ModuleView view, ir::ModuleView::Open(bytes, FrontFingerprint(language)));
  KILN_TRY_VOID(ir::VerifyIds(view));
  return ir::Module(std::move(bytes), view, FrontFingerprint(language));
}

}  // namespace kiln::driver
