// SPDX-License-Identifier: MIT
// What is known of the diagnostics of each file, with an id of text and messages together: a client
// that pulls names the id it has, and is only told what differs. Written by the checker.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "client/lsp/protocol/json.h"
#include "compiler/source/source_file.h"

namespace kiln::lsp {

class Reports {
 public:
  struct Report {
    Json rows = Json::array();
    std::string text;    // of `rows`
    std::string id;      // of the text of the file and of `rows`
    bool given = false;  // the client has these rows and would not ask for others by itself
    bool asked = false;  // it is asking
  };

  // The rows of a file now; `file` is null if it cannot be read. True if they are others than
  // before; of a file that nothing was known of, if there are any.
  bool Set(const std::string& path, const Json& rows, const SourceFile* file);
  // Null if nothing is known.
  const Report* Find(const std::string& path) const;
  const std::map<std::string, Report>& all() const { return reports_; }
  // Forgets the file if it has no rows; true if it did.
  bool ForgetEmpty(const std::string& path);

  // The client asks for the file: a change until it is answered is no news. And: it was answered.
  void MarkAsked(const std::string& path);
  void MarkGiven(const std::string& path);
  // The client asked for all files: from now on whatever changes is news.
  void MarkAllGiven() { all_given_ = true; }
  // Whether something that was given changed behind the answer, since this was asked last.
  bool TakeNews() { return std::exchange(news_, false); }

 private:
  std::map<std::string, Report> reports_;  // by path
  bool all_given_ = false;
  bool news_ = false;
};

// "kiln:" and the id of text and rows.
std::string ReportId(std::string_view rows, const SourceFile* file);

}  // namespace kiln::lsp
