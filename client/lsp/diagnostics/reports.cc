// SPDX-License-Identifier: MIT
// Diagnostics by file, as a client has them or may ask for them.
#include "client/lsp/diagnostics/reports.h"

#include <utility>

#include "compiler/base/digest.h"

namespace kiln::lsp {

// The text of the file is part of the id. Equal messages at equal places of another text are not
// the same report: an editor has moved those it shows along with the edit.
std::string ReportId(std::string_view rows, const SourceFile* file) {
  Hasher hasher;
  hasher.Update(rows);
  if (file != nullptr) {
    hasher.Update(file->digest.id.hex());
  }
  return "kiln:" + hasher.Finish().id.hex();
}

bool Reports::Set(const std::string& path, const Json& rows, const SourceFile* file) {
  const auto known = reports_.find(path);
  std::string text = Dump(rows);
  const bool changed = known == reports_.end() ? !rows.empty() : known->second.text != text;
  Report& report = reports_[path];
  news_ = news_ || (changed && !report.asked && (report.given || all_given_));
  report.given = report.given && !changed;
  report.rows = rows;
  report.text = std::move(text);
  report.id = ReportId(report.text, file);
  return changed;
}

const Reports::Report* Reports::Find(const std::string& path) const {
  const auto known = reports_.find(path);
  return known == reports_.end() ? nullptr : &known->second;
}

bool Reports::ForgetEmpty(const std::string& path) {
  const auto known = reports_.find(path);
  if (known == reports_.end() || !known->second.rows.empty()) {
    return false;
  }
  reports_.erase(known);
  return true;
}

void Reports::MarkAsked(const std::string& path) {
  const auto known = reports_.find(path);
  if (known != reports_.end()) {
    known->second.asked = true;
  }
}

// A file that nothing is known of was answered with no rows, which counts as given as well.
void Reports::MarkGiven(const std::string& path) {
  Report& report = reports_[path];
  if (report.text.empty()) {
    report.text = "[]";
  }
  report.given = true;
  report.asked = false;
}

}  // namespace kiln::lsp
