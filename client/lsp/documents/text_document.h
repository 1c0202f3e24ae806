// SPDX-License-Identifier: MIT
// The text of one open document, kept up to date by incremental edits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "client/lsp/protocol/message.h"
#include "client/lsp/protocol/position.h"
#include "compiler/source/source_file.h"

namespace kiln::lsp {

class TextDocument {
 public:
  // `path` is what messages call it.
  TextDocument(std::string path, std::string text, int64_t version);

  int64_t version() const { return version_; }
  const std::string& text() const { return file_->text; }
  const LineTable& lines() const { return lines_; }
  // Shared with whoever analyses this version.
  const std::shared_ptr<const SourceFile>& file() const { return file_; }

  // Applies `contentChanges` one after the other. Nothing is applied if one of them is wrong: the
  // document is as it was, and the error says why. Work is bounded: see kMaxEditWork.
  std::optional<RpcError> Apply(const Json& changes, int64_t version, Encoding encoding);

  // Changes of one notification, times bytes of the text.
  static constexpr uint64_t kMaxEditWork = uint64_t{1} << 31;
  static constexpr size_t kMaxText = size_t{16} << 20;

 private:
  std::string path_;
  int64_t version_ = 0;
  std::shared_ptr<const SourceFile> file_;
  LineTable lines_;
};

}  // namespace kiln::lsp
