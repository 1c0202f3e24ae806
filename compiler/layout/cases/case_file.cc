// SPDX-License-Identifier: MIT
#include "compiler/layout/cases/case_file.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/layout/cases/answers.h"

namespace kiln::layout {
namespace {

Error Wrong(std::string text) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(text), .reason = {}};
}

struct Section {
  const char* name;
  Result<Json> (*answer)(const Json& item);
};
constexpr Section kSections[] = {
    {"layout", AnswerLayout}, {"binding", AnswerBinding}, {"rpl", AnswerRpl}};

Result<Json> ParseFile(std::string_view text) {
  Json file = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (file.is_discarded() || !file.is_object()) {
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

std::string IdOf(const Json& item, size_t index) {
  const bool named = item.contains("id") && item["id"].is_string();
  return named ? item["id"].get<std::string>() : fmt::format("#{}", index);
}

// Calls `visit` with every case, its answer and "section/id".
Result<void> ForEach(
    Json& file,
    const std::function<void(Json& item, Json answer, const std::string& path)>& visit) {
  for (const Section& section : kSections) {
    if (!file.contains(section.name)) {
      continue;
    }
    Json& items = file[section.name];
    for (size_t i = 0; i < items.size(); ++i) {
      const std::string path = fmt::format("{}/{}", section.name, IdOf(items[i], i));
      Result<Json> answer = section.answer(items[i]);
      if (!answer.ok()) {
        return WithContext(std::move(answer).error(), path);
      }
      visit(items[i], std::move(answer).value(), path);
    }
  }
  return {};
}

class Comparison {
 public:
  // At the top, only what is expected is compared; below, both sides must have the same members.
  void Expect(const Json& expected, const Json& found, const std::string& path) {
    for (const auto& [key, part] : expected.items()) {
      const std::string at = path + "/" + key;
      if (!found.contains(key)) {
        Add(at, part.dump(), "");
      } else {
        Equal(part, found[key], at);
      }
    }
  }
  std::vector<CaseDifference> Take() { return std::move(differences_); }

 private:
  void Add(const std::string& path, std::string expected, std::string found) {
    differences_.push_back({path, std::move(expected), std::move(found)});
  }

  void Equal(const Json& expected, const Json& found, const std::string& path) {
    if (expected.is_object() && found.is_object()) {
      Expect(expected, found, path);
      for (const auto& [key, part] : found.items()) {
        if (!expected.contains(key)) {
          Add(path + "/" + key, "", part.dump());
        }
      }
    } else if (expected.is_array() && found.is_array()) {
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

Result<std::string> AnswerCases(std::string_view text) {
  KILN_TRY(Json file, ParseFile(text));
  KILN_TRY_VOID(ForEach(file, [](Json& item, Json answer, const std::string&) {
    item["expect"] = std::move(answer);
  }));
  return file.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::vector<CaseDifference>> CheckCases(std::string_view text) {
  KILN_TRY(Json file, ParseFile(text));
  Comparison comparison;
  KILN_TRY_VOID(ForEach(file, [&](Json& item, Json answer, const std::string& path) {
    if (item.contains("expect")) {
      comparison.Expect(item["expect"], answer, path + "/expect");
    }
  }));
  return comparison.Take();
}

Result<std::string> DumpCases(std::string_view text) {
  KILN_TRY(const Json file, ParseFile(text));
  std::string out;
  for (const auto& [name, dump] :
       {std::pair{"binding", &DumpBinding}, std::pair{"rpl", &DumpRpl}}) {
    if (!file.contains(name)) {
      continue;
    }
    for (size_t i = 0; i < file[name].size(); ++i) {
      const std::string path = fmt::format("{}/{}", name, IdOf(file[name][i], i));
      Result<std::string> dumped = dump(file[name][i]);
      if (!dumped.ok()) {
        return WithContext(std::move(dumped).error(), path);
      }
      out += fmt::format("# {}\n{}", path, *dumped);
    }
  }
  return out;
}

}  // namespace kiln::layout
