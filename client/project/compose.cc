// SPDX-License-Identifier: MIT
// Materials and passes become plain programs (spec/daemon 6.7), so that nothing behind the manifest
// knows composition but the family rule. The order of sources and of options is the rule of
// spec/daemon 6.7.1.
#include "client/project/compose.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "client/project/hlsl_table.h"
#include "client/project/inheritance.h"
#include "client/project/limits.h"

namespace kiln::project {
namespace {

// Amounts fit the signed numbers of TOML.
constexpr uint64_t kMany = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());

// What comparing with a tag counts as; a material has few of them.
constexpr uint64_t kTagBytes = 64;

// A pass without variants has one without a name, so that composing needs no second case.
struct PassVariant {
  std::string name;  // empty: the pass itself, because it lists none
  std::vector<std::string> sources;
  ManifestOptions options;
  std::vector<std::string> needs;
};

struct Pass {
  std::string name;
  std::vector<std::string> sources;
  ManifestOptions options;
  std::vector<PassVariant> variants;
  std::vector<std::string> disabled_stages;
  std::vector<std::string> needs;
};

struct MaterialPass {
  const Pass* pass = nullptr;
  ManifestOptions options;
};

struct Material {
  ManifestProgram common;  // what all its programs share; the name is the material's
  uint64_t bytes = 0;      // of it
  std::vector<MaterialPass> passes;
};

// "2h" -> 7,200,000 ms, or "8G" -> bytes; nothing if the text is neither a number nor has one of
// the units. A number and its unit without a space between them; the empty unit is allowed where
// the table has it.
std::optional<uint64_t> Amount(std::string_view text,
                               const std::vector<std::pair<std::string_view, uint64_t>>& units) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) {
    return std::nullopt;
  }
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  for (const auto& [name, factor] : units) {
    uint64_t product = 0;
    if (unit == name && !__builtin_mul_overflow(number, factor, &product)) {
      return product;
    }
  }
  return std::nullopt;
}

uint64_t ReadAmount(TableReader& reader, const toml::table& table, std::string_view key,
                    std::string_view example,
                    const std::vector<std::pair<std::string_view, uint64_t>>& units) {
  if (!table.contains(key)) {
    return 0;
  }
  const std::string text = reader.Text(table, key, "");
  const std::optional<uint64_t> amount = Amount(text, units);
  if (!amount.has_value()) {
    reader.Fail(*table.get(key),
                fmt::format("'{}' = '{}' is no amount such as \"{}\"", key, text, example));
  }
  return amount.value_or(0);
}

// What pipelines of the pass draw into (spec/pso 5.2). The formats are names that the engine knows;
// the daemon does not look at them.
ManifestPass ReadFormats(TableReader& reader, const toml::table& table, const std::string& name) {
  ManifestPass formats{.name = name,
                       .color = reader.Texts(table, "color"),
                       .depth = reader.Text(table, "depth", "")};
  formats.samples = static_cast<uint32_t>(reader.Number(table, "samples", 64, 1));
  formats.view_mask = static_cast<uint32_t>(
      reader.Number(table, "view_mask", std::numeric_limits<uint32_t>::max()));
  if (formats.samples == 0 || (formats.samples & (formats.samples - 1)) != 0) {
    reader.Fail(*table.get("samples"), "'samples' must be 1, 2, 4, 8, 16, 32 or 64");
  }
  return formats;
}

// The part of a pass that is composed; formats are kept apart, because plain programs may name a
// pass, too.
Pass ReadPass(TableReader& reader, const toml::table& table) {
  reader.CheckKeys(table, "[[pass]]",
                   {"name", "sources", "options", "variants", "disabled_stages", "requires",
                    "color", "depth", "samples", "view_mask"});
  Pass pass{.name = reader.Name(table, "a pass"),
            .sources = reader.Sources(table),
            .options = reader.Options(table, "options"),
            .variants = {},
            .disabled_stages = reader.Texts(table, "disabled_stages"),
            .needs = reader.Texts(table, "requires")};
  for (const std::string& stage : pass.disabled_stages) {
    if (stage != "vertex" && stage != "fragment" && stage != "compute") {
      reader.Fail(*table.get("disabled_stages"),
                  fmt::format("'{}' is not vertex, fragment or compute", stage));
    }
  }
  for (const toml::table* row : reader.Tables(table, "variants")) {
    reader.CheckKeys(*row, "a variant of a pass", {"name", "sources", "options", "requires"});
    pass.variants.push_back({.name = reader.Name(*row, "a variant of a pass"),
                             .sources = reader.Sources(*row),
                             .options = reader.Options(*row, "options"),
                             .needs = reader.Texts(*row, "requires")});
  }
  if (pass.variants.empty()) {
    pass.variants.emplace_back();
  }
  return pass;
}

