// SPDX-License-Identifier: MIT
// Requests as the daemon works with them (spec/daemon 3). Everything that a client sent is checked
// here against the limits of spec/daemon 10; the code behind it relies on that. Errors name the
// field.
#include "server/rpc/messages/convert_request.h"

#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "compiler/base/printable.h"
#include "compiler/base/text/file_name.h"
#include "compiler/base/text/logical_path.h"
#include "compiler/base/threads/stop.h"
#include "compiler/recipe/recipe.h"
#include "server/compile/programs/macro_choices.h"
#include "server/rpc/messages/convert_hlsl.h"
#include "server/rpc/messages/message_limits.h"
#include "server/rpc/messages/request_error.h"

namespace kiln::rpc {
namespace {

// What comes from here has a digest, and has a text only if that is the text of the digest.
// Everything behind it relies on that, since digests are in keys.
Result<compile::Source> SourceFrom(const v1::SourceRef& ref) {
  if (!IsLogicalPath(ref.path())) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context =
                     "sources.path: a logical path is printable, relative, '/'-separated and "
                     "without empty, '.' or '..' segments",
                 .reason = "BAD_PATH"};
  }
  compile::Source source{.path = ref.path(), .digest = {}, .text = nullptr};
  if (ref.inline_().size() > kMaxInlineSource) {
    return AboveLimit("inline source", kMaxInlineSource, ref.inline_().size());
  }
  if (ref.has_digest()) {
    KILN_TRY(source.digest, FromProto(ref.digest()));
  }
  // An empty file has a digest; without one, what is inline is the source.
  if (!ref.inline_().empty() || !ref.has_digest()) {
    const Digest digest = DigestOf(std::string_view(ref.inline_()));
    if (ref.has_digest() && digest != source.digest) {
      return Error{.code = ErrorCode::kInvalidArgument,
                   .context = "the inline bytes of '" + ref.path() + "' do not have its digest",
                   .reason = "DIGEST_MISMATCH"};
    }
    source.digest = digest;
    source.text = std::make_shared<const std::string>(ref.inline_());
  } else if (source.digest == DigestOf(std::string_view())) {
    // The empty source needs no upload: its text is known.
    source.text = std::make_shared<const std::string>();
  }
  return source;
}

Result<ir::PipelineType> PipelineFrom(const std::string& text) {
  if (text == "graphics_classic") {
    return ir::PipelineType::kGraphicsClassic;
  }
  if (text == "compute") {
    return ir::PipelineType::kCompute;
  }
  return Malformed("program.pipeline",
                   fmt::format("'{}' is not graphics_classic or compute", text));
}

Result<ir::Stage> StageFrom(v1::EntryPoint::Stage stage) {
  switch (static_cast<int>(stage)) {
    case v1::EntryPoint::VERTEX:
      return ir::Stage::kVertex;
    case v1::EntryPoint::FRAGMENT:
      return ir::Stage::kFragment;
    case v1::EntryPoint::COMPUTE:
      return ir::Stage::kCompute;
    default:  // an open enumeration of the wire
      return Malformed("program.entry_points.stage", "not VERTEX, FRAGMENT or COMPUTE");
  }
}

// "1.3" -> the header word; at most what the environment implies.
Result<uint32_t> VersionFrom(const std::string& text, target::Environment environment) {
  const uint32_t implied = target::SpirvVersionOf(environment);
  if (text.empty()) {
    return implied;
  }
  // A few texts are compared instead of parsing numbers, so there is no other spelling of a version
  // that would make another key.
  for (uint32_t minor = 0; minor <= 6; ++minor) {
    if (text == fmt::format("1.{}", minor) && target::SpirvVersion(1, minor) <= implied) {
      return target::SpirvVersion(1, minor);
    }
  }
  return Malformed("target.version", fmt::format("'{}' is not a SPIR-V version of {}", text,
                                                 target::EnvironmentText(environment)));
}

// A form of the wire: its name, and what translates SPIR-V to it.
struct FormRow {
  std::string_view name;
  std::string_view dialect;  // empty: no translation
  std::string_view version;  // unless the target names one
};

