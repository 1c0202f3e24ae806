// SPDX-License-Identifier: MIT
// Versions, errors, packs, sources and what they say without a device, through kiln.h.
#include <algorithm>
#include <cstring>
#include <string>

#include "cache/pack/test_pack_file.h"
#include "runtime/c/test_material.h"
// Behind everything else: it makes macros of the functions.
#include <kiln/checked_calls.h>

namespace kiln::c::testing {
namespace {

std::string Why(kiln_error* error) {
  EXPECT_NE(kiln_error_code(error), KILN_OK);
  const std::string text = Text(kiln_error_reason(error)) + ": " + Text(kiln_error_message(error));
  kiln_error_destroy(error);
  return text;
}

kiln_context_info ContextInfo() {
  kiln_context_info info;
  KILN_INIT(info);
  info.header_version = KILN_HEADER_VERSION;
  return info;
}

class WithContext : public ::testing::Test {
 protected:
  WithContext() {
    kiln_context_info info = ContextInfo();
    info.log = KeptLog::Take;
    info.log_user = &log;
    EXPECT_EQ(kiln_context_create(&info, &context, nullptr), KILN_OK);
    path = ::testing::TempDir() + "kiln_c_" + std::to_string(getpid()) + ".kpack";
    WriteMaterialPack(path);
  }
  ~WithContext() override {
    kiln_context_destroy(context);
    unlink(path.c_str());
  }

  // Null, and `why`, if it does not open.
  kiln_pack* Open(kiln_pack_info info = {}) {
    info.struct_size = sizeof(info);
    if (info.bytes == nullptr) {
      info.path = kiln_text_of(path.c_str());
    }
    kiln_pack* pack = nullptr;
    kiln_error* error = nullptr;
    result = kiln_pack_open(context, &info, &pack, &error);
    why = result == KILN_OK ? "" : Why(error);
    return pack;
  }
  kiln_source* Source() {
    kiln_pack* const pack = Open();
    kiln_pack_source_info info;
    KILN_INIT(info);
    kiln_source* source = nullptr;
    EXPECT_EQ(kiln_source_from_pack(pack, &info, &source, nullptr), KILN_OK);
    kiln_pack_destroy(pack);  // the source keeps what it needs
    return source;
  }
  static kiln_variant Variant(const char* program, const kiln_option* option = nullptr) {
    kiln_variant variant;
    KILN_INIT(variant);
    variant.program = kiln_text_of(program);
    variant.options = option;
    variant.option_count = option == nullptr ? 0 : 1;
    return variant;
  }
  static kiln_option Tint(const char* value) {
    return {KILN_OPTION_ENUM, kiln_text_of("tint"), kiln_text_of(value), 0, 0};
  }

