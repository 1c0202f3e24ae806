// SPDX-License-Identifier: MIT
#include "client/project/manifest.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <set>

#include <fmt/format.h>
#include <toml++/toml.h>

namespace kiln::project {
namespace {

uint32_t LineOf(const toml::node& node) { return node.source().begin.line; }

size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

// Reads tables and keeps the first error; after it every call is a no-op.
class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {}

  void Fail(const toml::node& node, std::string text) {
    if (!error_.has_value()) {
      error_ = Error{.code = ErrorCode::kInvalidArgument,
                     .context = fmt::format("{}:{}: {}", path_, LineOf(node), text),
                     .reason = "MANIFEST_WRONG"};
    }
  }
  const std::optional<Error>& error() const { return error_; }

  // Unknown keys are errors that name the closest known one.
  void CheckKeys(const toml::table& table, std::string_view what,
                 const std::vector<std::string_view>& known) {
    for (const auto& [key, node] : table) {
      const std::string_view name = key.str();
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        const std::string_view closest = Closest(name, known);
        Fail(node,
             fmt::format("unknown key '{}' in {}{}", name, what,
                         closest.empty() ? "" : fmt::format("; did you mean '{}'?", closest)));
      }
    }
  }

  std::string Text(const toml::table& table, std::string_view key, std::string_view fallback) {
    const toml::node* node = table.get(key);
    if (node == nullptr) {
      return std::string(fallback);
    }
    if (const auto* text = node->as_string()) {
      return text->get();
    }
    Fail(*node, fmt::format("'{}' must be text", key));
    return {};
  }

  bool Flag(const toml::table& table, std::string_view key) {
    const toml::node* node = table.get(key);
    if (node != nullptr && !node->is_boolean()) {
      Fail(*node, fmt::format("'{}' must be true or false", key));
    }
    return node != nullptr && node->value_or(false);
  }

  std::vector<std::string> Texts(const toml::table& table, std::string_view key) {
    std::vector<std::string> texts;
    const toml::node* node = table.get(key);
    if (node == nullptr) {
      return texts;
    }
    const toml::array* array = node->as_array();
    if (array == nullptr) {
      Fail(*node, fmt::format("'{}' must be a list of texts", key));
      return texts;
    }
    for (const toml::node& item : *array) {
      if (const auto* text = item.as_string()) {
        texts.push_back(text->get());
      } else {
        Fail(item, fmt::format("'{}' must be a list of texts", key));
      }
    }
    return texts;
  }

  std::map<std::string, std::string> TextMap(const toml::table& table, std::string_view key) {
    std::map<std::string, std::string> map;
    if (const toml::table* inner = Table(table, key)) {
      for (const auto& [name, node] : *inner) {
        if (const auto* text = node.as_string()) {
          map.emplace(name.str(), text->get());
        } else {
          Fail(node, fmt::format("'{}.{}' must be text", key, name.str()));
        }
      }
    }
    return map;
  }

  const toml::table* Table(const toml::table& table, std::string_view key) {
    const toml::node* node = table.get(key);
    if (node == nullptr) {
      return nullptr;
    }
    if (node->as_table() == nullptr) {
      Fail(*node, fmt::format("'{}' must be a table", key));
    }
    return node->as_table();
  }

  ManifestValue Value(const toml::node& node) {
    ManifestValue value{.value = false, .line = LineOf(node)};
    if (const auto* flag = node.as_boolean()) {
      value.value = flag->get();
    } else if (const auto* integer = node.as_integer()) {
      value.value = integer->get();
    } else if (const auto* real = node.as_floating_point()) {
      value.value = real->get();
    } else if (const auto* text = node.as_string()) {
      value.value = text->get();
    } else {
      Fail(node, "an option value must be a flag, number or text");
    }
    return value;
  }

  ManifestOptions Options(const toml::table& table, std::string_view key) {
    ManifestOptions options;
    if (const toml::table* inner = Table(table, key)) {
      for (const auto& [name, node] : *inner) {
        options.emplace(name.str(), Value(node));
      }
    }
    return options;
  }

  std::map<std::string, ManifestAxis> Axes(const toml::table& table) {
    std::map<std::string, ManifestAxis> axes;
    for (const auto& [name, node] : table) {
      ManifestAxis axis;
      if (const toml::array* values = node.as_array()) {
        for (const toml::node& value : *values) {
          axis.values.push_back(Value(value));
        }
        if (values->empty()) {
          Fail(node, fmt::format("axis '{}' has no values", name.str()));
        }
      } else if (node.value_or(std::string_view()) == "*") {
        axis.all = true;
      } else {
        Fail(node, fmt::format("axis '{}' must be \"*\" or a list of values", name.str()));
      }
      axes.emplace(name.str(), std::move(axis));
    }
    return axes;
  }