// A version applies where the target names none; it is part of the recipe's text, hence of the key.
Result<FormRow> FormOf(v1::Target::Form form) {
  switch (static_cast<int>(form)) {
    case v1::Target::SPIRV:
      return FormRow{.name = "spirv", .dialect = {}, .version = {}};
    case v1::Target::META:
      return FormRow{.name = "meta", .dialect = {}, .version = {}};
    case v1::Target::MSL:
      return FormRow{.name = "msl", .dialect = "msl", .version = "2.1"};
    case v1::Target::GLSL:
      return FormRow{.name = "glsl", .dialect = "glsl", .version = "450"};
    case v1::Target::HLSL:
      return FormRow{.name = "hlsl", .dialect = "hlsl", .version = "6.0"};
    case v1::Target::WGSL:
      return FormRow{.name = "wgsl", .dialect = {}, .version = {}};
    default:  // an open enumeration of the wire
      return Malformed("target.form", "not SPIRV, WGSL, META, MSL, GLSL or HLSL");
  }
}

// Recipes as they are run: those of the target, then the translation to its form.
Result<std::vector<std::string>> RecipesFrom(const v1::Target& target, const FormRow& form,
                                             target::Environment environment) {
  std::vector<std::string> texts(target.recipes().begin(), target.recipes().end());
  if (texts.size() > kMaxRecipes) {
    return AboveLimit("recipes of a target", kMaxRecipes, texts.size());
  }
  // The version of a target is that of its form: of SPIR-V for the words, of the dialect for a
  // text.
  if (!form.dialect.empty()) {
    const std::string version =
        target.version().empty() ? std::string(form.version) : target.version();
    texts.push_back(fmt::format("cross;to={}{}", form.dialect, version));
  }
  if (target.form() == v1::Target::WGSL && !texts.empty()) {
    return Malformed("target.recipes", "recipes are for SPIR-V; a target of form WGSL has none");
  }
  std::vector<std::string> recipes;
  for (size_t i = 0; i < texts.size(); ++i) {
    const Result<recipe::Recipe> parsed = recipe::ParseRecipe(texts[i], environment);
    if (!parsed.ok()) {
      return Malformed("target.recipes", parsed.error().context);
    }
    if (parsed->kind == recipe::Kind::kDisassemble) {
      return Malformed("target.recipes", "'dis' is for looking: ask Inspect");
    }
    if (parsed->kind == recipe::Kind::kTranslate && i + 1 != texts.size()) {
      return Malformed("target.recipes", "a translation is the last recipe of a target");
    }
    // The text as the parser writes it and not as the client wrote it: recipes are a part of keys.
    recipes.push_back(parsed->text);
  }
  if (target.form() == v1::Target::META) {
    recipes.clear();  // there is no code
  }
  return recipes;
}

Result<std::vector<resolve::OptionSetting>> SettingsFrom(
    const google::protobuf::RepeatedPtrField<v1::OptionValue>& values) {
  std::vector<resolve::OptionSetting> settings;
  settings.reserve(static_cast<size_t>(values.size()));
  for (const v1::OptionValue& value : values) {
    CheckStop();
    // A message of a few bytes for each setting becomes rows of several times the size. The call
    // pays for them, so that small messages cannot fill the memory.
    ChargeMemory(sizeof(resolve::OptionSetting) + value.name().size());
    KILN_TRY(resolve::OptionSetting setting, FromProto(value));
    settings.push_back(std::move(setting));
  }
  return settings;
}

Result<project::Axis> AxisFrom(const v1::Axis& axis) {
  project::Axis out{.name = axis.name(), .all = axis.all(), .values = {}};
  if (static_cast<uint64_t>(axis.values_size()) > kMaxAxisValues) {
    return AboveLimit("axis values", kMaxAxisValues, static_cast<uint64_t>(axis.values_size()));
  }
  KILN_TRY(out.values, SettingsFrom(axis.values()));
  // Values of an axis need no name on the wire; they have that of the axis.
  for (resolve::OptionSetting& setting : out.values) {
    setting.name = axis.name();
  }
  return out;
}