  KeptLog log;
  kiln_context* context = nullptr;
  std::string path, why;
  kiln_result result = KILN_OK;
};

TEST(KilnVersion, Text_IsTheNumber) {
  const uint32_t number = kiln_version_number();
  EXPECT_EQ(kiln_version(), std::to_string(number / 1'000'000) + "." +
                                std::to_string(number / 1'000 % 1'000) + "." +
                                std::to_string(number % 1'000));
  EXPECT_EQ(number, KILN_HEADER_VERSION);
}

TEST(KilnError, OneOfALibraryAboveThis_IsLikeItsOwn) {
  kiln_error* error = nullptr;
  EXPECT_EQ(
      kiln_error_create(KILN_NOT_FOUND, kiln_text_of("GONE"), kiln_text_of("it is gone"), &error),
      KILN_NOT_FOUND);
  EXPECT_EQ(kiln_error_code(error), KILN_NOT_FOUND);
  EXPECT_EQ(Why(error), "GONE: it is gone");
  // Names in messages are those of packs: an engine prints them as they are.
  ASSERT_EQ(kiln_error_create(KILN_NOT_FOUND, {}, kiln_text_of("'\x1b[2J\u202e' is gone"), &error),
            KILN_NOT_FOUND);
  EXPECT_EQ(Text(kiln_error_message(error)), "'\\x1b[2J\\xe2\\x80\\xae' is gone");
  kiln_error_destroy(error);
  EXPECT_EQ(kiln_error_create(KILN_NOT_FOUND, {}, {}, nullptr), KILN_NOT_FOUND);
  EXPECT_EQ(kiln_error_create(KILN_OK, {}, {}, &error), KILN_OK);
  EXPECT_EQ(error, nullptr);
}

TEST(KilnContext, HeaderOfAnotherVersion_IsRefusedWithBoth) {
  for (const uint32_t other : {0U, KILN_HEADER_VERSION + 1'000, KILN_HEADER_VERSION + 1'000'000}) {
    kiln_context_info info = ContextInfo();
    info.header_version = other;
    kiln_context* context = nullptr;
    kiln_error* error = nullptr;
    EXPECT_EQ(kiln_context_create(&info, &context, &error), KILN_FAILED_PRECONDITION) << other;
    EXPECT_EQ(context, nullptr);
    const std::string why = Why(error);
    EXPECT_NE(why.find("VERSION"), std::string::npos) << why;
    EXPECT_NE(why.find(kiln_version()), std::string::npos) << why;
  }
  kiln_context_info patched = ContextInfo();
  patched.header_version += 1;
  kiln_context* context = nullptr;
  EXPECT_EQ(kiln_context_create(&patched, &context, nullptr), KILN_OK);
  kiln_context_destroy(context);
}

TEST(KilnContext, LargerStructOfALaterHeader_IsTakenIfItsNewsAreZero) {
  struct Later {
    kiln_context_info info;
    unsigned char news[32];
  } later{};
  later.info = ContextInfo();
  later.info.struct_size = sizeof(later);
  kiln_context* context = nullptr;
  EXPECT_EQ(kiln_context_create(&later.info, &context, nullptr), KILN_OK);
  kiln_context_destroy(context);
}

TEST(KilnContext, HalfAnAllocatorOrAnUnknownLevel_IsRefused) {
  kiln_context_info info = ContextInfo();
  kiln_context* context = nullptr;
  info.allocate = CountedMemory::Allocate;
  EXPECT_EQ(kiln_context_create(&info, &context, nullptr), KILN_INVALID_ARGUMENT);
  info = ContextInfo();
  info.log_level = 9;
  EXPECT_EQ(kiln_context_create(&info, &context, nullptr), KILN_INVALID_ARGUMENT);
}

TEST_F(WithContext, Pack_SaysItsProgramsAndVerifies) {
  kiln_pack* const pack = Open();
  ASSERT_NE(pack, nullptr) << why;
  ASSERT_EQ(kiln_pack_program_count(pack), 1U);
  EXPECT_EQ(Text(kiln_pack_program_name(pack, 0)), "material");
  EXPECT_EQ(kiln_pack_program_name(pack, 1).size, 0U);
  EXPECT_EQ(kiln_pack_verify(pack, nullptr), KILN_OK);
  kiln_pack_destroy(pack);
}

// The file is mapped once, whole, and nothing is left of it afterwards.
TEST_F(WithContext, OpeningAPack_IsOneMapping) {
  const auto mappings = [&] {
    std::ifstream maps("/proc/self/maps");
    size_t count = 0;
    for (std::string line; std::getline(maps, line);) {
      count += line.find(path) != std::string::npos ? 1 : 0;
    }
    return count;
  };
  kiln_pack* const pack = Open();
  ASSERT_NE(pack, nullptr) << why;
  EXPECT_EQ(mappings(), 1U);
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    files += std::filesystem::read_symlink(entry.path(), error) == path ? 1 : 0;
  }
  EXPECT_EQ(files, 0U);
  kiln_pack_destroy(pack);
  EXPECT_EQ(mappings(), 0U);
}

TEST_F(WithContext, PackThatIsNotThere_IsNamed) {
  unlink(path.c_str());
  EXPECT_EQ(Open(), nullptr);
  EXPECT_EQ(result, KILN_NOT_FOUND);
  EXPECT_NE(why.find(path), std::string::npos) << why;
}

class WithBytes : public WithContext {
 protected:
  WithBytes() : bytes(ReadAll(path)), aligned(bytes.size() / 8 + 1) {}

  kiln_pack* OpenFirst(size_t size, size_t offset = 0) {
    auto* const begin = reinterpret_cast<std::byte*>(aligned.data()) + offset;
    std::memcpy(begin, bytes.data(), std::min(size, bytes.size() - offset));
    kiln_pack_info info{};
    info.bytes = begin;
    info.byte_count = size;
    return Open(info);
  }

  Bytes bytes;
  std::vector<uint64_t> aligned;
};

TEST_F(WithBytes, PackOfANewerMajor_SaysSo) {
  pack::Header header = pack::testing::HeaderIn(bytes);
  header.major += 1;
  pack::testing::Seal(bytes, header, pack::testing::TableIn(bytes));
  EXPECT_EQ(OpenFirst(bytes.size()), nullptr);
  EXPECT_EQ(result, KILN_UNIMPLEMENTED) << why;
  EXPECT_EQ(why.substr(0, why.find(':')), "PACK_NEEDS_NEWER") << why;
}

TEST_F(WithBytes, EveryTruncation_IsAnError) {
  for (size_t size = 0; size < bytes.size(); size += size < 512 ? 1 : 61) {
    ASSERT_EQ(OpenFirst(size), nullptr) << size;
    ASSERT_NE(result, KILN_OK);
    ASSERT_FALSE(why.empty());
  }
  kiln_pack* const whole = OpenFirst(bytes.size());
  EXPECT_NE(whole, nullptr) << why;
  kiln_pack_destroy(whole);
}

TEST_F(WithBytes, EveryDamagedByte_IsFoundAtOnceOrByVerify) {
  std::byte* const memory = reinterpret_cast<std::byte*>(aligned.data());
  size_t undetected = 0;
  for (size_t at = 0; at < bytes.size(); at += 7) {
    std::memcpy(memory, bytes.data(), bytes.size());
    memory[at] ^= std::byte{0x10};
    kiln_pack_info info{};
    info.bytes = memory;
    info.byte_count = bytes.size();
    if (kiln_pack* const pack = Open(info)) {
      undetected += kiln_pack_verify(pack, nullptr) == KILN_OK ? 1 : 0;
      kiln_pack_destroy(pack);
    }
  }
  EXPECT_EQ(undetected, 0U);
}

TEST_F(WithBytes, BytesAtAnOddPlaceOrBesideAPath_AreRefused) {
  EXPECT_EQ(OpenFirst(bytes.size() - 4, 4), nullptr);
  EXPECT_EQ(result, KILN_INVALID_ARGUMENT);
  kiln_pack_info both{};
  both.bytes = aligned.data();
  both.byte_count = 8;
  both.path = kiln_text_of("x");
  EXPECT_EQ(Open(both), nullptr);
  EXPECT_EQ(result, KILN_INVALID_ARGUMENT);
}

TEST_F(WithContext, Signature_IsAskedForByKey) {
  const pack::SigningKey key = pack::SigningKey::Generate().value();
  const pack::SigningKey other = pack::SigningKey::Generate().value();
  const std::string pem = key.public_key().Pem();
  const std::string other_pem = other.public_key().Pem();
  kiln_text keys[] = {kiln_text_of(pem.c_str()), kiln_text_of("no key")};
  kiln_pack_info info{};
  info.public_keys = keys;
  info.public_key_count = 1;
  EXPECT_EQ(Open(info), nullptr);
  EXPECT_EQ(why.substr(0, why.find(':')), "PACK_SIGNATURE_MISSING") << why;
  WriteMaterialPack(path, &key);
  kiln_pack* const pack = Open(info);
  EXPECT_NE(pack, nullptr) << why;
  kiln_pack_destroy(pack);
  keys[0] = kiln_text_of(other_pem.c_str());
  EXPECT_EQ(Open(info), nullptr);
  EXPECT_EQ(why.substr(0, why.find(':')), "PACK_SIGNATURE_BAD") << why;
  info.public_key_count = 2;
  EXPECT_EQ(Open(info), nullptr);
  EXPECT_EQ(why.substr(0, why.find(':')), "BAD_KEY") << why;
}

TEST_F(WithContext, Description_TellsWhatAPipelineWants) {
  kiln_source* const source = Source();
  const kiln_option tail = Tint("tail");
  const kiln_variant variant = Variant("material", &tail);
  kiln_pipeline_desc* desc = nullptr;
  ASSERT_EQ(kiln_pipeline_desc_create(source, &variant, nullptr, &desc, nullptr), KILN_OK);
  EXPECT_EQ(kiln_pipeline_desc_push_size(desc), 16U);
  ASSERT_EQ(kiln_pipeline_desc_binding_count(desc), 2U);
  kiln_binding binding;
  KILN_INIT(binding);
  ASSERT_EQ(kiln_pipeline_desc_binding(desc, 0, &binding, nullptr), KILN_OK);
  EXPECT_EQ(Text(binding.name), "material");
  EXPECT_EQ(binding.set, 1U);
  EXPECT_EQ(binding.type, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER);
  EXPECT_EQ(binding.bytes, 64U);
  EXPECT_EQ(kiln_pipeline_desc_binding(desc, 2, &binding, nullptr), KILN_OUT_OF_RANGE);
  ASSERT_EQ(kiln_pipeline_desc_attribute_count(desc), 2U);
  kiln_vertex_attribute attribute;
  KILN_INIT(attribute);
  ASSERT_EQ(kiln_pipeline_desc_attribute(desc, 1, &attribute, nullptr), KILN_OK);
  EXPECT_EQ(Text(attribute.name), "shade");
  EXPECT_EQ(attribute.offset, 8U);
  EXPECT_EQ(attribute.stride, 12U);
  EXPECT_EQ(attribute.per_instance, 0U);
  EXPECT_EQ(attribute.format, VK_FORMAT_R8G8B8A8_UNORM);
  EXPECT_EQ(kiln_pipeline_desc_attribute(desc, 9, &attribute, nullptr), KILN_OUT_OF_RANGE);
  EXPECT_NE(Text(kiln_pipeline_desc_text(desc)).find("material"), std::string::npos);
  kiln_pipeline_desc_destroy(desc);

  const kiln_variant nobody = Variant("nobody");
  EXPECT_EQ(kiln_pipeline_desc_create(source, &nobody, nullptr, &desc, nullptr), KILN_NOT_FOUND);
  const VkFormat integers = VK_FORMAT_R8G8B8A8_UINT;
  kiln_pass_signature signature;
  KILN_INIT(signature);
  signature.color = &integers;
  signature.color_count = 1;
  kiln_error* error = nullptr;
  EXPECT_EQ(kiln_pipeline_desc_create(source, &variant, &signature, &desc, &error),
            KILN_INVALID_ARGUMENT);
  EXPECT_EQ(Why(error).substr(0, 18), "SIGNATURE_MISMATCH");
  kiln_source_destroy(source);
}

TEST_F(WithContext, Options_AreOfTheirType) {
  kiln_source* const source = Source();
  kiln_pipeline_desc* desc = nullptr;
  kiln_option option = Tint("tail");
  const auto find = [&] {
    const kiln_variant variant = Variant("material", &option);
    return kiln_pipeline_desc_create(source, &variant, nullptr, &desc, nullptr);
  };
  option.text = kiln_text_of("gold");
  EXPECT_EQ(find(), KILN_NOT_FOUND);
  for (const kiln_option_kind kind :
       {KILN_OPTION_FLAG, KILN_OPTION_UINT, KILN_OPTION_SINT, KILN_OPTION_FLOAT}) {
    option.kind = kind;
    EXPECT_EQ(find(), KILN_INVALID_ARGUMENT) << kind;
  }
  option.kind = 77;
  EXPECT_EQ(find(), KILN_INVALID_ARGUMENT);
  option = Tint("tail");
  option.name = {nullptr, 4};
  EXPECT_EQ(find(), KILN_INVALID_ARGUMENT);
  option.name = {"t\xff", 2};
  EXPECT_EQ(find(), KILN_INVALID_ARGUMENT);
  option.name = {"ti\0nt", 5};
  EXPECT_EQ(find(), KILN_INVALID_ARGUMENT);
  kiln_source_destroy(source);
}

TEST_F(WithContext, Parameters_AreWrittenWhereTheyLie) {
  kiln_source* const source = Source();
  const kiln_option tail = Tint("tail");
  const kiln_variant variant = Variant("material", &tail);
  kiln_parameters* block = nullptr;
  ASSERT_EQ(kiln_parameters_create(source, &variant, kiln_text_of("material"),
                                   KILN_PARAMETERS_BUFFER, &block, nullptr),
            KILN_OK);
  ASSERT_EQ(kiln_parameters_size(block), 64U);
  uint32_t color = 99;
  uint32_t weights = 99;
  ASSERT_EQ(kiln_parameters_find_tag(block, kiln_text_of("base_color"), &color, nullptr), KILN_OK);
  ASSERT_EQ(kiln_parameters_find(block, kiln_text_of("weights"), &weights, nullptr), KILN_OK);
  uint32_t none = 99;
  EXPECT_EQ(kiln_parameters_find(block, kiln_text_of("weight"), &none, nullptr), KILN_NOT_FOUND);
  EXPECT_EQ(kiln_parameters_find_tag(block, kiln_text_of("hue"), &none, nullptr), KILN_NOT_FOUND);
  EXPECT_EQ(none, 99U);
  float memory[16] = {};
  const float value[] = {1, 2, 3, 4};
  ASSERT_EQ(kiln_parameters_write(block, weights, memory, sizeof(memory), value, sizeof(value), 2,
                                  nullptr),
            KILN_OK);
  EXPECT_EQ(memory[12], 1);
  EXPECT_EQ(memory[15], 4);
  EXPECT_EQ(memory[11], 0);
  const auto write = [&](uint32_t slot, size_t room, size_t size, uint32_t item) {
    return kiln_parameters_write(block, slot, memory, room, value, size, item, nullptr);
  };
  EXPECT_EQ(write(weights, sizeof(memory), sizeof(value), 3), KILN_OUT_OF_RANGE);
  EXPECT_EQ(write(weights, 60, sizeof(value), 2), KILN_OUT_OF_RANGE);
  EXPECT_EQ(write(color, sizeof(memory), 12, 0), KILN_INVALID_ARGUMENT);
  EXPECT_EQ(write(77, sizeof(memory), sizeof(value), 0), KILN_INVALID_ARGUMENT);
  EXPECT_EQ(write(~0U, sizeof(memory), sizeof(value), 0), KILN_INVALID_ARGUMENT);
  kiln_parameters_destroy(block);

  ASSERT_EQ(kiln_parameters_create(source, &variant, kiln_text_of("colors"), KILN_PARAMETERS_TAIL,
                                   &block, nullptr),
            KILN_OK);
  EXPECT_EQ(kiln_parameters_size(block), 16U);
  kiln_parameters_destroy(block);
  ASSERT_EQ(
      kiln_parameters_create(source, &variant, kiln_text{}, KILN_PARAMETERS_PUSH, &block, nullptr),
      KILN_OK);
  EXPECT_EQ(kiln_parameters_size(block), 16U);
  kiln_parameters_destroy(block);
  EXPECT_EQ(kiln_parameters_create(source, &variant, kiln_text_of("material"), KILN_PARAMETERS_TAIL,
                                   &block, nullptr),
            KILN_NOT_FOUND);
  EXPECT_EQ(kiln_parameters_create(source, &variant, kiln_text_of("sky"), KILN_PARAMETERS_BUFFER,
                                   &block, nullptr),
            KILN_NOT_FOUND);
  kiln_source_destroy(source);
}

class InMemory : public WithContext {
 protected:
  InMemory() { EXPECT_EQ(kiln_source_in_memory(context, &source, nullptr), KILN_OK); }
  ~InMemory() override { kiln_source_destroy(source); }

  kiln_digest Add(ByteView bytes) {
    kiln_digest digest{};
    EXPECT_EQ(kiln_source_add_content(source, bytes.data(), bytes.size(), &digest, nullptr),
              KILN_OK);
    return digest;
  }
  kiln_result AddMetadata(ByteView metadata, const kiln_module* modules, size_t count) {
    kiln_artifact_info info;
    KILN_INIT(info);
    info.program = kiln_text_of("material");
    info.metadata = Add(metadata);
    info.modules = modules;
    info.module_count = count;
    return kiln_source_add_artifact(source, &info, nullptr);
  }

  kiln_source* source = nullptr;
};

TEST_F(InMemory, FeatureThatNobodyKnows_IsNamedAndChangesNothing) {
  const auto metadata = artifact::MetadataFromJson(
      R"({"pipelineType": "compute", "requiredFeatures": ["telepathy"],
          "requiredExtensions": ["VK_EXT_telepathy"]})");
  ASSERT_EQ(AddMetadata(*metadata, nullptr, 0), KILN_OK);
  kiln_requirements* needs = nullptr;
  ASSERT_EQ(kiln_device_requirements(source, &needs, nullptr), KILN_OK);
  const uint32_t count = kiln_requirements_count(needs);
  ASSERT_EQ(count, 5U);
  kiln_requirement need;
  KILN_INIT(need);
  ASSERT_EQ(kiln_requirements_get(needs, 2, &need, nullptr), KILN_OK);
  EXPECT_EQ(Text(need.name), "telepathy");
  EXPECT_EQ(Text(need.program), "material");
  EXPECT_EQ(need.kind, KILN_REQUIREMENT_FEATURE);
  ASSERT_EQ(kiln_requirements_get(needs, count - 1, &need, nullptr), KILN_OK);
  EXPECT_EQ(Text(need.name), "VK_EXT_telepathy");
  EXPECT_EQ(need.kind, KILN_REQUIREMENT_EXTENSION);
  EXPECT_EQ(kiln_requirements_get(needs, count, &need, nullptr), KILN_OUT_OF_RANGE);
  VkPhysicalDeviceVulkan12Features vulkan12{};
  VkPhysicalDeviceVulkan13Features vulkan13{};
  kiln_feature_structs structs;
  KILN_INIT(structs);
  structs.vulkan12 = &vulkan12;
  structs.vulkan13 = &vulkan13;
  kiln_error* error = nullptr;
  EXPECT_EQ(kiln_requirements_enable(needs, &structs, &error), KILN_UNIMPLEMENTED);
  EXPECT_NE(Why(error).find("telepathy"), std::string::npos);
  EXPECT_EQ(vulkan13.dynamicRendering, VK_FALSE);
  kiln_requirements_destroy(needs);
}

TEST_F(InMemory, Requirements_AreEnabledInTheStructsThatAreGiven) {
  kiln_requirements* needs = nullptr;
  ASSERT_EQ(kiln_device_requirements(source, &needs, nullptr), KILN_OK);
  VkPhysicalDeviceVulkan12Features vulkan12{};
  VkPhysicalDeviceVulkan13Features vulkan13{};
  vulkan13.maintenance4 = VK_TRUE;
  kiln_feature_structs structs;
  KILN_INIT(structs);
  structs.vulkan13 = &vulkan13;
  EXPECT_EQ(kiln_requirements_enable(needs, &structs, nullptr), KILN_INVALID_ARGUMENT);
  EXPECT_EQ(vulkan13.synchronization2, VK_FALSE) << "nothing is changed by a call that fails";
  structs.vulkan12 = &vulkan12;
  EXPECT_EQ(kiln_requirements_enable(needs, &structs, nullptr), KILN_OK);
  EXPECT_EQ(vulkan12.timelineSemaphore, VK_TRUE);
  EXPECT_EQ(vulkan13.synchronization2, VK_TRUE);
  EXPECT_EQ(vulkan13.dynamicRendering, VK_TRUE);
  EXPECT_EQ(vulkan13.maintenance4, VK_TRUE);
  EXPECT_EQ(vulkan12.shaderFloat16, VK_FALSE);
  kiln_requirements_destroy(needs);
}

TEST_F(InMemory, DamagedMetadata_IsAnErrorOfTheRequirements) {
  ASSERT_EQ(AddMetadata(AsBytes("\xff"), nullptr, 0), KILN_OK);
  kiln_requirements* needs = nullptr;
  EXPECT_EQ(kiln_device_requirements(source, &needs, nullptr), KILN_INVALID_ARGUMENT);
}

TEST_F(InMemory, ContentThatWasNotAdded_IsMissed) {
  kiln_artifact_info info;
  KILN_INIT(info);
  info.program = kiln_text_of("material");
  EXPECT_EQ(kiln_source_add_artifact(source, &info, nullptr), KILN_NOT_FOUND);
  kiln_module module{};
  EXPECT_EQ(AddMetadata(CompiledMaterial("plain").metadata, &module, 1), KILN_NOT_FOUND);
  module.stage = 9;
  EXPECT_EQ(AddMetadata(CompiledMaterial("plain").metadata, &module, 1), KILN_INVALID_ARGUMENT);
}

TEST_F(WithContext, SourceOfAPack_TakesNothingMore) {
  kiln_source* const source = Source();
  kiln_digest digest{};
  EXPECT_EQ(kiln_source_add_content(source, "x", 1, &digest, nullptr), KILN_FAILED_PRECONDITION);
  kiln_artifact_info info;
  KILN_INIT(info);
  EXPECT_EQ(kiln_source_add_artifact(source, &info, nullptr), KILN_FAILED_PRECONDITION);
  kiln_source_destroy(source);
}

}  // namespace
}  // namespace kiln::c::testing