// By name. A manifest may have a hundred thousand passes and name each in a hundred materials, so
// none is looked for one by one.
template <class PassType>
using PassIndex = std::map<std::string_view, const PassType*>;

template <class PassType>
PassIndex<PassType> IndexOf(const std::vector<PassType>& passes) {
  PassIndex<PassType> index;
  for (const PassType& pass : passes) {
    index.emplace(pass.name, &pass);
  }
  return index;
}

// Null after saying that there is none of the name. The message offers the closest name, as for
// keys.
template <class PassType>
const PassType* PassNamed(TableReader& reader, const toml::node& node, const std::string& name,
                          const PassIndex<PassType>& passes) {
  const auto found = passes.find(name);
  if (found != passes.end()) {
    return found->second;
  }
  if (reader.error().has_value()) {
    return nullptr;  // the first mistake is told, and the closest of many names costs time
  }
  std::vector<std::string_view> names;
  names.reserve(passes.size());
  for (const auto& [known, pass] : passes) {
    names.push_back(known);
  }
  const std::string_view closest = Closest(name, names);
  reader.Fail(node, fmt::format("there is no [[pass]] '{}'{}", name,
                                closest.empty() ? std::string()
                                                : fmt::format("; did you mean '{}'?", closest)));
  return nullptr;
}

// A list of names, or a map from names to options. A pass is found by name among those that were
// read before; the same pass twice is a mistake, as both programs would have one name.
std::vector<MaterialPass> ReadMaterialPasses(TableReader& reader, const toml::table& table,
                                             const PassIndex<Pass>& passes) {
  std::vector<MaterialPass> chosen;
  std::set<std::string> listed;
  const toml::node* node = table.get("passes");
  if (node == nullptr) {
    return chosen;
  }
  const auto add = [&](const toml::node& at, const std::string& name, ManifestOptions options) {
    if (!listed.insert(name).second) {
      reader.Fail(at, fmt::format("pass '{}' is listed twice", name));
    } else if (const Pass* pass = PassNamed(reader, at, name, passes)) {
      chosen.push_back({.pass = pass, .options = std::move(options)});
    }
  };
  if (const toml::table* map = node->as_table()) {
    for (const auto& [name, options] : *map) {
      if (options.as_table() == nullptr) {
        reader.Fail(options, fmt::format("'passes.{}' must be a table of options", name.str()));
      } else {
        add(options, std::string(name.str()), reader.Options(*map, name.str()));
      }
    }
  } else if (const toml::array* list = node->as_array()) {
    for (const toml::node& item : *list) {
      if (item.as_string() == nullptr) {
        reader.Fail(item, "'passes' must be a list of names, or a table from names to options");
      } else {
        add(item, item.as_string()->get(), {});
      }
    }
  } else {
    reader.Fail(*node, "'passes' must be a list of names, or a table from names to options");
  }
  return chosen;
}

// Options of the material are global: they decide the layout of all its programs, which must be the
// same (spec/daemon 6.7.2).
Material ReadMaterial(TableReader& reader, const toml::table& table,
                      const ManifestDefaults& defaults, const PassIndex<Pass>& passes) {
  reader.CheckKeys(table, "[[material]]",
                   {"name", "sources", "options", "entry_points", "passes", "use", "axes",
                    "exclude", "tags", "macros"});
  Material material;
  ManifestProgram& common = material.common;
  common.place = PlaceOf(table);
  common.name = reader.Name(table, "a material");
  common.family = common.name;
  common.sources = reader.Sources(table);
  if (common.sources.empty()) {
    reader.Fail(table, fmt::format("material '{}' has no sources", common.name));
  }
  if (!reader.MayInherit(common.place, defaults.bytes)) {
    return material;
  }
  common.entry_points =
      table.contains("entry_points") ? reader.EntryPoints(table) : defaults.entry_points;
  common.pipeline = defaults.pipeline;
  common.targets = defaults.targets;
  common.options = reader.Options(table, "options");
  common.hlsl = defaults.hlsl;
  ReadMacros(reader, table, common.hlsl);
  for (auto& [name, value] : common.options) {
    value.global = true;
  }
  common.options.insert(defaults.options.begin(), defaults.options.end());
  common.axes = ReadAxes(reader, table, "material '" + common.name + "'", defaults);
  common.exclude = reader.Expressions(table, "exclude");
  common.tags = reader.Texts(table, "tags");
  common.budget = defaults.budget;
  CheckSize(reader, common);
  material.bytes = BytesOf(common);
  material.passes = ReadMaterialPasses(reader, table, passes);
  return material;
}

