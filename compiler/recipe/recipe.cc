// SPDX-License-Identifier: MIT
#include "compiler/recipe/recipe.h"

#include <charconv>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <spirv-tools/libspirv.hpp>

#include "compiler/recipe/disassemble.h"
#include "compiler/recipe/optimize.h"
#include "compiler/recipe/translate.h"
#include "compiler/recipe/validate.h"

namespace kiln::recipe {
namespace {

// To be raised with every change of this folder that changes a byte of a result: results are kept
// under a key that has it (ToolFingerprint).
constexpr uint32_t kRevision = 2;  // of what this folder does with the libraries

using Settings = std::map<std::string, std::string, std::less<>>;

Error Wrong(std::string_view text, std::string_view what) {
  return {.code = ErrorCode::kInvalidArgument,
          .context = fmt::format("recipe '{}': {}", text, what),
          .reason = "RECIPE_WRONG"};
}

// "name;key=value;…" behind the name.
// The map sorts by key and refuses a key that is there twice: the order in which somebody wrote the
// settings is not part of a recipe.
Result<Settings> ReadSettings(std::string_view text, std::string_view rest) {
  Settings settings;
  while (!rest.empty()) {
    const size_t end = rest.find(';');
    const std::string_view pair = rest.substr(0, end);
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == pair.size()) {
      return Wrong(text, fmt::format("'{}' is not KEY=VALUE", pair));
    }
    if (!settings.emplace(pair.substr(0, equals), pair.substr(equals + 1)).second) {
      return Wrong(text, fmt::format("'{}' is set twice", pair.substr(0, equals)));
    }
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return settings;
}

// Takes a setting out; what is left at the end is unknown.
// Settings are taken out one by one by the recipe that knows them, so that no list of valid keys is
// kept beside the code that reads them.
std::string Take(Settings& settings, std::string_view key, std::string_view fallback) {
  const auto found = settings.find(key);
  if (found == settings.end()) {
    return std::string(fallback);
  }
  std::string value = std::move(found->second);
  settings.erase(found);
  return value;
}

// "2.3" -> {2, 3}; nothing else than digits and one dot.
bool ReadVersion(std::string_view text, uint32_t& major, uint32_t& minor) {
  const size_t dot = text.find('.');
  const std::string_view first = text.substr(0, dot);
  // from_chars stops at the first other character; comparing the end is what refuses it.
  const auto read = [](std::string_view digits, uint32_t& value) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size();
  };
  minor = 0;
  return read(first, major) && (dot == std::string_view::npos || read(text.substr(dot + 1), minor));
}

Result<Dialect> ReadDialect(std::string_view text, std::string_view to) {
  Dialect dialect;
  uint32_t major = 0;
  uint32_t minor = 0;
  if (to.starts_with("msl") && ReadVersion(to.substr(3), major, minor) && major >= 1 &&
      (major <= 2 || (major == 3 && minor == 0)) && minor <= 4) {
    // MSL versions are written as the library counts them: two digits for each part.
    dialect = {.language = Language::kMsl, .version = major * 10'000 + minor * 100};
    return dialect;
  }
  if (to.starts_with("glsl")) {
    // "es" is cut off first, since 300 means another language with it.
    std::string_view digits = to.substr(4);
    dialect.es = digits.ends_with("es");
    digits.remove_suffix(dialect.es ? 2 : 0);
    const bool read = ReadVersion(digits, major, minor) && minor == 0;
    if (read && (dialect.es ? major == 300 || major == 310 || major == 320
                            : major >= 330 && major <= 460 && major % 10 == 0)) {
      dialect.version = major;
      return dialect;
    }
  }
  if (to.starts_with("hlsl") && ReadVersion(to.substr(4), major, minor)) {
    // "hlsl5.0" and "hlsl50" both are read: the first is how Microsoft writes it, the second how
    // tools of others do.
    const uint32_t model = to.find('.') != std::string_view::npos ? major * 10 + minor : major;
    if (minor <= 9 && model >= 50 && model <= 66) {
      dialect = {.language = Language::kHlsl, .version = model};
      return dialect;
    }
  }
  return Wrong(text, fmt::format("'to={}' is not msl1.0 to msl3.0, glsl330 to glsl460, glsl300es "
                                 "to glsl320es or hlsl50 to hlsl66",
                                 to));
}

}  // namespace

Result<Recipe> ParseRecipe(std::string_view text, target::Environment environment) {
  const size_t semicolon = text.find(';');
  const std::string_view name = text.substr(0, semicolon);
  KILN_TRY(Settings settings,
           ReadSettings(text, semicolon == std::string_view::npos ? std::string_view()
                                                                  : text.substr(semicolon + 1)));
  // The environment is taken for every recipe, so that a target may set it once, though a
  // translation and a disassembly do not depend on it and leave it out of their text.
  Recipe recipe;
  const std::string env = Take(settings, "env", target::EnvironmentText(environment));
  const auto parsed = target::ParseEnvironment(env);
  if (!parsed.has_value()) {
    return Wrong(text, fmt::format("'env={}' is not vulkan1.0 to vulkan1.4", env));
  }
  recipe.environment = *parsed;
  if (name == "val") {
    recipe.kind = Kind::kValidate;
    // The canonical text is what keys have. Defaults are written out, so that a recipe that names
    // them and one that does not are one.
    recipe.text = "val;env=" + env;
  } else if (name == "opt") {
    const std::string level = Take(settings, "level", "O");
    const std::string after = Take(settings, "val", "none");
    if ((level != "O" && level != "Os") || (after != "none" && after != "after")) {
      return Wrong(text, "'opt' has level=O or level=Os, and val=after or val=none");
    }
    recipe.kind = Kind::kOptimize;
    recipe.small = level == "Os";
    recipe.validate_after = after == "after";
    recipe.text = fmt::format("opt;env={};level={};val={}", env, level, after);
  } else if (name == "cross") {
    const std::string to = Take(settings, "to", "");
    KILN_TRY(recipe.dialect, ReadDialect(text, to));
    recipe.kind = Kind::kTranslate;
    recipe.text = "cross;to=" + to;
  } else if (name == "dis") {
    recipe.kind = Kind::kDisassemble;
    recipe.text = "dis";
  } else {
    return Wrong(text, fmt::format("'{}' is not val, opt or cross", name));
  }
  if (!settings.empty()) {
    return Wrong(text, fmt::format("'{}' has no setting '{}'", name, settings.begin()->first));
  }
  return recipe;
}

RecipeResult Run(const Recipe& recipe, ByteView spirv) {
  // Five words are the header of a module. The libraries were not written for bytes that are no
  // words, so this is asked before them.
  if (spirv.size() % 4 != 0 || spirv.size() < 20) {
    return {.ok = false, .bytes = {}, .report = "the module is not a sequence of words"};
  }
  // Copied, because bytes that came over a socket or out of a file need not be aligned for words.
  std::vector<uint32_t> words(spirv.size() / 4);
  std::memcpy(words.data(), spirv.data(), spirv.size());
  switch (recipe.kind) {
    case Kind::kValidate:
      return Validate(words, recipe.environment);
    case Kind::kOptimize:
      return Optimize(words, recipe);
    case Kind::kTranslate:
      return Translate(words, recipe.dialect);
    case Kind::kDisassemble:
      return Disassemble(words);
  }
  KILN_UNREACHABLE();
}

// A cached result is used only if all three are the same: this code, SPIRV-Tools and SPIRV-Cross.
Hash128 ToolFingerprint() {
  return HashBytes(AsBytes(fmt::format("kiln.recipe {} {} {}", kRevision,
                                       spvSoftwareVersionDetailsString(), TranslatorVersion())));
}

}  // namespace kiln::recipe
