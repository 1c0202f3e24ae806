// SPDX-License-Identifier: MIT
// Functions read on after a mistake and give a harmless value, so that readers need no branches of
// their own; the first mistake is kept, with its place, and decides the result at the end. Nothing
// here knows the meaning of a key.
#include "client/project/table_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "client/project/limits.h"
#include "compiler/base/printable.h"
#include "compiler/base/text/logical_path.h"
#include "compiler/diag/quoted.h"

namespace kiln::project {

// The characters of a name (spec/daemon 6.2): they need no quoting on a command line, in a path or
// in TOML.
bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '/' || c == '-';
}

// The library counts lines and columns from 1; a node without a place has line 0.
ManifestPlace PlaceOf(const toml::node& node) {
  return {.line = node.source().begin.line, .column = node.source().begin.column};
}

// Limits have a code of their own, so that a client tells a manifest that is too large from one
// that is wrong.
void TableReader::Fail(ManifestPlace place, const std::string& text, std::string_view reason) {
  if (!error_.has_value()) {
    // Names and values are as long as the manifest says, a message is not.
    const std::string shown = Shortened(text, kMaxMessage);
    error_ = Error{.code = reason == kLimitReason ? ErrorCode::kResourceExhausted
                                                  : ErrorCode::kInvalidArgument,
                   .context = place.line == 0 ? fmt::format("{}: {}", path_, shown)
                                              : fmt::format("{}:{}:{}: {}", path_, place.line,
                                                            place.column, shown),
                   .reason = std::string(reason)};
  }
}

void TableReader::FailAtLimit(ManifestPlace place, std::string_view limit, uint64_t max,
                              uint64_t actual) {
  Fail(place, fmt::format("{}: {} exceeds the limit of {}", limit, actual, max), kLimitReason);
}

// What is too much stays counted, so all that follows is refused as well.
bool TableReader::MayInherit(ManifestPlace place, uint64_t bytes) {
  inherited_ += bytes;
  if (inherited_ > kMaxInherited) {
    FailAtLimit(place, "bytes that programs of a manifest inherit", kMaxInherited, inherited_);
  }
  return inherited_ <= kMaxInherited;
}

// Unknown keys are mistakes, because a key with a mistake of typing would be ignored in silence
// (spec/daemon 6.2.1).
void TableReader::CheckKeys(const toml::table& table, std::string_view what,
                            const std::vector<std::string_view>& known) {
  for (const auto& [key, node] : table) {
    // The first mistake is the one that is told; the closest key of each of 200,000 costs seconds.
    if (error_.has_value()) {
      return;
    }
    const std::string_view name = key.str();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string_view closest = Closest(name.substr(0, kMaxName), known);
      Fail({.line = key.source().begin.line, .column = key.source().begin.column},
           fmt::format("unknown key '{}' in {}{}", Shortened(name, 2 * kMaxName), what,
                       closest.empty() ? "" : fmt::format("; did you mean '{}'?", closest)));
    }
  }
}

// An empty text after a mistake; the caller's own check of the text may then fail as well, which
// changes nothing, as the first mistake is kept.
std::string TableReader::Text(const toml::table& table, std::string_view key,
                              std::string_view fallback) {
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

// Names travel into messages, logs and paths (spec/daemon 11.6).
std::string TableReader::PrintableText(const toml::table& table, std::string_view key) {
  std::string text = Text(table, key, "");
  if (!IsPrintable(text)) {
    Fail(*table.get(key),
         fmt::format("'{}' is '{}', which has control characters", key, Printable(text)));
  }
  return text;
}

// False where there is no such key.
bool TableReader::Flag(const toml::table& table, std::string_view key) {
  const toml::node* node = table.get(key);
  if (node != nullptr && !node->is_boolean()) {
    Fail(*node, fmt::format("'{}' must be true or false", key));
  }
  return node != nullptr && node->value_or(false);
}

// Numbers of TOML are signed, and no key of the schema takes a negative one.
uint64_t TableReader::Number(const toml::table& table, std::string_view key, uint64_t most,
                             uint64_t fallback) {
  const toml::node* node = table.get(key);
  if (node == nullptr) {
    return fallback;
  }
  const auto* number = node->as_integer();
  if (number == nullptr || number->get() < 0 || static_cast<uint64_t>(number->get()) > most) {
    Fail(*node, fmt::format("'{}' must be a number from 0 to {}", key, most));
    return fallback;
  }
  return static_cast<uint64_t>(number->get());
}

// The node goes along with each text, so that a mistake is told where it stands.
template <class Each>
void TableReader::EachText(const toml::table& table, std::string_view key, const Each& each) {
  const toml::node* node = table.get(key);
  if (node == nullptr) {
    return;
  }
  const toml::array* array = node->as_array();
  if (array == nullptr) {
    Fail(*node, fmt::format("'{}' must be a list of texts", key));
    return;
  }
  for (const toml::node& item : *array) {
    if (const auto* text = item.as_string()) {
      each(item, text->get());
    } else {
      Fail(item, fmt::format("'{}' must be a list of texts", key));
    }
  }
}

// The size is checked here; whether the text is an expression, only the daemon can say
// (spec/daemon 6.0.1).
std::vector<ManifestExpression> TableReader::Expressions(const toml::table& table,
                                                         std::string_view key) {
  std::vector<ManifestExpression> expressions;
  EachText(table, key, [&](const toml::node& item, const std::string& text) {
    const ManifestPlace place = PlaceOf(item);
    if (text.size() > kMaxExpression) {
      FailAtLimit(place, "expression size", kMaxExpression, text.size());
    }
    // The text begins behind its quote.
    expressions.push_back(
        {.text = text, .place = {.line = place.line, .column = place.column + 1}});
  });
  return expressions;
}

std::vector<std::string> TableReader::Texts(const toml::table& table, std::string_view key) {
  std::vector<std::string> texts;
  EachText(table, key, [&](const toml::node&, const std::string& text) { texts.push_back(text); });
  return texts;
}

// In link order, which fixes bindings, so no globs and no sorting (spec/daemon 6.2).
std::vector<std::string> TableReader::Sources(const toml::table& table) {
  std::vector<std::string> sources = Texts(table, "sources");
  const toml::node* node = table.get("sources");
  if (sources.size() > kMaxSources) {
    FailAtLimit(PlaceOf(*node), "sources per program", kMaxSources, sources.size());
  }
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!IsLogicalPath(sources[i])) {
      Fail((*node->as_array())[i],
           fmt::format("source '{}': a path is relative to the root of the project, "
                       "'/'-separated and without empty, '.' or '..' segments",
                       sources[i]));
    }
  }
  return sources;
}

