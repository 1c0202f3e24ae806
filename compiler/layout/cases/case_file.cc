// SPDX-License-Identifier: MIT
#include "compiler/layout/cases/case_file.h"

#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/layout/cases/answer_binding.h"
#include "compiler/layout/cases/answer_layout.h"
#include "compiler/layout/cases/answer_rpl.h"

namespace kiln::layout {
namespace {

// The path is that of JSON Pointer but for escapes: keys of these files have neither '/' nor '~'.
// "/items/3"
std::string JoinPath(const std::string& path, const std::string& key) {
  std::string joined = path;
  joined += '/';
  joined += key;
  return joined;
}

Error Wrong(std::string text) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(text), .reason = {}};
}

// An answer is JSON of the same form as `expect`.
struct Section {
  const char* name;
  Result<Json> (*answer)(const Json& item);
};
// A file may have any of these sections; members that are none of them are kept as they are.
constexpr Section kSections[] = {
    {"layout", AnswerLayout}, {"binding", AnswerBinding}, {"rpl", AnswerRpl}};

// The outline is checked at once, so that the loops below need no checks of their own.
Result<Json> ParseFile(std::string_view text) {
  KILN_TRY(Json file, ParseJson(text));
  if (!file.is_object()) {
    return Wrong("the file is no JSON object");
  }
  for (const Section& section : kSections) {
    if (!file.contains(section.name)) {
      continue;
    }
    const Json& items = file[section.name];
    if (!items.is_array() ||
        !std::ranges::all_of(items, [](const Json& item) { return item.is_object(); })) {
      return Wrong(fmt::format("section '{}' is no list of cases", section.name));
    }
  }
  return file;
}

// Cases without a name go by their number, so that a message always says which one is meant.
std::string IdOf(const Json& item, size_t index) {
  // Shortened, because the id is repeated in each message about the case.
  const bool named = item.contains("id") && item["id"].is_string();
  return named ? Shortened(item["id"].get_ref<const std::string&>()) : fmt::format("#{}", index);
}

// Calls `visit` with every case, its answer and "section/id". Returns what is wrong with cases.
// A case that is wrong does not keep the others from being answered.
std::vector<std::string> ForEach(
    Json& file,
    const std::function<void(Json& item, Json answer, const std::string& path)>& visit) {
  std::vector<std::string> errors;
  for (const Section& section : kSections) {
    if (!file.contains(section.name)) {
      continue;
    }
    Json& items = file[section.name];
    for (size_t i = 0; i < items.size(); ++i) {
      const std::string path = fmt::format("{}/{}", section.name, IdOf(items[i], i));
      Result<Json> answer = section.answer(items[i]);
      if (answer.ok()) {
        visit(items[i], std::move(answer).value(), path);
      } else {
        errors.push_back(fmt::format("{}: {}", path, answer.error().context));
      }
    }
  }
  return errors;
}

// Collects differences with the path of each, so that a file of hundreds of cases tells all of
// them at once.
class Comparison {
 public:
  // Only what is expected is compared.
  // At the top only the platforms that a case expects are compared, so a case may leave platforms
  // out. Below, both sides must agree in full.
  void Expect(const Json& expected, const Json& found, const std::string& path) {
    if (!expected.is_object()) {
      Add(path, expected.dump(), found.dump());
      return;
    }
    const Keys known = KeysOf(found);
    for (const auto& [key, part] : expected.get_ref<const Json::object_t&>()) {
      const std::string at = JoinPath(path, key);
      const auto other = known.find(key);
      if (other == known.end()) {
        Add(at, part.dump(), "");
      } else {
        Equal(part, *other->second, at);
      }
    }
  }
  std::vector<CaseDifference> Take() { return std::move(differences_); }

 private:
  // Objects keep the order of the file, so their keys are looked up in a map of their own.
  using Keys = std::map<std::string_view, const Json*>;
  static Keys KeysOf(const Json& object) {
    Keys keys;
    for (const auto& [key, part] : object.get_ref<const Json::object_t&>()) {
      keys.emplace(key, &part);
    }
    return keys;
  }

  // An empty text stands for a side that has nothing there.
  void Add(const std::string& path, std::string expected, std::string found) {
    differences_.push_back({path, std::move(expected), std::move(found)});
  }

  // Objects agree if they have the same keys, in whatever order.
  void Equal(const Json& expected, const Json& found, const std::string& path) {
    if (expected.is_object() && found.is_object()) {
      Expect(expected, found, path);
      const Keys known = KeysOf(expected);
      for (const auto& [key, part] : found.get_ref<const Json::object_t&>()) {
        if (!known.contains(key)) {
          Add(JoinPath(path, key), "", part.dump());
        }
      }
    } else if (expected.is_array() && found.is_array()) {
      // Lists are compared item by item, so a missing item in the middle makes all behind it
      // differ.
      for (size_t i = 0; i < std::max(expected.size(), found.size()); ++i) {
        const std::string at = fmt::format("{}/{}", path, i);
        if (i < expected.size() && i < found.size()) {
          Equal(expected[i], found[i], at);
        } else if (i < expected.size()) {
          Add(at, expected[i].dump(), "");
        } else {
          Add(at, "", found[i].dump());
        }
      }
    } else if (expected != found) {
      Add(path, expected.dump(), found.dump());
    }
  }

  std::vector<CaseDifference> differences_;
};

}  // namespace

// Cases that are wrong keep the `expect` that they have.
Result<AnsweredCases> AnswerCases(std::string_view text) {
  KILN_TRY(Json file, ParseFile(text));
  AnsweredCases answered;
  answered.errors = ForEach(file, [](Json& item, Json answer, const std::string&) {
    item["expect"] = std::move(answer);
  });
  answered.text = file.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  return answered;
}

// The file is not changed.
Result<CheckedCases> CheckCases(std::string_view text) {
  KILN_TRY(Json file, ParseFile(text));
  Comparison comparison;
  CheckedCases checked;
  checked.errors = ForEach(file, [&](Json& item, const Json& answer, const std::string& path) {
    // A case without an answer is a new one and cannot differ.
    if (item.contains("expect")) {
      comparison.Expect(item["expect"], answer, path + "/expect");
    }
  });
  checked.differences = comparison.Take();
  return checked;
}

// For people who look for the reason of a difference.
Result<AnsweredCases> DumpCases(std::string_view text) {
  KILN_TRY(const Json file, ParseFile(text));
  AnsweredCases dumped;
  // Layout cases are no programs, and so there is nothing to dump.
  for (const auto& [name, dump] :
       {std::pair{"binding", &DumpBinding}, std::pair{"rpl", &DumpRpl}}) {
    if (!file.contains(name)) {
      continue;
    }
    for (size_t i = 0; i < file[name].size(); ++i) {
      const std::string path = fmt::format("{}/{}", name, IdOf(file[name][i], i));
      Result<std::string> one = dump(file[name][i]);
      if (one.ok()) {
        dumped.text += fmt::format("# {}\n{}", path, *one);
      } else {
        dumped.errors.push_back(fmt::format("{}: {}", path, one.error().context));
      }
    }
  }
  return dumped;
}

}  // namespace kiln::layout