// Where the client's manifest has the expression. It is for messages only and is believed.
PlacedSpan PlaceOf(const v1::Expression& expression) {
  return {.path = expression.path(),
          .bytes = {},
          .line = expression.line(),
          .column = expression.column()};
}

Result<std::vector<std::string>> TextsFrom(
    const google::protobuf::RepeatedPtrField<v1::Expression>& expressions,
    std::vector<PlacedSpan>& places) {
  std::vector<std::string> texts;
  for (const v1::Expression& expression : expressions) {
    CheckStop();
    if (expression.text().size() > kMaxExpression) {
      return AboveLimit("expression", kMaxExpression, expression.text().size());
    }
    KILN_TRY_VOID(CheckName("expression.path", expression.path()));
    texts.push_back(expression.text());
    places.push_back(PlaceOf(expression));
  }
  return texts;
}

// Sizes of repeated fields are ints in protobuf and never negative.
template <class Items>
uint64_t Count(const Items& items) {
  return static_cast<uint64_t>(items.size());
}

// Bounds for fields that no other limit covers.
Result<void> CheckCounts(const v1::ProgramSpace& space) {
  if (Count(space.axes()) > kMaxAxes) {
    return AboveLimit("axes per program", kMaxAxes, Count(space.axes()));
  }
  if (const uint64_t count = Count(space.exclude()) + Count(space.require());
      count > kMaxExpressions) {
    return AboveLimit("expressions per program", kMaxExpressions, count);
  }
  KILN_TRY_VOID(CheckName("spaces.family", space.family()));
  if (Count(space.tags()) > kMaxTags) {
    return AboveLimit("tags per program", kMaxTags, Count(space.tags()));
  }
  for (const std::string& tag : space.tags()) {
    if (tag.size() > kMaxTag || !IsPrintable(tag)) {
      return Malformed("spaces.tags",
                       fmt::format("at most {} bytes without control characters", kMaxTag));
    }
  }
  return {};
}

Result<project::SpaceRequest> SpaceFrom(const v1::ProgramSpace& space) {
  project::SpaceRequest out;
  out.only_explicit = space.only_explicit();
  KILN_TRY(out.fixed, SettingsFrom(space.program().options()));
  KILN_TRY_VOID(CheckCounts(space));
  std::set<std::string_view> names;
  // An axis that is listed twice would be two factors of the space with one option.
  for (const v1::Axis& axis : space.axes()) {
    if (!names.insert(axis.name()).second) {
      return Malformed("axes.name", fmt::format("'{}' is listed twice", axis.name()));
    }
    KILN_TRY(project::Axis converted, AxisFrom(axis));
    out.axes.push_back(std::move(converted));
  }
  KILN_TRY(out.exclude, TextsFrom(space.exclude(), out.places));
  KILN_TRY(out.require, TextsFrom(space.require(), out.places));
  for (const v1::Variant& variant : space.explicit_()) {
    if (Count(variant.targets()) > kMaxTargets) {
      return AboveLimit("targets per program", kMaxTargets, Count(variant.targets()));
    }
    for (const uint32_t target : variant.targets()) {
      // Indexes are checked here once; everything behind this uses them without asking.
      if (target >= static_cast<uint32_t>(space.program().targets_size())) {
        return Malformed("explicit.targets", "an index of no target of the program");
      }
    }
    out.variant_targets.emplace_back(variant.targets().begin(), variant.targets().end());
    KILN_TRY(std::vector<resolve::OptionSetting> settings, SettingsFrom(variant.options()));
    out.variants.push_back(std::move(settings));
    out.warm.push_back(variant.warm());
  }
  return out;
}

}  // namespace

// A number of milliseconds near the end of its range would overflow in nanoseconds. A year is as
// good as for ever.
Result<Duration> DurationFromMs(std::string_view field, uint64_t milliseconds) {
  constexpr std::chrono::milliseconds kMost = std::chrono::hours(24 * 365);
  if (milliseconds > static_cast<uint64_t>(kMost.count())) {
    return Malformed(field, fmt::format("a time of at most {} ms", kMost.count()));
  }
  return Duration(std::chrono::milliseconds(milliseconds));
}

