// SPDX-License-Identifier: MIT
// Sources as they were given: immutable bytes under a logical path, and the declared inputs of one
// request. Includes and modules are looked up in the set and nowhere else.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "compiler/base/digest.h"

namespace kiln {

struct SourceFile {
  std::string path;  // logical, "materials/rock.rpl"; for messages and look-up only
  std::string text;
  Digest digest;  // of text

  SourceFile() = default;
  SourceFile(std::string logical_path, std::string content)
      : path(std::move(logical_path)), text(std::move(content)), digest(DigestOf(text)) {}
};

// Files by logical path. Const is safe from any thread.
class SourceSet {
 public:
  // A second file of the same path replaces the first.
  const SourceFile& Add(SourceFile file);

  // Null if the path was not declared. Valid as long as the set and until the path is replaced.
  const SourceFile* Find(std::string_view path) const;

  size_t size() const { return files_.size(); }

 private:
  std::map<std::string, std::unique_ptr<const SourceFile>, std::less<>> files_;
};

}  // namespace kiln