std::map<std::string, std::string> TableReader::TextMap(const toml::table& table,
                                                        std::string_view key) {
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

// Functions are names of the source: whether they exist, the daemon says.
std::map<std::string, std::string> TableReader::EntryPoints(const toml::table& table) {
  if (const toml::table* inner = Table(table, "entry_points")) {
    CheckKeys(*inner, "'entry_points'", {"vertex", "fragment", "compute"});
    for (const auto& [stage, function] : *inner) {
      if (function.is_string()) {
        (void)PrintableText(*inner, stage.str());
      }
    }
  }
  return TextMap(table, "entry_points");
}

// Null where there is no such key as well as where it is no table: the mistake is noted, and the
// reader goes on without it.
const toml::table* TableReader::Table(const toml::table& table, std::string_view key) {
  const toml::node* node = table.get(key);
  if (node == nullptr) {
    return nullptr;
  }
  if (node->as_table() == nullptr) {
    Fail(*node, fmt::format("'{}' must be a table", key));
  }
  return node->as_table();
}

// `[[name]]` of TOML is a list of tables.
std::vector<const toml::table*> TableReader::Tables(const toml::table& table,
                                                    std::string_view key) {
  std::vector<const toml::table*> tables;
  const toml::node* node = table.get(key);
  if (node == nullptr) {
    return tables;
  }
  const toml::array* array = node->as_array();
  if (array == nullptr) {
    Fail(*node, fmt::format("'{}' must be a list of tables", key));
    return tables;
  }
  for (const toml::node& item : *array) {
    if (item.as_table() == nullptr) {
      Fail(item, fmt::format("'{}' must be a list of tables", key));
      continue;
    }
    tables.push_back(item.as_table());
  }
  return tables;
}

// The declared type of the option decides what a number becomes; it is known to the daemon alone,
// so the value keeps the form that the author wrote.
ManifestValue TableReader::Value(const toml::node& node) {
  ManifestValue value{.value = false, .place = PlaceOf(node)};
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

// Any name is taken: whether the program has the option, the daemon says.
ManifestOptions TableReader::Options(const toml::table& table, std::string_view key) {
  ManifestOptions options;
  if (const toml::table* inner = Table(table, key)) {
    for (const auto& [name, node] : *inner) {
      options.emplace(name.str(), Value(node));
    }
  }
  return options;
}

// `"*"` stands for all values of a flag or enum. The place of the key is kept beside that of the
// values: an editor renames one and explains the other.
std::map<std::string, ManifestAxis> TableReader::Axes(const toml::table& table) {
  std::map<std::string, ManifestAxis> axes;
  for (const auto& [name, node] : table) {
    ManifestAxis axis{
        .place = PlaceOf(node),
        .key = {.line = name.source().begin.line, .column = name.source().begin.column}};
    if (const toml::array* values = node.as_array()) {
      for (const toml::node& value : *values) {
        axis.values.push_back(Value(value));
      }
      if (values->empty()) {
        Fail(node, fmt::format("axis '{}' has no values", name.str()));
      }
      if (values->size() > kMaxAxisValues) {
        FailAtLimit(axis.place, "axis values", kMaxAxisValues, values->size());
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

// Also names of files that are made of them (FileNameOf).
std::string TableReader::Name(const toml::table& table, std::string_view what) {
  std::string name = Text(table, "name", "");
  if (name.empty()) {
    Fail(table, fmt::format("{} needs a name", what));
  } else if (name.size() > kMaxName || !std::ranges::all_of(name, IsNameCharacter)) {
    Fail(*table.get("name"),
         fmt::format("'{}' is no name: letters, digits, '_', '.', '/' and '-', at most {}",
                     Shortened(name, 2 * kMaxName), kMaxName));
  }
  return name;
}

}  // namespace kiln::project
