// SPDX-License-Identifier: MIT
// The text of spec/daemon 3.3 has one form for each list, so that equal lists have one digest:
// lines by path, digits small and without zeros in front. Reading makes the list and compares its
// digest with that of the text, so no second form can pass.
#include "compiler/source/file_list.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/text/logical_path.h"
#include "compiler/base/threads/stop.h"

namespace kiln {
namespace {

// The format, for people and programs alike:
//
//    kiln.files.1
//    ID SIZE PATH
//
// One line for each file, ascending by path, each ended by a line feed; the path comes last, so
// it may hold spaces.
constexpr std::string_view kHead = "kiln.files.1\n";
constexpr size_t kIdDigits = 32;

// BAD_PATH is what clients get as the reason.
Error Wrong(std::string text) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(text), .reason = "BAD_PATH"};
}

Error AboveLimit(std::string_view what, uint64_t most, uint64_t actual) {
  return {.code = ErrorCode::kResourceExhausted,
          .context = fmt::format("{}: {} exceeds the limit of {}", what, actual, most),
          .reason = "LIMIT_EXCEEDED"};
}

std::optional<uint8_t> DigitOf(char c) {
  return c >= '0' && c <= '9'   ? std::optional(static_cast<uint8_t>(c - '0'))
         : c >= 'a' && c <= 'f' ? std::optional(static_cast<uint8_t>(c - 'a' + 10))
                                : std::nullopt;
}

// 32 small hexadecimal digits.
// Capitals are not read: a list has exactly one text.
std::optional<Hash128> IdOf(std::string_view digits) {
  Hash128 id;
  if (digits.size() != kIdDigits) {
    return std::nullopt;
  }
  for (size_t i = 0; i < id.bytes.size(); ++i) {
    const std::optional<uint8_t> high = DigitOf(digits[2 * i]);
    const std::optional<uint8_t> low = DigitOf(digits[2 * i + 1]);
    if (!high.has_value() || !low.has_value()) {
      return std::nullopt;
    }
    id.bytes[i] = static_cast<uint8_t>(*high << 4 | *low);
  }
  return id;
}

// A number as it is written here: no sign, no leading zero.
std::optional<uint64_t> NumberOf(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && (text == "0" || text[0] != '0') ? std::optional(number) : std::nullopt;
}

// Digest, size, then the path, which may have blanks: it is everything behind the second one.
std::optional<ListedFile> ReadFile(std::string_view line) {
  const size_t id_end = line.find(' ');
  const size_t size_end = id_end == std::string_view::npos ? id_end : line.find(' ', id_end + 1);
  if (size_end == std::string_view::npos) {
    return std::nullopt;
  }
  const std::optional<Hash128> id = IdOf(line.substr(0, id_end));
  const std::optional<uint64_t> size = NumberOf(line.substr(id_end + 1, size_end - id_end - 1));
  if (!id.has_value() || !size.has_value()) {
    return std::nullopt;
  }
  return ListedFile{.path = std::string(line.substr(size_end + 1)),
                    .digest = {.id = *id, .size = *size}};
}

}  // namespace

// The digest is that of the text, so equal lists have one digest wherever they come from.
FileList::FileList(std::vector<ListedFile> files) : files_(std::move(files)) {
  digest_ = DigestOf(std::string_view(Text()));
}

// Sorted here, so that callers may give files in any order; two of one path are refused. Limits of
// spec/daemon 10. Sizes are capped before they are added, so the sum cannot wrap.
Result<FileList> FileList::Of(std::vector<ListedFile> files) {
  if (files.size() > kMost) {
    return AboveLimit("files to include", kMost, files.size());
  }
  std::ranges::sort(files, {}, &ListedFile::path);
  uint64_t bytes = 0;
  for (size_t i = 0; i < files.size(); ++i) {
    CheckStop();
    if (!IsLogicalPath(files[i].path)) {
      return Wrong(
          "a file to include has a logical path: printable, relative, '/'-separated and "
          "without empty, '.' or '..' segments");
    }
    if (i != 0 && files[i].path == files[i - 1].path) {
      return Wrong(fmt::format("'{}' is listed twice", files[i].path));
    }
    bytes += std::min(files[i].digest.size, kMostBytes);  // 20,000 of these fit
  }
  if (bytes > kMostBytes) {
    return AboveLimit("bytes of files to include", kMostBytes, bytes);
  }
  FileList list(std::move(files));
  return list.digest_.size > kMostText ? Result<FileList>(AboveLimit("list of files to include",
                                                                     kMostText, list.digest_.size))
                                       : Result<FileList>(std::move(list));
}

// The limit on the text comes before its digest: both are the sender's choice. Bounded before it is
// split; memory is charged line by line.
Result<FileList> FileList::Read(std::string_view text) {
  if (text.size() > kMostText) {
    return AboveLimit("list of files to include", kMostText, text.size());
  }
  const auto no_list = [](size_t line) {
    return Wrong(fmt::format("line {} of the list of files to include is not one of it", line));
  };
  const Digest digest = DigestOf(text);
  if (!text.starts_with(kHead)) {
    return no_list(1);
  }
  text.remove_prefix(kHead.size());
  std::vector<ListedFile> files;
  while (!text.empty()) {
    CheckStop();
    const size_t end = text.find('\n');
    std::optional<ListedFile> file =
        end == std::string_view::npos ? std::nullopt : ReadFile(text.substr(0, end));
    // What is not in order would be another text of the same list.
    if (!file.has_value() || (!files.empty() && files.back().path >= file->path)) {
      return no_list(files.size() + 2);
    }
    ChargeMemory(sizeof(ListedFile) + file->path.size());
    files.push_back(*std::move(file));
    text.remove_prefix(end + 1);
  }
  KILN_TRY(FileList list, Of(std::move(files)));
  // The list is written again and compared by digest, so no second spelling of a list is taken.
  return list.digest_ == digest ? Result<FileList>(std::move(list)) : no_list(1);
}

// Binary search, since an include asks for each of its places.
const ListedFile* FileList::Find(std::string_view path) const {
  const auto at = std::ranges::lower_bound(
      files_, path, {}, [](const ListedFile& file) { return std::string_view(file.path); });
  return at != files_.end() && at->path == path ? &*at : nullptr;
}

std::string FileList::Text() const {
  std::string text(kHead);
  for (const ListedFile& file : files_) {
    text += fmt::format("{} {} {}\n", file.digest.id.hex(), file.digest.size, file.path);
  }
  return text;
}

}  // namespace kiln
