// SPDX-License-Identifier: MIT
#include "server/build/assembler_pool.h"

#include <optional>
#include <stdexcept>
#include <utility>

#include <gtest/gtest.h>

#include "compiler/driver/stages.h"

namespace kiln::build {
namespace {

constexpr uint64_t kPlenty = uint64_t{1} << 30;

class AssemblerPoolTest : public testing::Test {
 protected:
  AssemblerPool::Lease Take(AssemblerPool& pool, uint8_t entry) {
    Hash128 id;
    id.bytes[0] = entry;
    return pool.Take(id, linked_, {}, target::MakeTarget(target::Environment::kVulkan11));
  }
  static void Build(const AssemblerPool::Lease& lease) {
    EXPECT_TRUE(lease->Build(resolve::OptionValues{}).ok);
  }

  const SourceFile source_{"empty.rpl", "setting cull_mode = \"back\";\n"};
  AssemblerPool::LinkedPtr linked_ = std::make_shared<const Diagnosed<driver::LinkedProgram>>(
      driver::LinkSources(std::span(&source_, 1), ir::PipelineType::kGraphicsClassic));
};

TEST_F(AssemblerPoolTest, OneAtATime_IsUsedAgain) {
  AssemblerPool pool(kPlenty);
  for (int i = 0; i < 3; ++i) {
    Build(Take(pool, 1));
  }
  EXPECT_EQ(pool.counters().made, 1u);
  EXPECT_EQ(pool.counters().reused, 2u);
}

TEST_F(AssemblerPoolTest, TwoAtOnce_AreTwo) {
  AssemblerPool pool(kPlenty);
  {
    const AssemblerPool::Lease one = Take(pool, 1);
    const AssemblerPool::Lease two = Take(pool, 1);
    EXPECT_NE(&*one, &*two);
  }
  EXPECT_EQ(pool.counters().made, 2u);
}

TEST_F(AssemblerPoolTest, AnotherEntry_HasItsOwn) {
  AssemblerPool pool(kPlenty);
  Build(Take(pool, 1));
  Build(Take(pool, 2));
  EXPECT_EQ(pool.counters().made, 2u);
}

TEST_F(AssemblerPoolTest, OverTheLimit_IsDropped) {
  AssemblerPool pool(0);
  Build(Take(pool, 1));
  EXPECT_EQ(pool.counters().dropped, 1u);
  EXPECT_EQ(pool.counters().bytes, 0u);
}

TEST_F(AssemblerPoolTest, AnException_DropsIt) {
  AssemblerPool pool(kPlenty);
  try {
    const AssemblerPool::Lease lease = Take(pool, 1);
    throw std::runtime_error("a build broke");
  } catch (const std::runtime_error&) {
  }
  Build(Take(pool, 1));
  EXPECT_EQ(pool.counters().made, 2u);
}

}  // namespace
}  // namespace kiln::build
