// SPDX-License-Identifier: MIT
// The compiler in C as it is shipped, over the libkiln that is shipped.
#include <cstring>
#include <string>

#include <gtest/gtest.h>
#include <kiln/compiler.h>
// Behind everything else: it makes macros of the functions.
#include <kiln/compiler_checked_calls.h>

namespace kiln::c::testing {
namespace {

constexpr char kSource[] = R"(rpl 2;
global fog: flag false;
instance lights: uint 1;
instance shift: sint 0;
instance scale: float 1.0;
instance kind: enum "plain" "wet";
color_output_container target { f4 color; };
void place (void) { vertex_stage_output_position (f4 {0.0}); }
void shade (void)
{
    f4 sum = f4 {1.0, 1.0, 1.0, 1.0} * f1 {lights} * scale;
    conditional (fog) { sum = sum * 0.5; }
    conditional (kind == "wet") { sum = sum * 0.25; }
    conditional (shift == -2) { sum = sum * 0.125; }
    target.color = sum;
}
)";

std::string Text(kiln_text text) { return std::string(text.data, text.data + text.size); }

// A program of one source; members may be changed before it is compiled.
class Compiling : public ::testing::Test {
 protected:
  Compiling() {
    KILN_INIT(info);
    info.header_version = KILN_HEADER_VERSION;
    source = {kiln_text_of("rock.rpl"), kiln_text_of(kSource)};
    info.sources = &source;
    info.source_count = 1;
    entries[0] = {KILN_STAGE_VERTEX, kiln_text_of("place")};
    entries[1] = {KILN_STAGE_FRAGMENT, kiln_text_of("shade")};
    info.entries = entries;
    info.entry_count = 2;
  }
  ~Compiling() override { kiln_compiler_result_destroy(result); }

  kiln_result Compile() {
    kiln_compiler_result_destroy(result);
    result = nullptr;
    kiln_error* error = nullptr;
    const kiln_result code = kiln_compiler_compile(&info, &result, &error);
    why = Text(kiln_error_reason(error)) + ": " + Text(kiln_error_message(error));
    kiln_error_destroy(error);
    return code;
  }

