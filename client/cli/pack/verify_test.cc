// SPDX-License-Identifier: MIT
// kiln pack verify, of packs whose content has the ids that it should have and is no content of an
// engine. Those that are sound are verified by cli_test, signed and damaged ones as well.
#include "client/cli/pack/verify.h"

#include <string>

#include <gtest/gtest.h>

#include "cache/pack/sample_contents.h"
#include "cache/pack/write/writer.h"
#include "client/cli/failure.h"
#include "compiler/base/test_directory.h"

namespace kiln::cli {
namespace {

TEST(PackVerify, MetadataThatAreNone_AreNotSound) {
  const TestDirectory directory;
  Global global;
  global.quiet = true;
  const struct {
    const char* what;
    std::string metadata, says;
  } rows[] = {
      {"text", "metadata of rock", "metadata of artifact "},
      {"nothing", "", "metadata of artifact "},
  };
  for (const auto& row : rows) {
    pack::testing::SampleMaker maker(7);
    maker.AddProgram(0);
    pack::testing::Sample sample = maker.Take();
    for (pack::Artifact& artifact : sample.contents.artifacts) {
      artifact.metadata = sample.Add(row.metadata);
    }
    const std::string file = directory.path() / "a.kpack";
    const auto written = pack::WritePack(sample.contents, sample.Source(), {}, file);
    ASSERT_TRUE(written.ok()) << ErrorText(written.error());
    testing::internal::CaptureStderr();
    EXPECT_EQ(RunPackVerify(global, {.file = file, .bases = {}, .require_signature = {}}),
              kIntegrity)
        << row.what;
    EXPECT_NE(testing::internal::GetCapturedStderr().find(row.says), std::string::npos) << row.what;
  }
}

}  // namespace
}  // namespace kiln::cli
