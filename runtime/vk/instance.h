// SPDX-License-Identifier: MIT
// A Vulkan instance, with the Khronos validation layer and its synchronisation checks if asked for.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "runtime/vk/table.h"

namespace kiln::vk {

// A warning or an error of the validation layer or a driver.
struct Message {
  bool error = false;
  std::string id;  // "VUID-…", may be empty
  std::string text;
};

// Called on any thread that calls Vulkan; must not call Vulkan itself.
using MessageSink = std::function<void(const Message&)>;

struct InstanceConfig {
  bool validation = false;
  std::span<const char* const> extensions;
  MessageSink messages;
};

// Owns the instance and its messenger. The table must outlive it.
class Instance {
 public:
  // Fills the global and instance functions of `table`.
  // Errors: kUnavailable, NO_DEVICE without a loader or with one below 1.3; the validation layer is
  //         asked for and not installed, with the package to install.
  static Result<Instance> Create(Table& table, const InstanceConfig& config);

  Instance(Instance&& other) noexcept;
  Instance& operator=(Instance&& other) noexcept;
  ~Instance();

  VkInstance handle() const { return handle_; }

 private:
  explicit Instance(const Table& table) : table_(&table) {}

  const Table* table_;
  VkInstance handle_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  std::unique_ptr<MessageSink> messages_;  // its address is known to the messenger
};

}  // namespace kiln::vk
