// SPDX-License-Identifier: MIT
#include "compiler/ir/module_files.h"

#include <array>

#include <gtest/gtest.h>

#include "compiler/ir/builder.h"
#include "compiler/ir/line_starts.h"

namespace kiln::ir {
namespace {

ModuleFiles TwoFiles() {
  ModuleFiles files;
  files.files = {{.path = "root.hlsl", .digest = DigestOf(std::string_view("ab\ncd")), .first = 0},
                 {.path = "a/b.hlsli",
                  .digest = DigestOf(std::string_view("x\n\ny")),
                  .first = 6,
                  .included = {.begin = 1, .end = 2}}};
  files.marks = {{.begin = 3, .line = 40, .path = 0}, {.begin = 8, .line = 7}};
  files.mark_paths = {"gen.fx"};
  return files;
}

Module ModuleOf(const ModuleFiles& files, std::string_view first, std::string_view second) {
  Builder builder({.language = Language::kHlsl});
  const std::array<std::string_view, 2> texts{first, second};
  builder.SetSources(files, texts);
  return builder.Finish({});
}

TEST(ModuleFiles, Encoding_GoesBothWays) {
  const Result<ModuleFiles> read = DecodeFiles(EncodeFiles(TwoFiles()));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, TwoFiles());
}

TEST(ModuleFiles, Files_AreFoundByOffset) {
  const ModuleFiles files = TwoFiles();
  EXPECT_EQ(files.FileAt(0), 0u);
  EXPECT_EQ(files.FileAt(5), 0u);
  EXPECT_EQ(files.FileAt(6), 1u);
  EXPECT_EQ(files.FileAt(600), 1u);
}

TEST(ModuleFiles, Images_HaveThemWithTheirLines) {
  const Module module = ModuleOf(TwoFiles(), "ab\ncd", "x\n\ny");
  const Result<std::optional<ModuleFiles>> files = FilesOf(module);
  ASSERT_TRUE(files.ok());
  EXPECT_EQ(*files, TwoFiles());
  const std::span<const uint32_t> starts = LineStartsOf(module);
  EXPECT_EQ(std::vector<uint32_t>(starts.begin(), starts.end()),
            (std::vector<uint32_t>{0, 3, 6, 8, 9}));
}

TEST(ModuleFiles, MovedIncludes_ChangeNoMeaning) {
  ModuleFiles moved = TwoFiles();
  moved.files[1].path = "other.hlsli";
  EXPECT_EQ(ModuleOf(TwoFiles(), "ab\ncd", "x\n\ny").semantic_id(),
            ModuleOf(moved, "ab\ncd", "x").semantic_id());
}

TEST(ModuleFiles, OneSource_HasNone) {
  Builder builder({});
  builder.SetSource("ab");
  const Result<std::optional<ModuleFiles>> files = FilesOf(builder.Finish({}));
  ASSERT_TRUE(files.ok());
  EXPECT_FALSE(files->has_value());
}

TEST(ModuleFiles, DamagedOnes_AreRefused) {
  const Bytes bytes = EncodeFiles(TwoFiles());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeFiles(ByteView(bytes).first(size)).ok()) << size;
  }
  for (const auto damage :
       {+[](ModuleFiles& f) { f.files.clear(); }, +[](ModuleFiles& f) { f.files[0].first = 1; },
        +[](ModuleFiles& f) { f.files[1].first = 0; },
        +[](ModuleFiles& f) {
          f.files[1].included = {9, 10};
        },
        +[](ModuleFiles& f) {
          f.files[1].included = {5, 4};
        },
        +[](ModuleFiles& f) { f.marks[0].begin = 9; },
        +[](ModuleFiles& f) { f.marks[0].path = 1; }}) {
    ModuleFiles files = TwoFiles();
    damage(files);
    EXPECT_FALSE(DecodeFiles(EncodeFiles(files)).ok());
  }
}

}  // namespace
}  // namespace kiln::ir
