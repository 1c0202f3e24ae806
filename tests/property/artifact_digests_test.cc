// SPDX-License-Identifier: MIT
// What every variant of the demo and the list of 1,000 combinations of the uber shader come to, as
// digests that are kept in artifact_digests.txt: a change that is no change of meaning leaves them
// as they are. A row is a program, how many variants it has, one digest of all words and one of all
// metadata. The ids of modules are left out of metadata, since they name the image of the sources,
// whose form is private.
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/base/digest.h"
#include "proto/kiln/v1/metadata.pb.h"
#include "tests/bench/variant_paths.h"
#include "tests/support/demo_artifacts.h"

namespace kiln {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Variants are added in a fixed order, so a row tells an exchange of two from none.
class Row {
 public:
  explicit Row(std::string program) : program_(std::move(program)) {}

  void Add(const driver::Products& products) {
    ++variants_;
    for (const driver::StageCode& stage : products.code) {
      words_ += HashBytes(std::as_bytes(std::span(stage.words))).hex();
    }
    v1::PipelineMetadata metadata;
    EXPECT_TRUE(metadata.ParseFromArray(products.metadata.data(),
                                        static_cast<int>(products.metadata.size())))
        << program_;
    EXPECT_GT(metadata.module_hashes_size(), 0) << program_;
    metadata.clear_module_hashes();
    metadata_ += HashBytes(AsBytes(metadata.SerializeAsString())).hex();
  }

  std::string Text() const {
    return fmt::format("{} {} {} {}\n", program_, variants_, HashBytes(AsBytes(words_)).hex(),
                       HashBytes(AsBytes(metadata_)).hex());
  }

 private:
  std::string program_;
  uint32_t variants_ = 0;
  std::string words_, metadata_;  // digests, one after another
};

std::string RowsOfTheDemo() {
  const Result<DemoArtifacts> demo = DemoArtifacts::Load(KILN_SOURCE_DIR "/examples/demo");
  EXPECT_TRUE(demo.ok());
  std::string rows;
  for (const std::string& program : demo->Programs()) {
    const auto all = demo->Spread(program, std::numeric_limits<uint32_t>::max());
    EXPECT_TRUE(all.ok()) << program;
    Row row(program);
    for (const BuiltArtifact& artifact : *all) {
      row.Add(artifact.products);
    }
    rows += row.Text();
  }
  return rows;
}

std::string RowOfUber() {
  const bench::UberProgram uber = bench::MakeUber(bench::SampleCombinations(1000));
  Row row("uber");
  for (const std::vector<resolve::OptionSetting>& settings : uber.settings) {
    const auto built = BuildArtifact("uber", uber.linked, settings, uber.entries);
    EXPECT_TRUE(built.ok());
    row.Add(built->products);
  }
  return row.Text();
}

TEST(ArtifactDigests, DemoAndUberShader_BytesThatAreKept) {
  const std::string kept = ReadFile(KILN_SOURCE_DIR "/tests/property/artifact_digests.txt");
  const std::string found = RowsOfTheDemo() + RowOfUber();
  EXPECT_EQ(found, kept) << "if bytes were to change, keep these rows and say why in the commit";
}

}  // namespace
}  // namespace kiln
