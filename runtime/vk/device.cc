// SPDX-License-Identifier: MIT
#include "runtime/vk/device.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "runtime/vk/enable_feature.h"

namespace kiln::runtime {
namespace {

struct Candidate {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  VkPhysicalDeviceProperties properties = {};
  std::optional<uint32_t> queue_family;
};

// One family that draws and computes is what the whole runtime uses; every desktop device has one.
std::optional<uint32_t> FindQueueFamily(const vk::Table& table, VkPhysicalDevice device) {
  uint32_t count = 0;
  table.GetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  table.GetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
  constexpr VkQueueFlags kWanted = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
  // The first family wins, as there is no reason to prefer another one.
  for (uint32_t i = 0; i < count; ++i) {
    if ((families[i].queueFlags & kWanted) == kWanted) {
      return i;
    }
  }
  return std::nullopt;
}

// Twice, as everywhere in Vulkan: once for the count, once for the rows.
Result<std::vector<Candidate>> Candidates(const vk::Table& table, VkInstance instance) {
  uint32_t count = 0;
  KILN_TRY_VK(table.EnumeratePhysicalDevices(instance, &count, nullptr), "list the devices");
  std::vector<VkPhysicalDevice> handles(count);
  KILN_TRY_VK(table.EnumeratePhysicalDevices(instance, &count, handles.data()), "list the devices");
  std::vector<Candidate> candidates;
  for (const VkPhysicalDevice handle : handles) {
    VkPhysicalDeviceProperties2 properties{};
    // The newer function is used throughout, since its structures can be chained.
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    table.GetPhysicalDeviceProperties2(handle, &properties);
    candidates.push_back({handle, properties.properties, FindQueueFamily(table, handle)});
  }
  return candidates;
}

// Lower is better.
// A switch over the number, because a later header may have kinds that this enumeration has not.
int Rank(VkPhysicalDeviceType type) {
  switch (static_cast<int>(type)) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return 0;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return 1;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return 2;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return 3;
    default:
      return 4;
  }
}

// A part of the name will do: names of devices have revisions and driver texts in them.
bool Matches(const Candidate& candidate, std::string_view prefer) {
  // Without a preference every device matches, and the kind decides.
  return prefer.empty() ||
         (prefer == "software" && candidate.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU) ||
         std::string_view(candidate.properties.deviceName).find(prefer) != std::string_view::npos;
}

// A device of a lower version may have all extensions, but its functions would have other names.
bool IsUsable(const Candidate& candidate) {
  return candidate.properties.apiVersion >= VK_API_VERSION_1_3 && candidate.queue_family;
}

// The first of the best kind is taken, in the order of the loader, so the choice is the same in
// every run.
Result<Candidate> Choose(const std::vector<Candidate>& candidates, std::string_view prefer) {
  const Candidate* best = nullptr;
  std::string found;
  for (const Candidate& candidate : candidates) {
    // Every candidate is listed for the message, since it is read by somebody who wonders why none
    // was taken.
    const uint32_t version = candidate.properties.apiVersion;
    found += fmt::format("{}{} (Vulkan {}.{})", found.empty() ? "" : ", ",
                         candidate.properties.deviceName, VK_API_VERSION_MAJOR(version),
                         VK_API_VERSION_MINOR(version));
    if (IsUsable(candidate) && Matches(candidate, prefer) &&
        (best == nullptr ||
         Rank(candidate.properties.deviceType) < Rank(best->properties.deviceType))) {
      best = &candidate;
    }
  }
  if (best != nullptr) {
    return *best;
  }
  return Error{ErrorCode::kUnavailable,
               fmt::format("no Vulkan 1.3 device{}{}; found: {}; a software device comes with "
                           "mesa-vulkan-drivers",
                           prefer.empty() ? "" : " like ", prefer, found.empty() ? "none" : found),
               "NO_DEVICE"};
}

// All known features that the device offers are enabled. Programs need different ones, and a device
// cannot be changed later.
Result<vk::FeatureChain> EnabledFeatures(const vk::Table& table, const Candidate& candidate) {
  vk::FeatureChain offered;
  table.GetPhysicalDeviceFeatures2(candidate.handle, offered.Chain());
  vk::FeatureChain enabled = vk::KnownFeatures(offered);
  const std::vector<std::string> names = vk::FeatureNames(enabled);
  for (const std::string_view needed : vk::NeededFeatures()) {
    if (!std::ranges::binary_search(names, needed)) {
      return Error{ErrorCode::kUnavailable,
                   fmt::format("{} does not offer {}", candidate.properties.deviceName, needed),
                   "NO_DEVICE"};
    }
  }
  return enabled;
}

// Asked for a few names at the start, so the list is not kept.
bool OffersExtension(const vk::Table& table, VkPhysicalDevice device, std::string_view name) {
  uint32_t count = 0;
  table.EnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> offered(count);
  table.EnumerateDeviceExtensionProperties(device, nullptr, &count, offered.data());
  return std::ranges::any_of(offered, [&](const VkExtensionProperties& extension) {
    return name == static_cast<const char*>(extension.extensionName);
  });
}

// Whether the device has pipeline libraries that link fast. See spec/pso 7.9
bool OffersFastLinking(const vk::Table& table, VkPhysicalDevice device) {
  // Both are needed: one extension builds on the other.
  if (!OffersExtension(table, device, VK_EXT_GRAPHICS_PIPELINE_LIBRARY_EXTENSION_NAME) ||
      !OffersExtension(table, device, VK_KHR_PIPELINE_LIBRARY_EXTENSION_NAME)) {
    return false;
  }
  VkPhysicalDeviceGraphicsPipelineLibraryPropertiesEXT library{};
  library.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GRAPHICS_PIPELINE_LIBRARY_PROPERTIES_EXT;
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  // The answer is written into the chained structure.
  properties.pNext = &library;
  table.GetPhysicalDeviceProperties2(device, &properties);
  return library.graphicsPipelineLibraryFastLinking == VK_TRUE;
}

}  // namespace

