// SPDX-License-Identifier: MIT
// Pulled diagnostics. An answer is what the grammar and the variant that one looks at say; when the
// other variants have been tried and say more, the client is told to ask again.
#include "client/lsp/diagnostics/pull.h"

#include <map>
#include <utility>

namespace kiln::lsp {
namespace {

// A file that nothing was found out about has no rows, and the id of that.
Json ReportJson(Session& session, const std::string& path, const std::string& previous) {
  const Reports::Report* report = session.reports.Find(path);
  const bool known = report != nullptr && !report->id.empty();
  const std::string id =
      known ? report->id : ReportId("[]", session.documents().FileAt(path).get());
  if (id == previous) {
    return {{"kind", "unchanged"}, {"resultId", id}};
  }
  return {{"kind", "full"}, {"resultId", id}, {"items", known ? report->rows : Json::array()}};
}

// What the client has, by path, as it says. Files have one id; what is no id is no file.
std::map<std::string, std::string> PreviousIds(const Json& params) {
  std::map<std::string, std::string> ids;
  const Json* rows = Find(params, "previousResultIds");
  if (rows == nullptr || !rows->is_array()) {
    return ids;
  }
  for (const Json& row : *rows) {
    const std::optional<std::string> uri = TextAt(row, "uri");
    const std::optional<std::string> id = TextAt(row, "value");
    if (uri.has_value() && id.has_value()) {
      ids[Documents::NameOf(*uri)] = *id;
    }
  }
  return ids;
}

Json WorkspaceReport(Session& session, const std::string& path, const std::string& previous) {
  Json report = ReportJson(session, path, previous);
  const std::string uri = session.documents().UriOfPath(path);
  const TextDocument* document = session.documents().Find(uri);
  report["uri"] = uri;
  report["version"] = document == nullptr ? Json(nullptr) : Json(document->version());
  return report;
}

}  // namespace

Outcome DocumentDiagnostics(Session& session, const Json& params) {
  const std::variant<OpenFile, RpcError> file = FileOf(session, params);
  if (const auto* error = std::get_if<RpcError>(&file)) {
    return *error;
  }
  const std::string& path = std::get<OpenFile>(file).path;
  Json report =
      ReportJson(session, path, TextAt(params, "previousResultId").value_or(std::string()));
  session.reports.MarkGiven(path);
  return report;
}

// Files that have messages, and those of which the client has any: it must hear that they are gone.
Outcome WorkspaceDiagnostics(Session& session, const Json& params) {
  const Json* previous = Find(params, "previousResultIds");
  if (previous == nullptr || !previous->is_array()) {
    return InvalidParams("previousResultIds is missing");
  }
  std::map<std::string, std::string> files = PreviousIds(params);
  for (const auto& [path, report] : session.reports.all()) {
    if (!report.rows.empty()) {
      files.try_emplace(path);
    }
  }
  Json items = Json::array();
  for (const auto& [path, id] : files) {
    items.push_back(WorkspaceReport(session, path, id));
  }
  session.reports.MarkAllGiven();
  return Json{{"items", std::move(items)}};
}

}  // namespace kiln::lsp
