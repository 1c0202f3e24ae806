// SPDX-License-Identifier: MIT
// A directory of its own for a test or benchmark, gone with it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "compiler/base/check.h"

namespace kiln {

class TestDirectory {
 public:
  explicit TestDirectory(
      const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
    std::string pattern = (parent / "kiln-test-XXXXXX").string();
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

}  // namespace kiln