// A material has 64 tags at most.
bool HasAll(const std::vector<std::string>& tags, const std::vector<std::string>& needs) {
  return std::ranges::all_of(
      needs, [&](const std::string& tag) { return std::ranges::find(tags, tag) != tags.end(); });
}

// Later values replace earlier ones.
void Overlay(ManifestOptions& options, const ManifestOptions& later) {
  for (const auto& [name, value] : later) {
    options.insert_or_assign(name, value);
  }
}

// Link order is pass, variant of the pass, material. Later options replace earlier ones in the same
// order, those of the material for this pass last.
ManifestProgram Composed(const Material& material, const MaterialPass& in,
                         const PassVariant& variant) {
  const Pass& pass = *in.pass;
  ManifestProgram program = material.common;
  program.pass = pass.name;
  program.name += "/" + pass.name + (variant.name.empty() ? "" : "/" + variant.name);
  program.sources = pass.sources;
  program.sources.insert(program.sources.end(), variant.sources.begin(), variant.sources.end());
  program.sources.insert(program.sources.end(), material.common.sources.begin(),
                         material.common.sources.end());
  Overlay(program.options, pass.options);
  Overlay(program.options, variant.options);
  Overlay(program.options, in.options);
  for (const auto& [name, value] : program.options) {
    program.axes.erase(name);  // a fixed value of the pass is no axis of its programs
  }
  for (const std::string& stage : pass.disabled_stages) {
    program.entry_points.erase(stage);
  }
  return program;
}

// Without entry points, axes and what rests on them: the declarations of the material alone. The
// program `material`, whose metadata the family shares (spec/daemon 6.7.2).
ManifestProgram FamilyOf(const Material& material) {
  ManifestProgram family = material.common;
  family.entry_points.clear();
  family.axes.clear();
  family.exclude.clear();
  std::erase_if(family.options, [](const auto& option) { return !option.second.global; });
  return family;
}

// Two passes of one name would leave open which of them a material means.
void CheckUnique(TableReader& reader, const toml::table& root, const std::vector<Pass>& passes) {
  const PassIndex<Pass> first = IndexOf(passes);
  for (size_t i = 0; i < passes.size(); ++i) {
    if (first.at(passes[i].name) != &passes[i]) {
      reader.Fail((*root["pass"].as_array())[i],
                  fmt::format("two passes are named '{}'", passes[i].name));
    }
  }
}

}  // namespace

// Sets in the order of `use`, then the own axes; a later one of the same name replaces an earlier
// one (spec/daemon 6.2).
std::map<std::string, ManifestAxis> ReadAxes(TableReader& reader, const toml::table& table,
                                             const std::string& who,
                                             const ManifestDefaults& defaults) {
  std::map<std::string, ManifestAxis> axes;
  for (const std::string& set : table.contains("use") ? reader.Texts(table, "use") : defaults.use) {
    const auto found = defaults.axis_sets.find(set);
    if (found == defaults.axis_sets.end()) {
      reader.Fail(table.contains("use") ? PlaceOf(*table.get("use")) : PlaceOf(table),
                  fmt::format("{} uses [axes.{}], which is not there", who, set));
      continue;
    }
    if (!reader.MayInherit(PlaceOf(table), BytesOf(found->second))) {
      return {};
    }
    for (const auto& [name, axis] : found->second) {
      axes.insert_or_assign(name, axis);
    }
  }
  if (const toml::table* own = reader.Table(table, "axes")) {
    for (auto& [name, axis] : reader.Axes(*own)) {
      axes.insert_or_assign(name, axis);
    }
  }
  return axes;
}

// The daemon refuses the same when a space comes to it, but by then the client would have made it.
void CheckSize(TableReader& reader, const ManifestProgram& program) {
  const auto check = [&](std::string_view limit, size_t most, size_t count) {
    if (count > most) {
      reader.FailAtLimit(program.place, limit, most, count);
    }
  };
  check("targets per program", kMaxTargets, program.targets.size());
  check("axes per program", kMaxAxes, program.axes.size());
  check("macros with values", kMaxMacros, program.hlsl.macros.size());
  check("expressions per program", kMaxExpressions,
        program.exclude.size() + program.require.size());
  check("tags per program", kMaxTags, program.tags.size());
}

