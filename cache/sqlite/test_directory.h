// SPDX-License-Identifier: MIT
// A directory of its own for a test, gone with it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "compiler/base/check.h"

namespace kiln::cache::sqlite {

class TestDirectory {
 public:
  TestDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kiln-cache-XXXXXX").string();
    KILN_CHECK(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;
  ~TestDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace kiln::cache::sqlite
