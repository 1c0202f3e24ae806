// SPDX-License-Identifier: MIT
// The documents that an editor has open, by URI, and the files of the disk behind them: who asks
// for a path gets the open text, else that of the file.
//
// A document whose edits did not make sense is *lost*: kiln no longer knows its text, and every
// request about it is refused until it is opened again or sent whole.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "client/lsp/documents/text_document.h"
#include "compiler/base/lru_map.h"

namespace kiln::lsp {

class Documents {
 public:
  static constexpr size_t kMaxOpen = 4096;               // documents
  static constexpr size_t kMaxBytes = size_t{64} << 20;  // of all of them
  static constexpr size_t kMaxKeptFiles = 4096;          // files of the disk
  static constexpr size_t kMaxKeptBytes = size_t{96} << 20;
  static constexpr size_t kMaxLost = 2 * kMaxOpen;  // with those that were not taken

  std::optional<RpcError> Open(const Json& params);
  std::optional<RpcError> Change(const Json& params, Encoding encoding);
  std::optional<RpcError> Close(const Json& params);

  // Null if it is not open, or lost.
  const TextDocument* Find(std::string_view uri) const;
  bool IsLost(std::string_view uri) const { return lost_.contains(uri); }
  // URI that the editor calls an open path by; else the one of the path.
  std::string UriOfPath(const std::string& path) const;
  // What a document of a URI is called: its path, or the URI itself where it has none.
  static std::string NameOf(std::string_view uri);

  // The text that a path has now; null if it cannot be read.
  std::shared_ptr<const SourceFile> FileAt(const std::string& path);
  // Forgets what was read of the disk: it changed, somebody says.
  void ForgetFiles() { files_.Clear(); }

  std::vector<std::string> OpenUris() const;
  uint64_t kept_bytes() const { return files_.cost(); }  // of the disk

 private:
  struct KeptFile {
    int64_t modified = 0;  // nanoseconds
    uint64_t size = 0;
    std::shared_ptr<const SourceFile> file;
  };

  std::map<std::string, TextDocument, std::less<>> open_;         // by URI
  std::map<std::string, std::string, std::less<>> uris_by_name_;  // of open ones
  std::set<std::string, std::less<>> lost_;
  LruMap<std::string, KeptFile> files_;  // by path
  size_t bytes_ = 0;                     // of open_
};

}  // namespace kiln::lsp
