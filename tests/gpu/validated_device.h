// SPDX-License-Identifier: MIT
// The software device under validation: a test that leaves a message behind fails.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/vk/device.h"

namespace kiln::graph {

class ValidatedDevice : public ::testing::Test {
 protected:
  ValidatedDevice() {
    auto device = runtime::Device::Create(
        {.prefer = "software", .validation = true, .messages = [this](const vk::Message& message) {
           messages.push_back(message.text);
         }});
    EXPECT_TRUE(device.ok()) << ErrorText(device.error());
    gpu.emplace(std::move(device).value());
  }
  ~ValidatedDevice() override {
    gpu.reset();
    EXPECT_THAT(messages, ::testing::IsEmpty());
  }

  std::vector<std::string> messages;
  std::optional<runtime::Device> gpu;
};

}  // namespace kiln::graph