bool DeviceCaps::HasFeature(std::string_view name) const {
  // Both lists are sorted where they are filled.
  return std::ranges::binary_search(features, name);
}

bool DeviceCaps::HasExtension(std::string_view name) const {
  return std::ranges::binary_search(extensions, name);
}

// Only formats of the core have a row; others are extensions, and nothing here uses them.
VkFormatProperties DeviceCaps::Format(VkFormat format) const {
  const auto index = static_cast<size_t>(format);
  return index < formats.size() ? formats[index] : VkFormatProperties{};
}

Result<Device> Device::Create(const DeviceConfig& config) {
  // Made first: whatever is created from here on is destroyed with it if a later step fails.
  Device out(std::make_unique<vk::Table>(), Ownership::kOwned);
  vk::Table& table = *out.table_;
  KILN_TRY(out.instance_, vk::Instance::Create(table, {.validation = config.validation,
                                                       .extensions = config.instance_extensions,
                                                       .messages = config.messages}));
  KILN_TRY(const std::vector<Candidate> candidates, Candidates(table, out.instance_->handle()));
  KILN_TRY(const Candidate chosen, Choose(candidates, config.prefer));
  KILN_TRY(vk::FeatureChain enabled, EnabledFeatures(table, chosen));
  // From here on the device belongs to `out`, and what fails leaves nothing behind.
  out.physical_ = chosen.handle;
  out.queue_family_ = *chosen.queue_family;

  const float priority = 1.0F;
  VkDeviceQueueCreateInfo queue{};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueFamilyIndex = out.queue_family_;
  // One queue: submissions of one are in order.
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  std::vector<const char*> extensions(config.extensions.begin(), config.extensions.end());
  // Put in front of the chain only if the device has it: a structure of an extension that is not
  // enabled would be an error.
  VkPhysicalDeviceGraphicsPipelineLibraryFeaturesEXT library{};
  library.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GRAPHICS_PIPELINE_LIBRARY_FEATURES_EXT;
  library.pNext = enabled.Chain();
  library.graphicsPipelineLibrary = VK_TRUE;
  out.caps_.fast_linking = OffersFastLinking(table, out.physical_);
  if (out.caps_.fast_linking) {
    extensions.push_back(VK_KHR_PIPELINE_LIBRARY_EXTENSION_NAME);
    extensions.push_back(VK_EXT_GRAPHICS_PIPELINE_LIBRARY_EXTENSION_NAME);
  }
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = out.caps_.fast_linking ? static_cast<void*>(&library) : enabled.Chain();
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  KILN_TRY_VK(table.CreateDevice(out.physical_, &info, nullptr, &out.handle_), "create the device");
  // Functions of the device are loaded directly, which spares a jump through the loader at each
  // call.
  KILN_TRY_VOID(vk::LoadDevice(table, out.handle_));
  out.ReadProperties(enabled, extensions);
  return out;
}

