// SPDX-License-Identifier: MIT
// The Vulkan instance and its messages. One instance serves all devices of a process.
#include "runtime/vk/instance.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace kiln::vk {
namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";

// Called on whatever thread calls Vulkan. VK_FALSE lets that call go on.
VKAPI_ATTR VkBool32 VKAPI_CALL OnMessage(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                         VkDebugUtilsMessageTypeFlagsEXT /*types*/,
                                         const VkDebugUtilsMessengerCallbackDataEXT* data,
                                         void* sink) {
  // Kinds above the error, if there ever are any, count as errors.
  const Message message{.error = severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
                        .id = data->pMessageIdName == nullptr ? "" : data->pMessageIdName,
                        .text = data->pMessage == nullptr ? "" : data->pMessage};
  (*static_cast<MessageSink*>(sink))(message);
  return VK_FALSE;
}

// Between the two calls no layer is installed in practice; a shorter answer would leave empty
// names, which match nothing.
bool HasLayer(const Table& table, const char* name) {
  uint32_t count = 0;
  table.EnumerateInstanceLayerProperties(&count, nullptr);
  std::vector<VkLayerProperties> layers(count);
  table.EnumerateInstanceLayerProperties(&count, layers.data());
  return std::ranges::any_of(layers, [&](const VkLayerProperties& layer) {
    return std::strcmp(layer.layerName, name) == 0;
  });
}

// Warnings and errors only: the layers say thousands of lines of information.
VkDebugUtilsMessengerCreateInfoEXT MessengerInfo(MessageSink* sink) {
  VkDebugUtilsMessengerCreateInfoEXT info{};
  info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
  info.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                         VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType =
      VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  info.pfnUserCallback = OnMessage;
  info.pUserData = sink;
  return info;
}

}  // namespace

// The order is fixed: the loader's global functions, its version, the layers, the instance, and
// then the functions of that instance.
Result<Instance> Instance::Create(Table& table, const InstanceConfig& config) {
  KILN_TRY_VOID(LoadGlobal(table));
  // What a loader of version 1.0 is, as it cannot be asked.
  uint32_t version = VK_API_VERSION_1_0;
  // A loader of version 1.0 does not have this function.
  if (table.EnumerateInstanceVersion != nullptr) {
    table.EnumerateInstanceVersion(&version);
  }
  if (version < VK_API_VERSION_1_3) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("the Vulkan loader is version {}.{}, kiln needs 1.3",
                             VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version)),
                 "NO_DEVICE"};
  }
  if (config.validation && !HasLayer(table, kValidationLayer)) {
    return Error{
        ErrorCode::kUnavailable,
        fmt::format("{} is not installed; install vulkan-validationlayers", kValidationLayer),
        "NO_DEVICE"};
  }

  std::vector<const char*> extensions(config.extensions.begin(), config.extensions.end());
  std::vector<const char*> layers;
  // The graph computes barriers, and this is the check that sees a missing one.
  constexpr auto kEnabled = std::to_array<VkValidationFeatureEnableEXT>(
      {VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT});
  VkValidationFeaturesEXT features{};
  features.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT;
  features.enabledValidationFeatureCount = kEnabled.size();
  features.pEnabledValidationFeatures = kEnabled.data();
  Instance instance(table);
  // The sink lies on the heap, because the layers keep its address and the instance may be moved.
  instance.messages_ =
      std::make_unique<MessageSink>(config.messages ? config.messages : [](const Message&) {});
  VkDebugUtilsMessengerCreateInfoEXT messenger = MessengerInfo(instance.messages_.get());
  if (config.validation) {
    layers.push_back(kValidationLayer);
    extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    extensions.push_back(VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME);
    features.pNext = &messenger;  // also hears creation and destruction of the instance
  }

  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pEngineName = "kiln";
  // The version that is asked for, not the one that the loader has: behaviour of later versions is
  // not relied on.
  application.apiVersion = VK_API_VERSION_1_3;
  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pNext = config.validation ? &features : nullptr;
  info.pApplicationInfo = &application;
  info.enabledLayerCount = static_cast<uint32_t>(layers.size());
  info.ppEnabledLayerNames = layers.data();
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  // No driver is told apart from other failures: it is what a machine without a graphics card says,
  // and the message tells what to install.
  const VkResult created = table.CreateInstance(&info, nullptr, &instance.handle_);
  if (created == VK_ERROR_INCOMPATIBLE_DRIVER) {
    return Error{ErrorCode::kUnavailable,
                 "the Vulkan loader finds no driver; a software device comes with "
                 "mesa-vulkan-drivers",
                 "NO_DEVICE"};
  }
  KILN_TRY_VK(created, "create the instance");
  KILN_TRY_VOID(LoadInstance(table, instance.handle_));
  if (config.validation) {
    // The messenger of the instance itself hears only its making and its end.
    KILN_TRY_VK(table.CreateDebugUtilsMessengerEXT(instance.handle_, &messenger, nullptr,
                                                   &instance.messenger_),
                "create the debug messenger");
  }
  return instance;
}

// The messenger holds a pointer to the messages, which live on the heap, and so a move leaves it
// valid.
Instance::Instance(Instance&& other) noexcept
    : table_(other.table_),
      handle_(std::exchange(other.handle_, VK_NULL_HANDLE)),
      messenger_(std::exchange(other.messenger_, VK_NULL_HANDLE)),
      messages_(std::move(other.messages_)) {}

Instance& Instance::operator=(Instance&& other) noexcept {
  std::swap(table_, other.table_);
  std::swap(handle_, other.handle_);
  std::swap(messenger_, other.messenger_);
  std::swap(messages_, other.messages_);
  return *this;
}

Instance::~Instance() {
  // The messenger goes first, as it belongs to the instance.
  if (messenger_ != VK_NULL_HANDLE) {
    table_->DestroyDebugUtilsMessengerEXT(handle_, messenger_, nullptr);
  }
  if (handle_ != VK_NULL_HANDLE && table_->DestroyInstance != nullptr) {
    table_->DestroyInstance(handle_, nullptr);
  }
}

}  // namespace kiln::vk
