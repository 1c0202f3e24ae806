// SPDX-License-Identifier: MIT
// Finds artifacts from before this process for a program whose sources are wrong now
// (spec/daemon 8.3.2): explain records of the same watch session say which signature each variant
// had, and the cache may still have it.
#include "server/reload/last_good.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "compiler/artifact/state_hash.h"
#include "compiler/driver/option_text.h"
#include "server/compile/explainer.h"

namespace kiln::reload {
namespace {

using Texts = std::vector<cache::NamedText>;

// Null: the record does not tell. Records of the explain ring have all options as texts, also those
// that the request left at their defaults.
const std::string* ValueOf(const Texts& texts, const std::string& name) {
  const auto found = std::ranges::find(texts, name, &cache::NamedText::name);
  return found == texts.end() ? nullptr : &found->value;
}

// A record that does not tell an option does not agree: it may have had any value.
bool Agrees(const Texts& texts, const Options& options) {
  return std::ranges::all_of(options, [&](const resolve::OptionSetting& option) {
    const std::string* const value = ValueOf(texts, option.name);
    return value != nullptr && *value == driver::ValueText(option);
  });
}

// A text of a flag or an enum, the only kinds of which every value may be asked for. Requires: the
// axis has all values. Enum values are quoted in records, so the two kinds cannot be mistaken.
resolve::OptionSetting SettingOf(const std::string& name, const std::string& text) {
  if (text == "true" || text == "false") {
    return {.name = name,
            .scope = std::nullopt,
            .kind = ir::OptionKind::kFlag,
            .bits = text == "true" ? 1U : 0U,
            .text = {}};
  }
  const bool quoted = text.size() >= 2 && text.front() == '"';
  return {.name = name,
          .scope = std::nullopt,
          .kind = ir::OptionKind::kEnum,
          .bits = 0,
          .text = quoted ? text.substr(1, text.size() - 2) : text};
}

// The point of the axes that a record is about; nothing if the axes do not have it. Listed values
// keep the kind that the manifest gave them.
std::optional<Options> PointOf(const project::SpaceRequest& space, const Texts& texts) {
  Options point;
  for (const project::Axis& axis : space.axes) {
    const std::string* const text = ValueOf(texts, axis.name);
    if (text == nullptr) {
      return std::nullopt;
    }
    if (axis.all) {
      point.push_back(SettingOf(axis.name, *text));
      continue;
    }
    const auto value = std::ranges::find_if(
        axis.values,
        [&](const resolve::OptionSetting& setting) { return driver::ValueText(setting) == *text; });
    if (value == axis.values.end()) {
      return std::nullopt;
    }
    point.push_back(*value);
  }
  return point;
}

// Variants that a record is about. Fixed options must agree, or the record is of a program that was
// declared otherwise.
std::vector<OptionsPtr> VariantsOf(const compile::BatchProgram& program,
                                   std::span<const Interest> interest, const Texts& texts) {
  std::vector<OptionsPtr> variants;
  if (!Agrees(texts, program.program.options)) {
    return variants;
  }
  for (const Interest& one : interest) {
    if (Agrees(texts, *one.options)) {
      variants.push_back(one.options);
    }
  }
  for (const Options& variant : program.space.variants) {
    if (Agrees(texts, variant)) {
      variants.push_back(std::make_shared<const Options>(variant));
    }
  }
  if (!program.space.only_explicit) {
    if (std::optional<Options> point = PointOf(program.space, texts); point.has_value()) {
      variants.push_back(std::make_shared<const Options>(*std::move(point)));
    }
  }
  return variants;
}

}  // namespace

// Explain records lead from program and target to signatures (spec/cache 11.1), newest first, so
// that the first one of a variant is its latest. At most 64 records a slot. Only records of this
// watch session count: another workspace has other sources (spec/daemon 8.1).
std::vector<BuiltVariant> FindLastGood(const compile::BatchProgram& program,
                                       std::span<const Interest> interest, const WorkOwner& whose,
                                       cache::ExplainRing& explains, compile::CachedBuild& builder,
                                       const cache::Call& call) {
  std::vector<BuiltVariant> found;
  for (const compile::NamedTarget& target : program.targets) {
    const auto records =
        explains.Records(compile::SlotOf(whose.project, program.program.name, target.name));
    std::set<std::string> have;
    for (auto record = records.rbegin(); record != records.rend(); ++record) {
      if (whose.session.zero() || (*record)->watcher != whose.session) {
        continue;  // of other files, or of somebody else
      }
      const std::vector<OptionsPtr> variants =
          VariantsOf(program, interest, (*record)->inputs->options);
      if ((*record)->signature.zero() || variants.empty()) {
        continue;
      }
      const std::optional<compile::Outcome> known =
          builder.Find(target.name, (*record)->signature, call);
      if (!known.has_value()) {
        continue;
      }
      const auto artifact = std::make_shared<const compile::Artifact>(*known->artifact);
      const Hash128 state = StateOf(builder, *known, call);
      for (const OptionsPtr& options : variants) {
        std::string name = VariantName(*options);
        if (have.insert(name).second) {
          found.push_back({.variant = std::move(name),
                           .options = options,
                           .artifact = artifact,
                           .state = state});
        }
      }
    }
  }
  return found;
}

}  // namespace kiln::reload
