// SPDX-License-Identifier: MIT
// A Vulkan 1.3 device: its own, or an engine's. Owner of the function table that everything else
// uses, so it outlives every object made with it. Reading it is safe from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/vk/features.h"
#include "runtime/vk/instance.h"
#include "runtime/vk/table.h"

namespace kiln::runtime {

struct DeviceConfig {
  std::string_view prefer;  // part of a device name, or "software"; empty: the fastest kind
  bool validation = false;
  std::span<const char* const> extensions;           // of the device, required
  std::span<const char* const> instance_extensions;  // required
  vk::MessageSink messages;                          // of validation
};

// Handles that an engine keeps owning, and what it enabled.
struct AdoptedDevice {
  PFN_vkGetInstanceProcAddr get_instance_proc_addr = nullptr;
  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physical_device = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  uint32_t queue_family = 0;
  const vk::FeatureChain* enabled_features = nullptr;
  std::span<const char* const> enabled_extensions;
};

// Who made the device and its driver.
struct DeviceIdentity {
  std::string name;
  std::string driver_name;
  std::string driver_info;
  VkPhysicalDeviceType type = VK_PHYSICAL_DEVICE_TYPE_OTHER;
  uint32_t api_version = 0;
  uint32_t vendor_id = 0;
  uint32_t device_id = 0;
  uint32_t driver_id = 0;
  uint32_t driver_version = 0;
  std::array<uint8_t, VK_UUID_SIZE> device_uuid = {};
  std::array<uint8_t, VK_UUID_SIZE> driver_uuid = {};
  std::array<uint8_t, VK_UUID_SIZE> pipeline_cache_uuid = {};
};

// What a device can do and has enabled, as plain data, so that checks need no device.
struct DeviceCaps {
  static constexpr size_t kFormats = VK_FORMAT_ASTC_12x12_SRGB_BLOCK + 1;  // of Vulkan 1.0

  std::string device_name;
  std::vector<std::string> features;    // enabled, known names, sorted
  std::vector<std::string> extensions;  // enabled, sorted
  bool fast_linking = false;            // of pipeline libraries, whose extension is enabled then
  VkPhysicalDeviceLimits limits = {};
  std::array<VkFormatProperties, kFormats> formats = {};  // by VkFormat

  bool HasFeature(std::string_view name) const;
  bool HasExtension(std::string_view name) const;
  // All zero for formats beyond Vulkan 1.0.
  VkFormatProperties Format(VkFormat format) const;
};

class Device {
 public:
  // An instance and a device of its own, with every known feature that is offered, and pipeline
  // libraries if they link fast.
  // Errors: kUnavailable, NO_DEVICE naming what was found and what to install.
  static Result<Device> Create(const DeviceConfig& config);

  // Errors: kUnavailable if a function of Vulkan 1.3 is missing.
  static Result<Device> Adopt(const AdoptedDevice& adopted);

  // A driver of fakes: nothing is loaded, created or destroyed but what `table` does.
  static Device OverTable(const vk::Table& table, DeviceCaps caps,
                          const VkPhysicalDeviceMemoryProperties& memory);

  Device(Device&& other) noexcept;
  Device& operator=(Device&& other) noexcept;
  ~Device();

  const DeviceIdentity& identity() const { return identity_; }
  const DeviceCaps& caps() const { return caps_; }
  const vk::Table& table() const { return *table_; }
  VkInstance instance() const { return instance_ ? instance_->handle() : VK_NULL_HANDLE; }
  VkDevice handle() const { return handle_; }
  VkPhysicalDevice physical() const { return physical_; }
  uint32_t queue_family() const { return queue_family_; }
  const VkPhysicalDeviceMemoryProperties& memory() const { return memory_; }

 private:
  enum class Ownership : uint8_t { kOwned, kAdopted };

  Device(std::unique_ptr<vk::Table> table, Ownership ownership)
      : table_(std::move(table)), ownership_(ownership) {}

  void ReadProperties(const vk::FeatureChain& enabled, std::span<const char* const> extensions);

  std::unique_ptr<vk::Table> table_;
  Ownership ownership_;
  std::optional<vk::Instance> instance_;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice handle_ = VK_NULL_HANDLE;
  uint32_t queue_family_ = 0;
  DeviceIdentity identity_;
  DeviceCaps caps_;
  VkPhysicalDeviceMemoryProperties memory_ = {};
};

}  // namespace kiln::runtime
