// SPDX-License-Identifier: MIT
// What a root of HLSL includes is counted while it is read, and what is kept of the disk is
// bounded.
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "client/lsp/analysis/module_source.h"
#include "client/lsp/analysis/source.h"
#include "compiler/base/files/file.h"
#include "compiler/base/test_directory.h"
#include "compiler/base/threads/stop.h"

namespace kiln::lsp {
namespace {

// A root that includes one file by many names.
class LspIncludes : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(WriteFile(Path(name), AsBytes(text)).ok());
  }
  std::string Path(const std::string& name) const { return (folder.path() / name).string(); }
  void WriteRoot(size_t names, const std::string& text, const std::string& before = {}) {
    Write("one.hlsli", text);
    std::string root = before;
    for (size_t i = 0; i < names; ++i) {
      std::filesystem::create_symlink("one.hlsli", Path(fmt::format("{}.hlsli", i)));
      root += fmt::format("#include \"{}.hlsli\"\n", i);
    }
    Write("a.hlsl", root);
  }
  std::shared_ptr<const ModuleSource> Get() {
    ProgramSpec spec;
    spec.paths = {Path("a.hlsl")};
    return modules.Get(Path("a.hlsl"), spec);
  }
  static bool SaysTooMany(const ModuleSource& source) {
    return source.diagnostics().size() == 1 && source.diagnostics().front().code == Code::kHlsl1007;
  }

  TestDirectory folder;
  Documents documents;
  ModuleSourceCache modules{documents};
};

TEST_F(LspIncludes, TooManyBytes_AreNotRead) {
  WriteRoot(60, std::string(size_t{4} << 20, '\n'));
  const std::shared_ptr<const ModuleSource> source = Get();
  ASSERT_NE(source, nullptr);
  EXPECT_TRUE(SaysTooMany(*source));
  EXPECT_LE(source->inputs().files.size(), 17u);
  EXPECT_LE(documents.kept_bytes(), Documents::kMaxKeptBytes);
}

TEST_F(LspIncludes, TooManyFiles_AreNotRead) {
  WriteRoot(4200, "");
  const std::shared_ptr<const ModuleSource> source = Get();
  ASSERT_NE(source, nullptr);
  EXPECT_TRUE(SaysTooMany(*source));
  EXPECT_EQ(source->inputs().files.size(), 4096u);
}

// What was not read is not told to be missing.
TEST_F(LspIncludes, FileThatWasNotRead_IsNotMissing) {
  Write("first.hlsli", "#include \"second.hlsli\"\n");
  Write("second.hlsli", "");
  WriteRoot(20, std::string(size_t{4} << 20, '\n'), "#include \"first.hlsli\"\n");
  EXPECT_TRUE(SaysTooMany(*Get()));
}

TEST_F(LspIncludes, FilesThatFit_AreAllRead) {
  WriteRoot(200, "");
  const std::shared_ptr<const ModuleSource> source = Get();
  EXPECT_TRUE(source->diagnostics().empty());
  EXPECT_EQ(source->inputs().files.size(), 200u);
}

TEST_F(LspIncludes, WhatIsRead_IsCharged) {
  WriteRoot(16, std::string(size_t{1} << 20, '\n'));
  SystemClock clock;
  const StopScope scope({.bytes = uint64_t{8} << 20}, clock);
  EXPECT_THROW((void)Get(), Stopped);
  EXPECT_LE(documents.kept_bytes(), uint64_t{6} << 20);
}

TEST_F(LspIncludes, FilesOfTheDisk_AreKeptUpToTheBound) {
  for (int i = 0; i < 12; ++i) {
    const std::string name = fmt::format("big{}.rpl", i);
    Write(name, {});
    std::filesystem::resize_file(Path(name), uint64_t{12} << 20);
    ASSERT_NE(documents.FileAt(Path(name)), nullptr);
    EXPECT_LE(documents.kept_bytes(), Documents::kMaxKeptBytes);
  }
}

// A source that a program still has is found, though its cache let it go.
TEST(LspSourceCache, WhatAProgramHas_IsNotMadeTwice) {
  const auto file = [](const char* path) {
    return std::make_shared<const SourceFile>(path, "// " + std::string(size_t{9} << 20, 'x'));
  };
  SourceCache cache;
  const auto a = file("/a.rpl");
  const std::shared_ptr<const Source> held = cache.Get(a);
  (void)cache.Get(file("/b.rpl"));
  (void)cache.Get(file("/c.rpl"));
  EXPECT_EQ(cache.Get(a), held);
}

}  // namespace
}  // namespace kiln::lsp