 private:
  std::string path_;
  std::optional<Error> error_;
};

const std::vector<std::string_view> kProgramKeys{
    "name",    "sources", "entry_points", "pipeline",      "targets", "options",  "use",   "axes",
    "exclude", "require", "variants",     "only_explicit", "tags",    "priority", "budget"};

struct Defaults {
  std::string pipeline = "graphics_classic";
  std::vector<std::string> targets;
  ManifestOptions options;
  std::map<std::string, std::string> entry_points;
  std::vector<std::string> use;
  std::map<std::string, std::map<std::string, ManifestAxis>> axis_sets;
};

ManifestTarget ReadTarget(Reader& reader, std::string_view name, const toml::table& table) {
  reader.CheckKeys(table, fmt::format("[target.{}]", name),
                   {"form", "version", "env", "debug", "recipes", "settings"});
  ManifestTarget target{.name = std::string(name)};
  target.form = reader.Text(table, "form", "spirv");
  target.version = reader.Text(table, "version", "");
  target.env = reader.Text(table, "env", "vulkan1.1");
  target.debug = reader.Text(table, "debug", "names");
  target.recipes = reader.Texts(table, "recipes");
  target.settings = reader.TextMap(table, "settings");
  return target;
}

std::vector<ManifestVariant> ReadVariants(Reader& reader, const toml::table& table) {
  std::vector<ManifestVariant> variants;
  const toml::node* node = table.get("variants");
  const toml::array* array = node == nullptr ? nullptr : node->as_array();
  if (node != nullptr && array == nullptr) {
    reader.Fail(*node, "'variants' must be a list of tables");
  }
  for (size_t i = 0; array != nullptr && i < array->size(); ++i) {
    const toml::table* row = (*array)[i].as_table();
    if (row == nullptr) {
      reader.Fail((*array)[i], "'variants' must be a list of tables");
      continue;
    }
    reader.CheckKeys(*row, "a variant", {"options", "targets", "warm"});
    variants.push_back(
        {.options = reader.Options(*row, "options"), .warm = reader.Flag(*row, "warm")});
  }
  return variants;
}

ManifestProgram ReadProgram(Reader& reader, const toml::table& table, const Defaults& defaults) {
  reader.CheckKeys(table, "[[program]]", kProgramKeys);
  ManifestProgram program;
  program.line = LineOf(table);
  program.name = reader.Text(table, "name", "");
  if (program.name.empty()) {
    reader.Fail(table, "a program needs a name");
  }
  program.sources = reader.Texts(table, "sources");
  if (program.sources.empty()) {
    reader.Fail(table, fmt::format("program '{}' has no sources", program.name));
  }
  program.entry_points = table.contains("entry_points") ? reader.TextMap(table, "entry_points")
                                                        : defaults.entry_points;
  program.pipeline = reader.Text(table, "pipeline", defaults.pipeline);
  program.targets = table.contains("targets") ? reader.Texts(table, "targets") : defaults.targets;
  program.options = reader.Options(table, "options");
  program.options.insert(defaults.options.begin(), defaults.options.end());
  for (const std::string& set : table.contains("use") ? reader.Texts(table, "use") : defaults.use) {
    const auto found = defaults.axis_sets.find(set);
    if (found == defaults.axis_sets.end()) {
      reader.Fail(
          table, fmt::format("program '{}' uses [axes.{}], which is not there", program.name, set));
      continue;
    }
    for (const auto& [name, axis] : found->second) {
      program.axes.insert_or_assign(name, axis);
    }
  }
  if (const toml::table* axes = reader.Table(table, "axes")) {
    for (auto& [name, axis] : reader.Axes(*axes)) {
      program.axes.insert_or_assign(name, axis);
    }
  }
  program.exclude = reader.Texts(table, "exclude");
  program.require = reader.Texts(table, "require");
  program.variants = ReadVariants(reader, table);
  program.only_explicit = reader.Flag(table, "only_explicit");
  program.tags = reader.Texts(table, "tags");
  return program;
}

