// SPDX-License-Identifier: MIT
// The allocator of a context: everything comes from it and goes back to it, and when it has nothing
// more, every call says so and leaves nothing behind.
#include <string>

#include "runtime/c/test_material.h"
// Behind everything else: it makes macros of the functions.
#include <kiln/checked_calls.h>

namespace kiln::c::testing {
namespace {

class WithMemory : public ::testing::Test {
 protected:
  WithMemory() {
    path = ::testing::TempDir() + "kiln_c_memory_" + std::to_string(getpid()) + ".kpack";
    WriteMaterialPack(path);
  }
  ~WithMemory() override { unlink(path.c_str()); }

  kiln_context_info Info() {
    kiln_context_info info;
    KILN_INIT(info);
    info.header_version = KILN_HEADER_VERSION;
    info.allocate = CountedMemory::Allocate;
    info.release = CountedMemory::Release;
    info.memory_user = &memory;
    return info;
  }
  // What a program does without a device: KILN_OK, or what stopped it. Everything is destroyed.
  kiln_result Use() {
    const kiln_context_info info = Info();
    kiln_context* context = nullptr;
    kiln_pack* pack = nullptr;
    kiln_source* source = nullptr;
    kiln_requirements* needs = nullptr;
    kiln_pipeline_desc* desc = nullptr;
    kiln_error* error = nullptr;
    kiln_pack_info which;
    KILN_INIT(which);
    which.path = kiln_text_of(path.c_str());
    kiln_pack_source_info how;
    KILN_INIT(how);
    kiln_variant variant;
    KILN_INIT(variant);
    variant.program = kiln_text_of("material");
    kiln_result result = (kiln_context_create)(&info, &context, &error);
    const auto step = [&](auto&& call) {
      if (result == KILN_OK) {
        result = call(&error);
      }
    };
    step([&](kiln_error** e) { return (kiln_pack_open)(context, &which, &pack, e); });
    step([&](kiln_error** e) { return (kiln_pack_verify)(pack, e); });
    step([&](kiln_error** e) { return (kiln_source_from_pack)(pack, &how, &source, e); });
    step([&](kiln_error** e) { return (kiln_device_requirements)(source, &needs, e); });
    step([&](kiln_error** e) {
      return (kiln_pipeline_desc_create)(source, &variant, nullptr, &desc, e);
    });
    // In an order that nobody should have to think about.
    kiln_context_destroy(context);
    kiln_pack_destroy(pack);
    kiln_source_destroy(source);
    kiln_requirements_destroy(needs);
    kiln_pipeline_desc_destroy(desc);
    kiln_error_destroy(error);
    return result;
  }

  CountedMemory memory;
  std::string path;
};

TEST_F(WithMemory, Everything_ComesFromTheAllocatorAndGoesBack) {
  EXPECT_EQ(Use(), KILN_OK);
  EXPECT_GT(memory.given, 50U);
  EXPECT_EQ(memory.held, 0);
}

// Each allocation in turn is the last one that succeeds.
TEST_F(WithMemory, AllocatorThatHasNothingMore_EndsCallsAndLosesNothing) {
  ASSERT_EQ(Use(), KILN_OK);
  const uint64_t whole = memory.given;
  for (uint64_t at = 0; at < whole; ++at) {
    memory.given = 0;
    memory.fail_at = at;
    ASSERT_EQ(Use(), KILN_RESOURCE_EXHAUSTED) << at << " of " << whole;
    ASSERT_EQ(memory.held, 0) << at << " of " << whole;
  }
}

// An error outlives the context of its call.
TEST_F(WithMemory, ErrorObject_LivesAsLongAsItsCallerWants) {
  const kiln_context_info info = Info();
  kiln_context* context = nullptr;
  ASSERT_EQ(kiln_context_create(&info, &context, nullptr), KILN_OK);
  kiln_pack_info which;
  KILN_INIT(which);
  which.path = kiln_text_of("/nowhere/a pack with a name that is no short string");
  kiln_pack* pack = nullptr;
  kiln_error* error = nullptr;
  EXPECT_EQ(kiln_pack_open(context, &which, &pack, &error), KILN_NOT_FOUND);
  kiln_context_destroy(context);
  EXPECT_GT(memory.held, 0);
  EXPECT_NE(Text(kiln_error_message(error)).find("/nowhere/"), std::string::npos);
  kiln_error_destroy(error);
  EXPECT_EQ(memory.held, 0);
}

TEST_F(WithMemory, TwoContexts_HaveTheirOwn) {
  CountedMemory other;
  kiln_context_info info = Info();
  kiln_context* first = nullptr;
  kiln_context* second = nullptr;
  ASSERT_EQ(kiln_context_create(&info, &first, nullptr), KILN_OK);
  const int64_t before = memory.held;
  info.memory_user = &other;
  ASSERT_EQ(kiln_context_create(&info, &second, nullptr), KILN_OK);
  EXPECT_EQ(memory.held, before);
  kiln_context_destroy(first);
  EXPECT_EQ(memory.held, 0);
  EXPECT_GT(other.held, 0);
  kiln_context_destroy(second);
  EXPECT_EQ(other.held, 0);
}

const ::testing::Environment* const kCoverage =
    ::testing::AddGlobalTestEnvironment(new Coverage(kFunctions));

}  // namespace
}  // namespace kiln::c::testing