// What the caller has enabled is taken at its word, because Vulkan cannot be asked for it.
Result<Device> Device::Adopt(const AdoptedDevice& adopted) {
  // An adopted device is never destroyed here, and so is its instance.
  Device out(std::make_unique<vk::Table>(), Ownership::kAdopted);
  vk::AdoptLoader(adopted.get_instance_proc_addr);
  KILN_TRY_VOID(vk::LoadInstance(*out.table_, adopted.instance));
  KILN_TRY_VOID(vk::LoadDevice(*out.table_, adopted.device));
  out.physical_ = adopted.physical_device;
  out.handle_ = adopted.device;
  out.queue_family_ = adopted.queue_family;
  out.ReadProperties(
      adopted.enabled_features == nullptr ? vk::FeatureChain() : *adopted.enabled_features,
      adopted.enabled_extensions);
  return out;
}

// For tests: a device of functions that are not Vulkan's.
Device Device::OverTable(const vk::Table& table, DeviceCaps caps,
                         const VkPhysicalDeviceMemoryProperties& memory) {
  Device out(std::make_unique<vk::Table>(table), Ownership::kAdopted);
  out.identity_.name = caps.device_name;
  out.caps_ = std::move(caps);
  out.memory_ = memory;
  return out;
}

// Everything about the device that anybody asks for later, so that no other file talks to the
// physical device.
void Device::ReadProperties(const vk::FeatureChain& enabled,
                            std::span<const char* const> extensions) {
  VkPhysicalDeviceDriverProperties driver{};
  driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
  VkPhysicalDeviceIDProperties ids{};
  // Three structures are filled by one call, each chained to the next.
  ids.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
  ids.pNext = &driver;
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &ids;
  table_->GetPhysicalDeviceProperties2(physical_, &properties);
  const VkPhysicalDeviceProperties& core = properties.properties;
  identity_.name = core.deviceName;
  identity_.driver_name = driver.driverName;
  identity_.driver_info = driver.driverInfo;
  identity_.type = core.deviceType;
  identity_.api_version = core.apiVersion;
  identity_.vendor_id = core.vendorID;
  identity_.device_id = core.deviceID;
  identity_.driver_id = driver.driverID;
  identity_.driver_version = core.driverVersion;
  // Caches are valid for one device and one driver; these ids are what their keys compare.
  std::memcpy(identity_.device_uuid.data(), ids.deviceUUID, VK_UUID_SIZE);
  std::memcpy(identity_.driver_uuid.data(), ids.driverUUID, VK_UUID_SIZE);
  std::memcpy(identity_.pipeline_cache_uuid.data(), core.pipelineCacheUUID, VK_UUID_SIZE);

  caps_.device_name = core.deviceName;
  caps_.limits = core.limits;
  caps_.features = vk::FeatureNames(enabled);
  caps_.extensions.assign(extensions.begin(), extensions.end());
  // Sorted, because names are searched by halving.
  std::ranges::sort(caps_.extensions);
  // All formats at once, as checks ask for them often and the driver is slow to answer.
  for (size_t i = 0; i < caps_.formats.size(); ++i) {
    table_->GetPhysicalDeviceFormatProperties(physical_, static_cast<VkFormat>(i),
                                              &caps_.formats[i]);
  }
  table_->GetPhysicalDeviceMemoryProperties(physical_, &memory_);
}

Device::Device(Device&& other) noexcept
    : table_(std::move(other.table_)),
      ownership_(other.ownership_),
      instance_(std::move(other.instance_)),
      physical_(other.physical_),
      handle_(std::exchange(other.handle_, VK_NULL_HANDLE)),
      queue_family_(other.queue_family_),
      identity_(std::move(other.identity_)),
      caps_(std::move(other.caps_)),
      memory_(other.memory_) {}

// Swapping leaves the old device to the other object, whose destructor destroys it.
Device& Device::operator=(Device&& other) noexcept {
  std::swap(table_, other.table_);
  std::swap(ownership_, other.ownership_);
  std::swap(instance_, other.instance_);
  std::swap(physical_, other.physical_);
  std::swap(handle_, other.handle_);
  std::swap(queue_family_, other.queue_family_);
  std::swap(identity_, other.identity_);
  std::swap(caps_, other.caps_);
  std::swap(memory_, other.memory_);
  return *this;
}

// The instance goes after the device, because it is a member and destroyed behind this body.
Device::~Device() {
  if (ownership_ == Ownership::kOwned && handle_ != VK_NULL_HANDLE &&
      table_->DestroyDevice != nullptr) {
    table_->DestroyDevice(handle_, nullptr);
  }
}

}  // namespace kiln::runtime