Defaults ReadDefaults(Reader& reader, const toml::table& root) {
  Defaults defaults;
  if (const toml::table* table = reader.Table(root, "defaults")) {
    reader.CheckKeys(*table, "[defaults]",
                     {"pipeline", "targets", "options", "entry_points", "use", "budget"});
    defaults.pipeline = reader.Text(*table, "pipeline", defaults.pipeline);
    defaults.targets = reader.Texts(*table, "targets");
    defaults.options = reader.Options(*table, "options");
    defaults.entry_points = reader.TextMap(*table, "entry_points");
    defaults.use = reader.Texts(*table, "use");
  }
  if (const toml::table* sets = reader.Table(root, "axes")) {
    for (const auto& [name, node] : *sets) {
      if (const toml::table* set = node.as_table()) {
        defaults.axis_sets.emplace(name.str(), reader.Axes(*set));
      } else {
        reader.Fail(node, fmt::format("'axes.{}' must be a table", name.str()));
      }
    }
  }
  return defaults;
}

// The library's exception becomes a value here.
Result<toml::table> ParseToml(std::string_view text, const std::string& path) {
  try {
    return toml::table(toml::parse(text, path));
  } catch (const toml::parse_error& error) {
    return Error{
        .code = ErrorCode::kInvalidArgument,
        .context = fmt::format("{}:{}: {}", path, error.source().begin.line, error.description()),
        .reason = "MANIFEST_WRONG"};
  }
}

void CheckTargets(Reader& reader, const toml::table& root, const Manifest& manifest) {
  std::set<std::string> names;
  for (const ManifestProgram& program : manifest.programs) {
    if (!names.insert(program.name).second) {
      reader.Fail(root, fmt::format("two programs are named '{}'", program.name));
    }
    for (const std::string& name : program.targets) {
      const bool known =
          std::any_of(manifest.targets.begin(), manifest.targets.end(),
                      [&](const ManifestTarget& target) { return target.name == name; });
      if (!known) {
        reader.Fail(root, fmt::format("program '{}' names target '{}', which is not there",
                                      program.name, name));
      }
    }
  }
}

}  // namespace

std::string_view Closest(std::string_view word, const std::vector<std::string_view>& known) {
  std::string_view best;
  size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    const size_t distance = Distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

Result<Manifest> ReadManifest(std::string_view text, const std::string& path) {
  if (text.size() > kMaxManifest) {
    return Error{.code = ErrorCode::kResourceExhausted,
                 .context = fmt::format("{}: {} bytes exceed the limit of {} for a manifest", path,
                                        text.size(), kMaxManifest),
                 .reason = "LIMIT_EXCEEDED"};
  }
  KILN_TRY(const toml::table root, ParseToml(text, path));
  Reader reader(path);
  reader.CheckKeys(root, "the manifest",
                   {"project", "defaults", "target", "axes", "program", "budget", "watch"});
  Manifest manifest;
  manifest.path = path;
  manifest.folder = std::filesystem::path(path).parent_path().string();
  if (const toml::table* project = reader.Table(root, "project")) {
    reader.CheckKeys(*project, "[project]", {"manifest", "name", "root"});
    manifest.name = reader.Text(*project, "name", "");
    const std::string base = reader.Text(*project, "root", ".");
    if (base != ".") {
      manifest.folder = (std::filesystem::path(manifest.folder) / base).string();
    }
    if ((*project)["manifest"].value_or(int64_t{0}) != 1) {
      reader.Fail(*project, "'project.manifest' must be 1: the version of the schema");
    }
  } else {
    reader.Fail(root, "[project] with manifest = 1 is missing");
  }
  const Defaults defaults = ReadDefaults(reader, root);
  if (const toml::table* targets = reader.Table(root, "target")) {
    for (const auto& [name, node] : *targets) {
      if (const toml::table* table = node.as_table()) {
        manifest.targets.push_back(ReadTarget(reader, name.str(), *table));
      }
    }
  }
  if (const toml::array* programs = root["program"].as_array()) {
    for (const toml::node& node : *programs) {
      if (const toml::table* table = node.as_table()) {
        manifest.programs.push_back(ReadProgram(reader, *table, defaults));
      }
    }
  }
  if (manifest.programs.empty()) {
    reader.Fail(root, "there is no [[program]]");
  }
  CheckTargets(reader, root, manifest);
  if (reader.error().has_value()) {
    return *reader.error();
  }
  return manifest;
}

std::string FindManifest(const std::string& folder) {
  std::error_code ignored;
  std::filesystem::path at = std::filesystem::absolute(folder, ignored);
  for (;;) {
    const std::filesystem::path file = at / "kiln.toml";
    if (std::filesystem::is_regular_file(file, ignored)) {
      return file.string();
    }
    if (!at.has_relative_path()) {
      return {};
    }
    at = at.parent_path();
  }
}

}  // namespace kiln::project
