// SPDX-License-Identifier: MIT
// The text of one open document and its edits, in the order that the client made them.
#include "client/lsp/documents/text_document.h"

#include <utility>

#include <fmt/format.h>

namespace kiln::lsp {
namespace {

// One change to `text`, whose lines `lines` has. Ranges of later changes are about the text after
// the earlier ones, so the lines are made anew behind each.
std::optional<RpcError> ApplyOne(const Json& change, Encoding encoding, std::string& text,
                                 LineTable& lines) {
  std::optional<std::string> replacement = TextAt(change, "text");
  if (!replacement.has_value()) {
    return InvalidParams("a change has a text");
  }
  // Without a range the change is the whole text.
  const Json* range_json = Find(change, "range");
  if (range_json == nullptr) {
    text = std::move(*replacement);
  } else {
    const std::optional<Range> range = ReadRange(range_json);
    if (!range.has_value()) {
      return InvalidParams("the range of a change is wrong");
    }
    const std::optional<uint32_t> begin = lines.OffsetOf(text, range->start, encoding);
    const std::optional<uint32_t> end = lines.OffsetOf(text, range->end, encoding);
    if (!begin.has_value() || !end.has_value() || *begin > *end) {
      return InvalidParams(
          fmt::format("the range of a change is not in the text of {} lines", lines.line_count()));
    }
    text.replace(*begin, *end - *begin, *replacement);
  }
  if (text.size() > TextDocument::kMaxText) {
    return InvalidParams(fmt::format("a document has at most {} bytes", TextDocument::kMaxText));
  }
  lines = LineTable(text);
  return std::nullopt;
}

}  // namespace

TextDocument::TextDocument(std::string path, std::string text, int64_t version)
    : path_(std::move(path)),
      version_(version),
      file_(std::make_shared<const SourceFile>(path_, std::move(text))),
      lines_(file_->text) {}

// All or nothing: after an error text, version and lines are those from before.
std::optional<RpcError> TextDocument::Apply(const Json& changes, int64_t version,
                                            Encoding encoding) {
  if (!changes.is_array()) {
    return InvalidParams("contentChanges is a list");
  }
  // All edits are made on a copy, which replaces the text only if every one of them was right. Each
  // edit costs a new table of lines, which is linear in the text, so changes times bytes are
  // bounded: otherwise one message of many small edits of a large text would take minutes.
  std::string text = file_->text;
  LineTable lines = lines_;
  uint64_t work = 0;
  for (const Json& change : changes) {
    work += text.size() + 1;
    if (work > kMaxEditWork) {
      return InvalidParams("one notification changes too much of a long text");
    }
    if (std::optional<RpcError> error = ApplyOne(change, encoding, text, lines)) {
      return error;
    }
  }
  version_ = version;
  file_ = std::make_shared<const SourceFile>(path_, std::move(text));
  lines_ = std::move(lines);
  return std::nullopt;
}

}  // namespace kiln::lsp
