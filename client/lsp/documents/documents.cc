// SPDX-License-Identifier: MIT
// The texts of open documents, and files of the disk beside them. An open document always wins over
// its file.
#include "client/lsp/documents/documents.h"

#include <sys/stat.h>
#include <utility>

#include <fmt/format.h>

#include "client/lsp/documents/uri.h"
#include "compiler/base/files/file.h"

namespace kiln::lsp {

// A URI that names no path of this machine (untitled:1) is its own name, so that such a document
// works, too.
std::string Documents::NameOf(std::string_view uri) {
  return PathOf(uri).value_or(std::string(uri));
}

// Costs one copy of the text and one table of its lines.
std::optional<RpcError> Documents::Open(const Json& params) {
  const std::optional<std::string> uri = TextAt(params, "textDocument/uri");
  const std::optional<int64_t> version = IntegerAt(params, "textDocument/version");
  std::optional<std::string> text = TextAt(params, "textDocument/text");
  if (!uri.has_value() || !version.has_value() || !text.has_value()) {
    return InvalidParams("didOpen needs uri, version and text");
  }
  // An editor that opens a document twice is wrong, but its newest text is taken. The former one is
  // given back first, so that it does not count against the bounds.
  const auto former = open_.find(*uri);
  if (former != open_.end()) {
    bytes_ -= former->second.text().size();
    open_.erase(former);
  }
  // The editor believes that the document is open, so it is remembered as lost and requests about
  // it are refused, instead of answered from the file of the disk, which the editor has left
  // behind.
  if (open_.size() >= kMaxOpen || text->size() > TextDocument::kMaxText ||
      bytes_ + text->size() > kMaxBytes) {
    if (lost_.size() < kMaxLost) {  // more than that are not open, which is refused as well
      lost_.insert(*uri);
    }
    return Failed(fmt::format("'{}' is too large, or too much is open", *uri));
  }
  lost_.erase(*uri);
  bytes_ += text->size();
  uris_by_name_[NameOf(*uri)] = *uri;
  open_.emplace(*uri, TextDocument(NameOf(*uri), std::move(*text), *version));
  return std::nullopt;
}

// An edit that cannot be applied makes the document lost: the two sides no longer agree on the
// text, and an answer about it could be wrong anywhere.
std::optional<RpcError> Documents::Change(const Json& params, Encoding encoding) {
  const std::optional<std::string> uri = TextAt(params, "textDocument/uri");
  const std::optional<int64_t> version = IntegerAt(params, "textDocument/version");
  const Json* changes = FindPath(params, "contentChanges");
  if (!uri.has_value() || !version.has_value() || changes == nullptr) {
    return InvalidParams("didChange needs uri, version and contentChanges");
  }
  const auto found = open_.find(*uri);
  if (found == open_.end()) {
    return InvalidParams(fmt::format("'{}' is not open", *uri));
  }
  TextDocument& document = found->second;
  const size_t before = document.text().size();
  // A whole text heals a document that was lost; anything else is about a text nobody knows.
  const bool whole =
      changes->is_array() && !changes->empty() && lsp::Find(changes->front(), "range") == nullptr;
  if (lost_.contains(*uri) && !whole) {
    return InvalidParams(fmt::format("the text of '{}' is not known; send it whole", *uri));
  }
  // Versions only grow. A whole text that heals a lost document may come with any version, since
  // the last one that kiln saw means nothing any more.
  if (*version <= document.version() && !lost_.contains(*uri)) {
    return InvalidParams(fmt::format("version {} of '{}' comes behind version {}", *version, *uri,
                                     document.version()));
  }
  if (std::optional<RpcError> error = document.Apply(*changes, *version, encoding)) {
    lost_.insert(*uri);
    return error;
  }
  bytes_ += document.text().size() - before;
  lost_.erase(*uri);
  // The text is kept and counted, but the document is lost: closing it or sending a shorter text
  // makes room again.
  if (bytes_ > kMaxBytes) {
    lost_.insert(*uri);
    return Failed("the open documents are too large together");
  }
  return std::nullopt;
}

// From here on the name means the file of the disk again, which may differ from what the editor
// had.
std::optional<RpcError> Documents::Close(const Json& params) {
  const std::optional<std::string> uri = TextAt(params, "textDocument/uri");
  if (!uri.has_value()) {
    return InvalidParams("didClose needs a uri");
  }
  lost_.erase(*uri);
  const auto found = open_.find(*uri);
  if (found == open_.end()) {
    return InvalidParams(fmt::format("'{}' is not open", *uri));
  }
  bytes_ -= found->second.text().size();
  const auto name = uris_by_name_.find(NameOf(*uri));
  // Two URIs may name one path, with other escapes for example. The path belongs to the one that
  // was opened last, so closing the other must not take it away.
  if (name != uris_by_name_.end() && name->second == *uri) {
    uris_by_name_.erase(name);
  }
  open_.erase(found);
  return std::nullopt;
}

// Nothing for a lost document, so that no feature has to ask.
const TextDocument* Documents::Find(std::string_view uri) const {
  const auto found = open_.find(uri);
  return found == open_.end() || lost_.contains(uri) ? nullptr : &found->second;
}

// The URI that the client uses for a path, with its own escapes, if the document is open. Another
// spelling of it would be another document to most clients.
std::string Documents::UriOfPath(const std::string& path) const {
  const auto found = uris_by_name_.find(path);
  return found != uris_by_name_.end() ? found->second : path.starts_with('/') ? UriOf(path) : path;
}

// A file is read again when its time or size changed, so that nobody has to tell; a look at it
// costs a microsecond.
std::shared_ptr<const SourceFile> Documents::FileAt(const std::string& path) {
  const auto open = uris_by_name_.find(path);
  if (open != uris_by_name_.end()) {
    if (const TextDocument* document = Find(open->second)) {
      return document->file();
    }
  }
  struct stat now {};
  if (!path.starts_with('/') || ::stat(path.c_str(), &now) != 0) {
    files_.Erase(path);
    return nullptr;
  }
  const int64_t modified = int64_t{now.st_mtim.tv_sec} * 1'000'000'000 + now.st_mtim.tv_nsec;
  const auto size = static_cast<uint64_t>(now.st_size);
  const KeptFile* const kept = files_.Find(path);
  if (kept != nullptr && kept->modified == modified && kept->size == size) {
    return kept->file;
  }
  files_.Erase(path);
  Result<std::string> text = ReadFile(path, TextDocument::kMaxText);
  if (!text.ok()) {
    return nullptr;
  }
  // A workspace has far fewer sources than this; beyond the bound the oldest is read again.
  auto file = std::make_shared<const SourceFile>(path, std::move(text).value());
  const size_t bytes = file->text.size() + path.size();
  // Counted by name: links and other names of one file are texts of their own.
  while (!files_.empty() &&
         (files_.size() >= kMaxKeptFiles || files_.cost() + bytes > kMaxKeptBytes)) {
    files_.DropOldest();
  }
  files_.Add(path, {.modified = modified, .size = size, .file = file}, bytes);
  return file;
}

std::vector<std::string> Documents::OpenUris() const {
  std::vector<std::string> uris;
  for (const auto& [uri, document] : open_) {
    uris.push_back(uri);
  }
  return uris;
}

}  // namespace kiln::lsp
