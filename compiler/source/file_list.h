// SPDX-License-Identifier: MIT
// The files that sources may include, by path, each with its digest: what a request declares. Its
// text names it, so that a request of a thousand files has the length of one of none.
//
//   kiln.files.1
//   0aef25953033d800bca6c36a9de0ca3d 1274 shaders/fog.hlsli      digest, bytes, logical path
//   …                                                           ascending by path, each path once
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/digest.h"
#include "compiler/base/result.h"

namespace kiln {

struct ListedFile {
  std::string path;  // logical
  Digest digest;

  friend bool operator==(const ListedFile&, const ListedFile&) = default;
};

// Immutable; const is safe from any thread.
class FileList {
 public:
  static constexpr size_t kMost = 20'000;                      // files
  static constexpr size_t kMostText = size_t{4} << 20;         // bytes of the text
  static constexpr uint64_t kMostBytes = uint64_t{512} << 20;  // of all files together

  FileList() = default;
  // Errors: kInvalidArgument for a path that is not logical or is there twice; kResourceExhausted
  // with LIMIT_EXCEEDED.
  static Result<FileList> Of(std::vector<ListedFile> files);
  // Exactly what Text writes. Errors: kInvalidArgument, naming the line; as Of.
  static Result<FileList> Read(std::string_view text);

  // Null if there is none of this path.
  const ListedFile* Find(std::string_view path) const;
  std::span<const ListedFile> files() const { return files_; }
  bool empty() const { return files_.empty(); }

  std::string Text() const;
  // Of the text.
  const Digest& digest() const { return digest_; }

 private:
  explicit FileList(std::vector<ListedFile> files);

  std::vector<ListedFile> files_;  // ascending by path
  Digest digest_ = DigestOf(std::string_view("kiln.files.1\n"));
};

}  // namespace kiln