  kiln_compiler_source source{};
  kiln_compiler_entry entries[2]{};
  kiln_compiler_info info{};
  kiln_compiler_result* result = nullptr;
  std::string why;
};

TEST_F(Compiling, Variant_HasModulesAndMetadata) {
  const kiln_option options[] = {
      {KILN_OPTION_FLAG, kiln_text_of("fog"), {}, 1, 0},
      {KILN_OPTION_UINT, kiln_text_of("lights"), {}, 3, 0},
      {KILN_OPTION_SINT, kiln_text_of("shift"), {}, uint32_t(-2), 0},
      {KILN_OPTION_FLOAT, kiln_text_of("scale"), {}, 0, 0.5F},
      {KILN_OPTION_ENUM, kiln_text_of("kind"), kiln_text_of("wet"), 0, 0}};
  info.options = options;
  info.option_count = 5;
  ASSERT_EQ(Compile(), KILN_OK) << why;
  ASSERT_EQ(kiln_compiler_result_succeeded(result), 1u) << Text(kiln_compiler_result_text(result));
  ASSERT_EQ(kiln_compiler_result_module_count(result), 2u);
  const kiln_stage stages[] = {KILN_STAGE_VERTEX, KILN_STAGE_FRAGMENT};
  for (uint32_t i = 0; i < 2; ++i) {
    kiln_compiler_module module;
    KILN_INIT(module);
    ASSERT_EQ(kiln_compiler_result_module(result, i, &module, nullptr), KILN_OK);
    EXPECT_EQ(module.stage, stages[i]);
    uint32_t magic = 0;
    ASSERT_GE(module.code.size, sizeof(magic));
    std::memcpy(&magic, module.code.data, sizeof(magic));
    EXPECT_EQ(magic, 0x07230203u);
  }
  EXPECT_GT(kiln_compiler_result_metadata(result).size, 0u);
}

TEST_F(Compiling, BeyondTheEnd_IsAnError) {
  ASSERT_EQ(Compile(), KILN_OK) << why;
  kiln_compiler_module module;
  KILN_INIT(module);
  EXPECT_EQ(kiln_compiler_result_module(result, 2, &module, nullptr), KILN_OUT_OF_RANGE);
  kiln_compiler_message message;
  KILN_INIT(message);
  EXPECT_EQ(kiln_compiler_result_message(result, 1000, &message, nullptr), KILN_OUT_OF_RANGE);
}

TEST_F(Compiling, FormsAndWords_AreThoseOfKilnc) {
  info.form = KILN_COMPILER_WGSL;
  info.debug = kiln_text_of("none");
  info.environment = kiln_text_of("vulkan1.3");
  info.pipeline = kiln_text_of("graphics_classic");
  info.combined = 1;
  ASSERT_EQ(Compile(), KILN_OK) << why;
  ASSERT_EQ(kiln_compiler_result_module_count(result), 1u);
  kiln_compiler_module module;
  KILN_INIT(module);
  ASSERT_EQ(kiln_compiler_result_module(result, 0, &module, nullptr), KILN_OK);
  EXPECT_EQ(module.stage, static_cast<kiln_stage>(KILN_STAGE_ALL));
  const std::string text(static_cast<const char*>(module.code.data), module.code.size);
  EXPECT_NE(text.find("@fragment"), std::string::npos) << text;
}

TEST_F(Compiling, WrongSource_IsAResultWithMessages) {
  const std::string text = std::string(kSource).replace(std::strlen("rpl 2;\n"), 6, "golbal");
  source.text = {text.data(), text.size()};
  ASSERT_EQ(Compile(), KILN_OK) << why;
  EXPECT_EQ(kiln_compiler_result_succeeded(result), 0u);
  EXPECT_EQ(kiln_compiler_result_module_count(result), 0u);
  EXPECT_EQ(kiln_compiler_result_metadata(result).size, 0u);
  ASSERT_GT(kiln_compiler_result_message_count(result), 0u);
  kiln_compiler_message message;
  KILN_INIT(message);
  ASSERT_EQ(kiln_compiler_result_message(result, 0, &message, nullptr), KILN_OK);
  EXPECT_EQ(message.severity, static_cast<kiln_compiler_severity>(KILN_COMPILER_ERROR));
  EXPECT_EQ(Text(message.path), "rock.rpl");
  EXPECT_EQ(message.line, 2u);
  EXPECT_EQ(Text(message.code).substr(0, 3), "RPL");
  EXPECT_NE(Text(kiln_compiler_result_text(result)).find("rock.rpl:2:"), std::string::npos);
}

TEST_F(Compiling, WhatNobodyKnows_IsRefused) {
  struct Row {
    const char* what;
    kiln_text kiln_compiler_info::*word;
  };
  for (const Row& row : {Row{"info.pipeline", &kiln_compiler_info::pipeline},
                         Row{"info.debug", &kiln_compiler_info::debug},
                         Row{"environment", &kiln_compiler_info::environment}}) {
    const kiln_compiler_info before = info;
    info.*row.word = kiln_text_of("ray_tracing");
    EXPECT_EQ(Compile(), KILN_INVALID_ARGUMENT) << row.what;
    EXPECT_NE(why.find(row.what), std::string::npos) << why;
    EXPECT_NE(why.find("ray_tracing"), std::string::npos) << why;
    info = before;
  }
  for (uint32_t kiln_compiler_info::*number :
       {&kiln_compiler_info::form, &kiln_compiler_info::combined}) {
    const kiln_compiler_info before = info;
    info.*number = 2;
    EXPECT_EQ(Compile(), KILN_INVALID_ARGUMENT);
    info = before;
  }
  entries[0].stage = KILN_STAGE_ALL;
  EXPECT_EQ(Compile(), KILN_INVALID_ARGUMENT);
}

TEST_F(Compiling, HeaderOfAnotherVersion_IsRefusedWithBoth) {
  info.header_version = KILN_HEADER_VERSION + 1'000;
  EXPECT_EQ(Compile(), KILN_FAILED_PRECONDITION);
  EXPECT_EQ(why.substr(0, 8), "VERSION:") << why;
  EXPECT_NE(why.find(kiln_version()), std::string::npos) << why;
}

// What pipelines need, without a file or a daemon in between.
TEST_F(Compiling, ResultInASource_IsFoundByItsOptions) {
  kiln_context_info how;
  KILN_INIT(how);
  how.header_version = KILN_HEADER_VERSION;
  kiln_context* context = nullptr;
  ASSERT_EQ(kiln_context_create(&how, &context, nullptr), KILN_OK);
  kiln_source* into = nullptr;
  ASSERT_EQ(kiln_source_in_memory(context, &into, nullptr), KILN_OK);
  const kiln_option foggy = {KILN_OPTION_FLAG, kiln_text_of("fog"), {}, 1, 0};
  info.options = &foggy;
  info.option_count = 1;
  ASSERT_EQ(Compile(), KILN_OK) << why;
  ASSERT_EQ(kiln_compiler_result_add_to(result, into, kiln_text_of("rock"), nullptr), KILN_OK);
  kiln_variant variant;
  KILN_INIT(variant);
  variant.program = kiln_text_of("rock");
  variant.options = &foggy;
  variant.option_count = 1;
  kiln_pipeline_desc* desc = nullptr;
  EXPECT_EQ(kiln_pipeline_desc_create(into, &variant, nullptr, &desc, nullptr), KILN_OK);
  kiln_pipeline_desc_destroy(desc);

  info.form = KILN_COMPILER_WGSL;
  ASSERT_EQ(Compile(), KILN_OK) << why;
  EXPECT_EQ(kiln_compiler_result_add_to(result, into, kiln_text_of("rock"), nullptr),
            KILN_FAILED_PRECONDITION);
  kiln_source_destroy(into);
  kiln_context_destroy(context);
}

const ::testing::Environment* const kCoverage =
    ::testing::AddGlobalTestEnvironment(new Coverage(kFunctions));

}  // namespace
}  // namespace kiln::c::testing
