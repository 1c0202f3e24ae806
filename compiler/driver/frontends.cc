// SPDX-License-Identifier: MIT
#include "compiler/driver/frontends.h"

#include "compiler/base/check.h"
#include "compiler/driver/fingerprint.h"
#include "compiler/front/rpl/front.h"
#include "compiler/ir/verify.h"

namespace kiln::driver {

std::optional<ir::Language> LanguageOf(std::string_view path) {
  return path.ends_with(".rpl") ? std::optional(ir::Language::kRpl) : std::nullopt;
}

std::string_view LanguageText(ir::Language language) {
  switch (language) {
    case ir::Language::kRpl:
      return "rpl";
    case ir::Language::kHlsl:
      return "hlsl";
    case ir::Language::kWgsl:
      return "wgsl";
    case ir::Language::kSpirv:
      return "spirv";
  }
  KILN_UNREACHABLE();
}

Diagnosed<ir::Module> ParseSource(ir::Language language, const SourceFile& source, uint32_t module,
                                  const LanguageLimits& limits) {
  switch (language) {
    case ir::Language::kRpl:
      return rpl::Parse(source, FrontFingerprint(language), module, limits);
    case ir::Language::kHlsl:
    case ir::Language::kWgsl:
    case ir::Language::kSpirv:
      break;
  }
  KILN_UNREACHABLE();  // LanguageOf names no language without a front end
}

Result<ir::Module> LoadModule(ir::Language language, ByteView image) {
  std::vector<std::byte> bytes(image.begin(), image.end());
  KILN_TRY(ir::ModuleView view, ir::ModuleView::Open(bytes, FrontFingerprint(language)));
  KILN_TRY_VOID(ir::VerifyIds(view));
  return ir::Module(std::move(bytes), view, FrontFingerprint(language));
}

}  // namespace kiln::driver
