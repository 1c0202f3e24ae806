// SPDX-License-Identifier: MIT
// Keys stand in the order of the specification, so the same diagnostic is the same bytes. Texts
// come from sources, which may hold anything: what is no UTF-8 is replaced when the object is
// written.
#include "compiler/diag/render_json.h"

#include <nlohmann/json.hpp>

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

Json JsonOf(const PlacedSpan& where) {
  return {{"path", where.path},
          {"line", where.line},
          {"column", where.column},
          {"end_line", where.end_line},
          {"end_column", where.end_column}};
}

// Every key is always there, in the order of the specification.
Json JsonOf(const PlacedDiagnostic& diagnostic, std::string_view program) {
  Json json{{"program", program},
            {"severity", SeverityName(diagnostic.severity)},
            {"code", diagnostic.code},
            {"message", diagnostic.message}};
  // The primary place lies in the object itself, as the specification has it.
  json.update(JsonOf(diagnostic.primary));
  Json labels = Json::array();
  for (const PlacedLabel& label : diagnostic.labels) {
    Json row = JsonOf(label.where);
    row["text"] = label.text;
    labels.push_back(std::move(row));
  }
  json["labels"] = std::move(labels);
  json["notes"] = diagnostic.notes;
  // Null and not absent: a reader may rely on the key.
  json["fix"] = nullptr;
  if (diagnostic.fix) {
    json["fix"] = JsonOf(diagnostic.fix->where);
    json["fix"]["replacement"] = diagnostic.fix->replacement;
    // Only a sure edit may be applied by a tool.
    json["fix"]["applicability"] =
        diagnostic.fix->confidence == Confidence::kSure ? "machine" : "maybe";
  }
  json["variants"] = nullptr;
  if (diagnostic.variants) {
    json["variants"] = Json{{"failing", diagnostic.variants->failing},
                            {"total", diagnostic.variants->total},
                            {"condition", diagnostic.variants->condition},
                            {"example", diagnostic.variants->example}};
  }
  json["name"] = diagnostic.name;
  return json;
}

// Messages quote sources, which need not be UTF-8; JSON must be.
std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string RenderJson(const PlacedDiagnostic& diagnostic, std::string_view program) {
  return Dump(JsonOf(diagnostic, program));
}

std::string RenderJsonArray(std::span<const PlacedDiagnostic> diagnostics,
                            std::string_view program) {
  Json array = Json::array();
  for (const PlacedDiagnostic& diagnostic : diagnostics) {
    array.push_back(JsonOf(diagnostic, program));
  }
  return Dump(array);
}

}  // namespace kiln
