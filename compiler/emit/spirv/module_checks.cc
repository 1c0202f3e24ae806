// SPDX-License-Identifier: MIT
#include "compiler/emit/spirv/module_checks.h"

#include <memory>

#include <spirv-tools/libspirv.h>

#include "compiler/base/check.h"
#include "compiler/target/spirv_tools.h"

namespace kiln::spirv {
namespace {

// SPIRV-Tools is a C library; this owns its context.
struct Context {
  explicit Context(const target::Target& target)
      : handle(spvContextCreate(target::SpirvToolsEnvironment(target.environment)),
               spvContextDestroy) {}
  std::unique_ptr<spv_context_t, decltype(&spvContextDestroy)> handle;
};

// Locations of a field: one, or one for each column.
uint32_t WidthOf(const ir::Pool& pool, ir::TypeId type) {
  const ir::Type& t = pool[type];
  return t.kind == ir::TypeKind::kMatrix ? t.columns : 1;
}

}  // namespace

// A layout for tests that have no interest in layouts: each counter goes up by one, and a matrix
// takes as many locations as it has columns.
layout::Layout CountingLayout(const ir::SpecialisedProgram& variant) {
  layout::Layout layout;
  uint32_t next_binding[4] = {};
  uint32_t next_location[3] = {};  // attributes, state, colour outputs
  for (const ir::SpecialisedDecl* decl : variant.interface) {
    if (decl->kind == ir::DeclKind::kContainer) {
      const ir::ContainerKind kind = decl->container();
      const size_t counter = kind == ir::ContainerKind::kState         ? 1
                             : kind == ir::ContainerKind::kColorOutput ? 2
                                                                       : 0;
      for (const ir::SpecialisedMember& member : decl->members) {
        layout.Locate(member.member, next_location[counter]);
        next_location[counter] += WidthOf(*variant.pool, member.type);
      }
    } else if (decl->kind != ir::DeclKind::kPushConstant) {
      const auto set = static_cast<uint32_t>(decl->set());
      layout.Place(decl->decl, {.set = set, .binding = next_binding[set]++});
    }
  }
  return layout;
}

// Empty if the module is valid; otherwise the complaint and the module, which is what a test
// shows.
std::string Validate(std::span<const uint32_t> words, const target::Target& target,
                     BlockLayouts layouts) {
  const Context context(target);
  spv_const_binary_t binary{words.data(), words.size()};
  spv_diagnostic diagnostic = nullptr;
  const std::unique_ptr<spv_validator_options_t, decltype(&spvValidatorOptionsDestroy)> options(
      spvValidatorOptionsCreate(), spvValidatorOptionsDestroy);
  // Blocks of the rule set `scalar` need the option; others are judged by the strict rules.
  spvValidatorOptionsSetScalarBlockLayout(options.get(), layouts == BlockLayouts::kScalar);
  const spv_result_t result =
      spvValidateWithOptions(context.handle.get(), options.get(), &binary, &diagnostic);
  std::string complaint;
  if (result != SPV_SUCCESS) {
    complaint = diagnostic != nullptr ? diagnostic->error : "invalid";
    complaint += "\n" + Disassemble(words, target);
  }
  spvDiagnosticDestroy(diagnostic);
  return complaint;
}

// Without the header, whose version and generator would change goldens for no reason.
std::string Disassemble(std::span<const uint32_t> words, const target::Target& target) {
  const Context context(target);
  spv_text text = nullptr;
  spv_diagnostic diagnostic = nullptr;
  spvBinaryToText(context.handle.get(), words.data(), words.size(),
                  SPV_BINARY_TO_TEXT_OPTION_NO_HEADER, &text, &diagnostic);
  std::string result = text != nullptr ? std::string(text->str, text->length)
                                       : std::string("not a module: ") + diagnostic->error;
  spvTextDestroy(text);
  spvDiagnosticDestroy(diagnostic);
  return result;
}

}  // namespace kiln::spirv
