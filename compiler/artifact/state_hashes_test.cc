// SPDX-License-Identifier: MIT
#include "compiler/artifact/state_hashes.h"

#include <string>

#include <gtest/gtest.h>

#include "compiler/artifact/state_hash.h"
#include "proto/kiln/v1/metadata.pb.h"

namespace kiln::artifact {
namespace {

std::string Metadata(const std::string& cull, const std::string& bound, const std::string& output) {
  v1::PipelineMetadata wire;
  wire.mutable_settings()->set_cull_mode(cull);
  wire.mutable_sets()->mutable_material()->add_buffers()->set_name(bound);
  wire.add_color_outputs()->set_name(output);
  return wire.SerializeAsString();
}

TEST(StateHashes, EveryMetadata_HasTheHashThatItHasAlone) {
  StateHashes hashes;
  for (int round = 0; round < 2; ++round) {
    for (const char* cull : {"back", "front", ""}) {
      for (const char* bound : {"tint", "map"}) {
        for (const char* output : {"color", "colour", ""}) {
          const std::string metadata = Metadata(cull, bound, output);
          EXPECT_EQ(hashes.Of(AsBytes(metadata)), StateHash(AsBytes(metadata)));
        }
      }
    }
  }
  EXPECT_EQ(hashes.known(), 9u);  // what is bound is no state
}

// The same bytes of state, cut into runs at another place, are another state.
TEST(StateHashes, OtherRunsOfTheSameBytes_AreAnotherState) {
  const std::string field("\x12\x01x", 3);  // entry_points
  const std::string other("\x22\x01y", 3);  // attribute_sources: no state
  const std::string one_run = field + field + other;
  const std::string two_runs = field + other + field;
  StateHashes hashes;
  EXPECT_EQ(hashes.Of(AsBytes(one_run)), StateHash(AsBytes(one_run)));
  EXPECT_EQ(hashes.Of(AsBytes(two_runs)), StateHash(AsBytes(two_runs)));
  EXPECT_NE(hashes.Of(AsBytes(one_run)), hashes.Of(AsBytes(two_runs)));
}

TEST(StateHashes, BytesThatAreNoMetadata_AreHashedWhole) {
  const std::string bytes("\x0a\xff", 2);
  StateHashes hashes;
  EXPECT_EQ(hashes.Of(AsBytes(bytes)), StateHash(AsBytes(bytes)));
  EXPECT_EQ(hashes.known(), 0u);
}

TEST(StateHashes, ManyStates_AreNotAllKept) {
  StateHashes hashes;
  for (int i = 0; i < 100; ++i) {
    const std::string metadata = Metadata(std::string(4000, 'c') + std::to_string(i), "", "");
    EXPECT_EQ(hashes.Of(AsBytes(metadata)), StateHash(AsBytes(metadata)));
  }
  EXPECT_LT(hashes.known(), 20u);
  EXPECT_LT(hashes.bytes_used(), uint64_t{70} << 10);
}

}  // namespace
}  // namespace kiln::artifact