// Longer names would fit the store, but not every message that lists them.
Result<void> CheckPinLength(std::string_view field, const std::string& name) {
  return !name.empty() && name.size() <= kMaxPinName
             ? Result<void>()
             : Malformed(field, fmt::format("a pin has a name of at most {} bytes", kMaxPinName));
}

Result<void> CheckPinName(std::string_view field, const std::string& name) {
  KILN_TRY_VOID(CheckPinLength(field, name));
  return IsPrintable(name) ? Result<void>()
                           : Malformed(field, "the name of a pin has no control characters");
}

Result<void> CheckName(std::string_view field, std::string_view name) {
  return name.size() <= kMaxNameOfRequest && IsPrintable(name)
             ? Result<void>()
             : Malformed(field, fmt::format("at most {} bytes without control characters",
                                            kMaxNameOfRequest));
}

Result<Hash128> IdFromProto(std::string_view field, const std::string& bytes) {
  Hash128 id;
  if (bytes.size() != id.bytes.size()) {
    return Malformed(field, "an id has 16 bytes");
  }
  std::memcpy(id.bytes.data(), bytes.data(), bytes.size());
  return id;
}

Result<Digest> FromProto(const v1::Digest& digest) {
  KILN_TRY(const Hash128 id, IdFromProto("digest.id", digest.id()));
  return Digest{.id = id, .size = digest.size()};
}

// A setting without a value has no default here: the client said the name and forgot the rest.
Result<resolve::OptionSetting> FromProto(const v1::OptionValue& value) {
  resolve::OptionSetting setting{.name = value.name()};
  if (value.scope() == v1::OptionValue::GLOBAL) {
    setting.scope = ir::OptionScope::kGlobal;
  } else if (value.scope() == v1::OptionValue::INSTANCE) {
    setting.scope = ir::OptionScope::kInstance;
  }
  switch (value.value_case()) {
    case v1::OptionValue::kFlag:
      setting.kind = ir::OptionKind::kFlag;
      setting.bits = value.flag() ? 1 : 0;
      return setting;
    case v1::OptionValue::kUint:
      setting.kind = ir::OptionKind::kUint;
      setting.bits = value.uint();
      return setting;
    case v1::OptionValue::kSint:
      setting.kind = ir::OptionKind::kSint;
      setting.bits = static_cast<uint32_t>(value.sint());
      return setting;
    case v1::OptionValue::kFloat:
      // NaN differs from itself and would never hit, and infinity has no spelling in an option.
      if (!std::isfinite(value.float_())) {
        return Malformed("options.float", "not a finite number");
      }
      setting.kind = ir::OptionKind::kFloat;
      setting.bits = std::bit_cast<uint32_t>(value.float_());
      return setting;
    case v1::OptionValue::kEnum:
      setting.kind = ir::OptionKind::kEnum;
      setting.text = value.enum_();
      return setting;
    case v1::OptionValue::VALUE_NOT_SET:
      break;
  }
  return Malformed("options.value", fmt::format("option '{}' has no value", value.name()));
}

Result<compile::Source> FromProto(const v1::SourceRef& ref) { return SourceFrom(ref); }

