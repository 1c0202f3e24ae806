// SPDX-License-Identifier: MIT
#include "server/compile/programs/assembler_pool.h"

#include <optional>
#include <stdexcept>
#include <utility>

#include <gtest/gtest.h>

#include "compiler/driver/stages.h"

namespace kiln::compile {
namespace {

constexpr uint64_t kPlenty = uint64_t{1} << 30;

class AssemblerPoolTest : public testing::Test {
 protected:
  AssemblerPool::Lease Take(AssemblerPool& pool, uint8_t entry) {
    return Take(pool, entry, linked);
  }
  static AssemblerPool::Lease Take(AssemblerPool& pool, uint8_t entry,
                                   const AssemblerPool::LinkedPtr& linked) {
    AssemblerPool::Names names;
    names.entry.bytes[0] = entry;
    return pool.Take(names, linked, {}, target::MakeTarget(target::Environment::kVulkan11));
  }
  static AssemblerPool::LinkedPtr Linked(const char* text) {
    const SourceFile source("empty.rpl", text);
    return std::make_shared<const Diagnosed<driver::LinkedProgram>>(
        driver::LinkSources(std::span(&source, 1), ir::PipelineType::kGraphicsClassic));
  }
  static void Build(const AssemblerPool::Lease& lease) {
    EXPECT_TRUE(lease->Build(resolve::OptionValues{}).ok);
  }

  const AssemblerPool::LinkedPtr linked = Linked("setting cull_mode = \"back\";\n");
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

TEST_F(AssemblerPoolTest, AfterAnEdit_GoesOnWithWhatThereIs) {
  AssemblerPool pool(kPlenty);
  Build(Take(pool, 1));
  Build(Take(pool, 2, Linked("setting cull_mode = \"front\";\n")));
  EXPECT_EQ(pool.counters().carried, 1u);
  Build(Take(pool, 3, Linked("setting depth_write = false;\nsetting cull_mode = \"none\";\n")));
  EXPECT_EQ(pool.counters().carried, 1u);  // other declarations
  EXPECT_EQ(pool.counters().made, 3u);
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
}  // namespace kiln::compile
