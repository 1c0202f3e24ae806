// SPDX-License-Identifier: MIT
// What the compiler writes of a device's features, the runtime knows by name: it could not enable
// them otherwise, and a program that is right would be refused on a device that has them all.
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "compiler/artifact/metadata_enums.h"
#include "compiler/emit/metadata/image_name.h"
#include "compiler/ir/enum_names.h"
#include "compiler/target/requirements.h"
#include "runtime/pipeline/formats.h"
#include "runtime/vk/features.h"

namespace kiln {
namespace {

// In a structure of an extension, which FeatureChain does not have; a device says so by name.
const std::set<std::string_view> kOfExtensions = {"shader_image_int64_atomics"};

TEST(DeviceFeatures, WhatMetadataMayNeed_TheRuntimeKnows) {
  const std::vector<std::string_view> names = target::FeaturesOf(~target::Needs{0});
  EXPECT_GT(names.size(), 25u);
  for (const std::string_view name : names) {
    EXPECT_EQ(vk::IsKnownFeature(name), !kOfExtensions.contains(name)) << name;
  }
}

// Formats of storage images by their words; one that no shader says is none.
TEST(DeviceFeatures, FormatsThatMetadataMayName_TheRuntimeKnows) {
  for (uint32_t i = 0; i < ir::CountOf<ir::ImageFormat>(); ++i) {
    const auto format = static_cast<ir::ImageFormat>(i);
    EXPECT_EQ(runtime::StorageFormat(ir::NameOf(format)) == VK_FORMAT_UNDEFINED,
              format == ir::ImageFormat::kUnknown)
        << ir::NameOf(format);
  }
}

// What the compiler calls a type of images is a row of the readers' table, and says the same there.
// Three dimensions have neither layers nor samples, and only two have samples.
TEST(DeviceFeatures, ImagesThatMetadataMayHave_TheReadersKnow) {
  std::set<std::string> names;
  for (const ir::ImageDim dim : {ir::ImageDim::k1d, ir::ImageDim::k2d, ir::ImageDim::k3d,
                                 ir::ImageDim::kCube, ir::ImageDim::kBuffer}) {
    for (uint32_t bits = 0; bits < 32; ++bits) {
      const ir::ImageTraits traits{.dim = dim,
                                   .arrayed = (bits & 1) != 0,
                                   .depth = (bits & 2) != 0,
                                   .storage = (bits & 4) != 0,
                                   .unknown_depth = (bits & 8) != 0,
                                   .multisampled = (bits & 16) != 0};
      const bool flat = dim != ir::ImageDim::k3d && dim != ir::ImageDim::kBuffer;
      if ((traits.arrayed && !flat) || (traits.multisampled && dim != ir::ImageDim::k2d) ||
          (traits.depth && (traits.storage || traits.unknown_depth)) ||
          (traits.depth && dim == ir::ImageDim::kBuffer)) {
        continue;
      }
      const std::string name = metadata::ImageName(traits);
      names.insert(name);
      const auto type = artifact::FromName<artifact::ImageType>(name);
      ASSERT_TRUE(type.has_value()) << name;
      const artifact::ImageTypeFacts& facts = artifact::FactsOf(*type);
      EXPECT_EQ(facts.arrayed, traits.arrayed) << name;
      EXPECT_EQ(facts.multisampled, traits.multisampled) << name;
      EXPECT_EQ(facts.role, traits.storage ? artifact::ImageRole::kStorage
                            : traits.depth ? artifact::ImageRole::kDepth
                                           : artifact::ImageRole::kColor)
          << name;
    }
  }
  EXPECT_EQ(names.size(), artifact::NamesOf<artifact::ImageType>().size());
}

}  // namespace
}  // namespace kiln
