// SPDX-License-Identifier: MIT
#include "compiler/recipe/translate.h"

#include <memory>
#include <utility>

#include <fmt/format.h>
#include <spirv_cross/spirv_cross_c.h>

#include "compiler/recipe/bindings.h"
#include "compiler/recipe/validate.h"

namespace kiln::recipe {
namespace {

// Everything that the C interface hands out belongs to its context and dies with it, texts and
// messages included; the result is therefore copied before it goes.
struct DestroyContext {
  void operator()(spvc_context context) const { spvc_context_destroy(context); }
};
using Context = std::unique_ptr<spvc_context_s, DestroyContext>;

spvc_backend BackendOf(Language language) {
  switch (language) {
    case Language::kMsl:
      return SPVC_BACKEND_MSL;
    case Language::kGlsl:
      return SPVC_BACKEND_GLSL;
    case Language::kHlsl:
      return SPVC_BACKEND_HLSL;
  }
  KILN_UNREACHABLE();
}

spvc_result SetOptions(spvc_compiler compiler, const Dialect& dialect) {
  spvc_compiler_options options = nullptr;
  spvc_result result = spvc_compiler_create_compiler_options(compiler, &options);
  // After the first failure nothing else is set; the error text in the context is the one of that
  // failure.
  const auto set = [&](spvc_compiler_option option, unsigned value) {
    if (result == SPVC_SUCCESS) {
      result = spvc_compiler_options_set_uint(options, option, value);
    }
  };
  switch (dialect.language) {
    case Language::kMsl:
      set(SPVC_COMPILER_OPTION_MSL_VERSION, dialect.version);
      // Takes the numbers from the decorations that PlaceResources writes; without it MSL counts
      // resources in order of use, and two stages would disagree.
      set(SPVC_COMPILER_OPTION_MSL_ENABLE_DECORATION_BINDING, 1);
      break;
    case Language::kGlsl:
      set(SPVC_COMPILER_OPTION_GLSL_VERSION, dialect.version);
      set(SPVC_COMPILER_OPTION_GLSL_ES, dialect.es ? 1 : 0);
      // Desktop GLSL below 4.20 has no `layout(binding = …)` without this extension; ES has it from
      // 3.10 on by itself.
      set(SPVC_COMPILER_OPTION_GLSL_ENABLE_420PACK_EXTENSION, dialect.es ? 0 : 1);
      break;
    case Language::kHlsl:
      set(SPVC_COMPILER_OPTION_HLSL_SHADER_MODEL, dialect.version);
      break;
  }
  return result == SPVC_SUCCESS ? spvc_compiler_install_compiler_options(compiler, options)
                                : result;
}

}  // namespace

RecipeResult Translate(std::span<const uint32_t> words, const Dialect& dialect) {
  spvc_context raw = nullptr;
  if (spvc_context_create(&raw) != SPVC_SUCCESS) {
    return {.ok = false, .bytes = {}, .report = "the translator does not start"};
  }
  const Context context(raw);
  const auto failed = [&]() -> RecipeResult {
    const char* why = spvc_context_get_last_error_string(raw);
    Report report;
    report.Add(why == nullptr || *why == '\0' ? "the translator gives no reason" : why);
    return {.ok = false, .bytes = {}, .report = std::move(report).text()};
  };
  spvc_parsed_ir ir = nullptr;
  spvc_compiler compiler = nullptr;
  const char* text = nullptr;
  std::string map;
  std::string wrong;
  // In this order: options decide how resources may be numbered, and both must be there before the
  // text is made.
  if (spvc_context_parse_spirv(raw, words.data(), words.size(), &ir) != SPVC_SUCCESS ||
      spvc_context_create_compiler(raw, BackendOf(dialect.language), ir,
                                   SPVC_CAPTURE_MODE_TAKE_OWNERSHIP, &compiler) != SPVC_SUCCESS ||
      SetOptions(compiler, dialect) != SPVC_SUCCESS ||
      PlaceResources(compiler, dialect, map, wrong) != SPVC_SUCCESS) {
    return failed();
  }
  if (!wrong.empty()) {
    return {.ok = false, .bytes = {}, .report = wrong};
  }
  if (spvc_compiler_compile(compiler, &text) != SPVC_SUCCESS) {
    return failed();
  }
  // The map goes behind the text, where line numbers of the text do not move and `#version` stays
  // first.
  const std::string whole = text + map;
  const ByteView bytes = AsBytes(whole);
  return {.ok = true, .bytes = {bytes.begin(), bytes.end()}, .report = {}};
}

std::string TranslatorVersion() {
  unsigned major = 0, minor = 0, patch = 0;
  spvc_get_version(&major, &minor, &patch);
  return fmt::format("{}.{}.{} {}", major, minor, patch, spvc_get_commit_revision_and_timestamp());
}

}  // namespace kiln::recipe