Result<compile::NamedTarget> FromProto(const v1::Target& target) {
  if (target.form() == v1::Target::FORM_UNSPECIFIED) {
    return Malformed("target.form", "a target has a form");
  }
  if (!target.name().empty() && !IsTargetName(target.name())) {
    return Malformed("target.name", kTargetNameRule);
  }
  KILN_TRY(const FormRow form, FormOf(target.form()));
  compile::NamedTarget out;
  out.metadata_only = target.form() == v1::Target::META;
  out.name = !target.name().empty() ? target.name() : std::string(form.name);
  const std::string environment = target.env().empty() ? "vulkan1.1" : target.env();
  const auto parsed = target::ParseEnvironment(environment);
  if (!parsed.has_value()) {
    return Malformed("target.env", fmt::format("'{}' is not vulkan1.0 to vulkan1.4", environment));
  }
  out.target = target::MakeTarget(*parsed);
  // Other text forms are SPIR-V first, and a recipe translates it.
  out.target.form = target.form() == v1::Target::WGSL ? target::Form::kWgsl : target::Form::kSpirv;
  // Recipes run for the environment as well, and it is a part of their text.
  out.environment = *parsed;
  KILN_TRY(out.target.spirv_version,
           VersionFrom(form.dialect.empty() ? target.version() : std::string(), *parsed));
  KILN_TRY(out.recipes, RecipesFrom(target, form, *parsed));
  // Anything else is none: debug information is asked for, never added.
  out.target.debug = target.debug() == v1::Target::FULL    ? target::Debug::kFull
                     : target.debug() == v1::Target::NAMES ? target::Debug::kNames
                                                           : target::Debug::kNone;
  // One setting is known so far. An unknown one is refused, because it would be in no key: two
  // targets would share results that should differ.
  for (const auto& [key, value] : target.settings()) {
    if (key != "modules" || (value != "per_entry" && value != "combined")) {
      return Malformed("target.settings", fmt::format("'{}' = '{}' is not known", key, value));
    }
    out.target.combined = value == "combined";
  }
  if (out.target.combined && !out.recipes.empty() && out.recipes.back().starts_with("cross")) {
    return Malformed("target.settings", "a translation needs one module per entry point");
  }
  return out;
}

// Paths are checked, names are only bounded: what they mean is found out when the program is
// prepared.
Result<ProgramAndTargets> FromProto(const v1::Program& program) {
  // Counts are checked before their rows are converted, so a message above a limit costs little.
  if (program.sources_size() == 0) {
    return Malformed("program.sources", "a program has at least one source");
  }
  if (static_cast<uint64_t>(program.sources_size()) > kMaxSources) {
    return AboveLimit("sources per program", kMaxSources,
                      static_cast<uint64_t>(program.sources_size()));
  }
  KILN_TRY_VOID(CheckName("program.name", program.name()));
  ProgramAndTargets out;
  out.program.name = program.name();
  for (const v1::SourceRef& ref : program.sources()) {
    KILN_TRY(compile::Source source, SourceFrom(ref));
    out.program.sources.push_back(std::move(source));
  }
  KILN_TRY(out.program.pipeline, PipelineFrom(program.pipeline()));
  for (const v1::EntryPoint& entry : program.entry_points()) {
    KILN_TRY(const ir::Stage stage, StageFrom(entry.stage()));
    KILN_TRY_VOID(CheckName("program.entry_points.function", entry.function()));
    out.program.entries.push_back({.stage = stage, .function = entry.function()});
  }
  KILN_TRY(out.program.options, SettingsFrom(program.options()));
  if (program.has_hlsl()) {
    KILN_TRY(out.program.hlsl, FromProto(program.hlsl()));
    out.program = compile::WithChoices(std::move(out.program), {});
  }
  if (Count(program.targets()) > kMaxTargets) {
    return AboveLimit("targets per program", kMaxTargets, Count(program.targets()));
  }
  for (const v1::Target& target : program.targets()) {
    KILN_TRY(compile::NamedTarget converted, FromProto(target));
    out.targets.push_back(std::move(converted));
  }
  return out;
}

// Explicit variants are not evaluated against expressions, so a filter over them would be silently
// without effect.
Result<project::SpaceRequest> FromProto(const v1::ProgramSpace& space,
                                        const v1::Expression* filter) {
  KILN_TRY(project::SpaceRequest points, SpaceFrom(space));
  if (filter != nullptr) {
    if (!points.variants.empty()) {
      return NotBuiltIn("filters over explicit variants");
    }
    if (filter->text().size() > kMaxExpression) {
      return AboveLimit("expression", kMaxExpression, filter->text().size());
    }
    // A filter is one more requirement, with a place of its own for diagnostics.
    KILN_TRY_VOID(CheckName("filter.path", filter->path()));
    points.require.push_back(filter->text());
    points.places.push_back(PlaceOf(*filter));
  }
  return points;
}

}  // namespace kiln::rpc
