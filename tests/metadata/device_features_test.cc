// SPDX-License-Identifier: MIT
// What the compiler writes of a device's features, the runtime knows by name: it could not enable
// them otherwise, and a program that is right would be refused on a device that has them all.
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "compiler/target/requirements.h"
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

}  // namespace
}  // namespace kiln
