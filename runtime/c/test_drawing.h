// SPDX-License-Identifier: MIT
// Devices, pipelines and frames through kiln.h, on a Vulkan device: the material is drawn, replaced
// and looked at.
#pragma once

#include <array>
#include <string>

#include "runtime/c/test_material.h"
// Behind everything else: it makes macros of the functions.
#include <kiln/checked_calls.h>

namespace kiln::c::testing {

inline constexpr uint64_t kMinute = 60'000'000'000;
inline constexpr VkFormat kFormat = VK_FORMAT_R8G8B8A8_UNORM;

// Threads of this process, those of the driver included.
inline size_t Threads() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator("/proc/self/task")) {
    ++count;
  }
  return count;
}

class Drawing : public ::testing::Test {
 protected:
  Drawing() {
    kiln_context_info info;
    KILN_INIT(info);
    info.header_version = KILN_HEADER_VERSION;
    info.log = KeptLog::Take;
    info.log_user = &log;
    EXPECT_EQ(kiln_context_create(&info, &context, nullptr), KILN_OK);
    kiln_device_info which;
    KILN_INIT(which);
    which.prefer = kiln_text_of("software");
    EXPECT_EQ(kiln_device_open(context, &which, &device, nullptr), KILN_OK);
    EXPECT_EQ(kiln_source_in_memory(context, &source, nullptr), KILN_OK);
    for (const std::string tint : {"plain", "tail"}) {
      AddMaterial(source, "material", tint, CompiledMaterial(tint).fragment);
    }
    KILN_INIT(signature);
    signature.color = &kFormat;
    signature.color_count = 1;
  }
  ~Drawing() override {
    kiln_source_destroy(source);
    kiln_device_destroy(device);
    kiln_context_destroy(context);
  }

  static kiln_digest Add(kiln_source* into, ByteView bytes) {
    kiln_digest digest{};
    EXPECT_EQ(kiln_source_add_content(into, bytes.data(), bytes.size(), &digest, nullptr), KILN_OK);
    return digest;
  }
  static void AddMaterial(kiln_source* into, const char* program, const std::string& tint,
                          const Bytes& fragment) {
    const Compiled compiled = CompiledMaterial(tint);
    const kiln_module modules[] = {{KILN_STAGE_VERTEX, Add(into, compiled.vertex)},
                                   {KILN_STAGE_FRAGMENT, Add(into, fragment)}};
    const kiln_option option = {KILN_OPTION_ENUM, kiln_text_of("tint"), kiln_text_of(tint.c_str()),
                                0, 0};
    kiln_artifact_info info;
    KILN_INIT(info);
    info.program = kiln_text_of(program);
    info.options = &option;
    info.option_count = 1;
    info.metadata = Add(into, compiled.metadata);
    info.modules = modules;
    info.module_count = 2;
    EXPECT_EQ(kiln_source_add_artifact(into, &info, nullptr), KILN_OK);
  }
  kiln_variant Variant(const char* tint) {
    option = {KILN_OPTION_ENUM, kiln_text_of("tint"), kiln_text_of(tint), 0, 0};
    kiln_variant variant;
    KILN_INIT(variant);
    variant.program = kiln_text_of("material");
    variant.options = &option;
    variant.option_count = 1;
    return variant;
  }
  kiln_pipelines* MakePipelines(uint32_t threads, const char* cache = nullptr) {
    kiln_pipelines_info info;
    KILN_INIT(info);
    info.threads = threads;
    info.cache_folder = kiln_text_of(cache);
    kiln_pipelines* pipelines = nullptr;
    EXPECT_EQ(kiln_pipelines_create(device, &info, &pipelines, nullptr), KILN_OK);
    kiln_load_report report;
    KILN_INIT(report);
    EXPECT_EQ(kiln_pipelines_load(pipelines, source, &report, nullptr), KILN_OK);
    EXPECT_EQ(report.listed, 2U);
    EXPECT_EQ(report.registered, 2U);
    EXPECT_EQ(report.refused, 0U);
    return pipelines;
  }
  kiln_pipeline_id Find(kiln_pipelines* pipelines, const char* tint) {
    const kiln_variant variant = Variant(tint);
    kiln_pipeline_id id{};
    EXPECT_EQ(kiln_pipelines_find(pipelines, &variant, &signature, &id, nullptr), KILN_OK);
    return id;
  }
  void Warm(kiln_pipelines* pipelines) {
    kiln_warm_ticket ticket{};
    ASSERT_EQ(kiln_pipelines_warm(pipelines, nullptr, 0, KILN_LANE_SOON, &ticket, nullptr),
              KILN_OK);
    kiln_warm_progress progress;
    KILN_INIT(progress);
    ASSERT_EQ(kiln_pipelines_wait(pipelines, ticket, kMinute, &progress, nullptr), KILN_OK);
    EXPECT_EQ(progress.done, progress.total);
    EXPECT_EQ(progress.failed, 0U);
    ASSERT_EQ(kiln_pipelines_progress(pipelines, ticket, &progress, nullptr), KILN_OK);
    EXPECT_EQ(progress.done, progress.total);
  }

  KeptLog log;
  kiln_context* context = nullptr;
  kiln_device* device = nullptr;
  kiln_source* source = nullptr;
  kiln_option option{};
  kiln_pass_signature signature{};
};

}  // namespace kiln::c::testing