// Zero stands for "not said" in all fields.
ManifestBudget ReadBudget(TableReader& reader, const toml::table& table) {
  ManifestBudget budget;
  budget.results = reader.Number(table, "results", kMany);
  if (budget.results > kMaxResults) {
    reader.FailAtLimit(PlaceOf(*table.get("results")), "distinct results per program", kMaxResults,
                       budget.results);
  }
  budget.variants = reader.Number(table, "variants", kMany);
  budget.cpu_ms =
      ReadAmount(reader, table, "cpu", "2h",
                 {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}});
  budget.output = ReadAmount(reader, table, "output", "8G",
                             {{"", 1},
                              {"K", uint64_t{1} << 10},
                              {"M", uint64_t{1} << 20},
                              {"G", uint64_t{1} << 30},
                              {"T", uint64_t{1} << 40},
                              {"KiB", uint64_t{1} << 10},
                              {"MiB", uint64_t{1} << 20},
                              {"GiB", uint64_t{1} << 30},
                              {"TiB", uint64_t{1} << 40}});
  return budget;
}

namespace {

// Programs `material/pass[/variant]`. Each pair counts whether it becomes a program or not, with
// the tags that are compared: passes of a thousand variants in a thousand materials are a million
// of them. What a program takes over counts before it is copied.
void ComposeMaterial(TableReader& reader, const Material& material, Manifest& manifest) {
  const ManifestPlace place = material.common.place;
  for (const MaterialPass& in : material.passes) {
    const uint64_t of_pass = BytesOf(in.pass->sources) + BytesOf(in.pass->options) +
                             BytesOf(in.options) + material.bytes;
    for (const PassVariant& variant : in.pass->variants) {
      if (!reader.MayInherit(place, sizeof(PassVariant) + kTagBytes * (in.pass->needs.size() +
                                                                       variant.needs.size()))) {
        return;
      }
      if (!HasAll(material.common.tags, in.pass->needs) ||
          !HasAll(material.common.tags, variant.needs)) {
        continue;
      }
      if (!reader.MayInherit(place,
                             of_pass + BytesOf(variant.sources) + BytesOf(variant.options))) {
        return;
      }
      ManifestProgram program = Composed(material, in, variant);
      if (program.sources.size() > kMaxSources) {
        reader.FailAtLimit(program.place, "sources per program", kMaxSources,
                           program.sources.size());
      }
      manifest.programs.push_back(std::move(program));
    }
  }
}

}  // namespace

// The number of programs is checked after each material, before the next one makes as many again. A
// mistake ends it, because those below could only repeat it.
void Compose(TableReader& reader, const toml::table& root, const ManifestDefaults& defaults,
             Manifest& manifest) {
  std::vector<Pass> passes;
  for (const toml::table* table : reader.Tables(root, "pass")) {
    passes.push_back(ReadPass(reader, *table));
    manifest.passes.push_back(ReadFormats(reader, *table, passes.back().name));
  }
  CheckUnique(reader, root, passes);
  const PassIndex<Pass> index = IndexOf(passes);
  for (const toml::table* table : reader.Tables(root, "material")) {
    if (reader.error().has_value()) {
      return;
    }
    const Material material = ReadMaterial(reader, *table, defaults, index);
    if (!reader.MayInherit(material.common.place, material.bytes)) {
      return;
    }
    manifest.programs.push_back(FamilyOf(material));
    ComposeMaterial(reader, material, manifest);
    if (manifest.programs.size() > kMaxPrograms) {
      reader.FailAtLimit(PlaceOf(*table), "programs per manifest", kMaxPrograms,
                         manifest.programs.size());
    }
  }
}

// After the passes are known. It needs the tables once more, since a program keeps the name alone.
void CheckPassesOfPrograms(TableReader& reader, const toml::table& root, const Manifest& manifest) {
  const PassIndex<ManifestPass> passes = IndexOf(manifest.passes);
  for (const toml::table* table : reader.Tables(root, "program")) {
    const toml::node* node = table->get("pass");
    if (node != nullptr && node->as_string() != nullptr) {
      (void)PassNamed(reader, *node, node->as_string()->get(), passes);
    }
  }
}

}  // namespace kiln::project
