// SPDX-License-Identifier: MIT
#include "runtime/c/device.h"

#include <cstring>
#include <utility>

#include "runtime/c/arguments.h"
#include "runtime/c/call.h"
#include "runtime/vk/device_function.h"

using namespace kiln;
using namespace kiln::c;

namespace {

constexpr size_t kMostStructs = 256;  // of a chain; a longer one is a circle

// What the caller enabled, as kiln looks at it. Structs of other types are skipped.
Result<vk::FeatureChain> TakeFeatures(const VkPhysicalDeviceFeatures2* features) {
  vk::FeatureChain out;
  const auto* row = reinterpret_cast<const VkBaseInStructure*>(features);
  // A chain in a circle would never end, so it is counted.
  for (size_t i = 0; row != nullptr; row = row->pNext, ++i) {
    if (i == kMostStructs) {
      return OutOfRange("structs behind info.features:", i, kMostStructs);
    }
    // Copied, since the chain of the caller may end after the call; the pointers in the copies are
    // set anew by Chain.
    if (row->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2) {
      std::memcpy(&out.core, row, sizeof(out.core));
    } else if (row->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES) {
      std::memcpy(&out.v11, row, sizeof(out.v11));
    } else if (row->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES) {
      std::memcpy(&out.v12, row, sizeof(out.v12));
    } else if (row->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES) {
      std::memcpy(&out.v13, row, sizeof(out.v13));
    }
  }
  out.Chain();
  return out;
}

// A device that the caller made. kiln neither destroys it nor knows what was enabled at its
// creation, so the caller has to say that; what is not said counts as not enabled.
Result<runtime::Device> Adopt(const kiln_adopted_device& info) {
  // The queue family cannot be checked like the rest, since 0 is the number of a real one.
  if (info.get_instance_proc_addr == nullptr || info.instance == VK_NULL_HANDLE ||
      info.physical_device == VK_NULL_HANDLE || info.device == VK_NULL_HANDLE) {
    return Error{ErrorCode::kInvalidArgument,
                 "'info' lacks the loader, the instance, the physical device or the device", ""};
  }
  KILN_TRY(const vk::FeatureChain features, TakeFeatures(info.features));
  KILN_TRY(const auto extensions,
           TakeArray(info.extensions, info.extension_count, "info.extensions"));
  // Names are viewed and not copied: the device looks at them within this call only.
  for (const char* const extension : extensions) {
    KILN_TRY_VOID(NotNull(extension, "info.extensions"));
  }
  return runtime::Device::Adopt({.get_instance_proc_addr = info.get_instance_proc_addr,
                                 .instance = info.instance,
                                 .physical_device = info.physical_device,
                                 .device = info.device,
                                 .queue_family = info.queue_family,
                                 .enabled_features = &features,
                                 .enabled_extensions = extensions});
}

// A device of kiln's own, for programs that have none. Messages of the validation go to the log of
// the context, which the callback therefore keeps alive.
Result<runtime::Device> Open(const kiln_device_info& info, const std::shared_ptr<Context>& log) {
  KILN_TRY(const std::string_view prefer, TakeText(info.prefer, "info.prefer"));
  KILN_TRY_VOID(CheckNumber(info.validation, 1, "info.validation"));
  return runtime::Device::Create({.prefer = prefer,
                                  .validation = info.validation != 0,
                                  .extensions = {},
                                  .instance_extensions = {},
                                  .messages = [log](const vk::Message& message) {
                                    log->Write(
                                        message.error ? LogLevel::kError : LogLevel::kWarning,
                                        "vulkan", message.text, {{"id", message.id}});
                                  }});
}

// Both ways to a device differ only in how it is made.
template <class Info, class Make>
kiln_result Create(kiln_context* context, const Info* info, kiln_device** device,
                   kiln_error** error, Make make) {
  return Call(context, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(context, "context"));
    KILN_TRY(const Info given, Take(info, "info"));
    KILN_TRY_VOID(NotNull(device, "device"));
    KILN_TRY(runtime::Device opened, make(given));
    auto made = std::make_unique<kiln_device>();
    made->context = context->context;
    // Shared, because graphs and pipelines that are made of it keep it, in whatever order the
    // caller destroys things.
    made->device = std::make_shared<runtime::Device>(std::move(opened));
    made->instance = made->device->instance();
    // Handed out last, when nothing can fail any more. An error never leaves a device behind.
    *device = made.release();
    return {};
  });
}

}  // namespace

kiln_result kiln_device_open(kiln_context* context, const kiln_device_info* info,
                             kiln_device** device, kiln_error** error) {
  return Create(context, info, device, error,
                [&](const kiln_device_info& given) { return Open(given, context->context); });
}

kiln_result kiln_device_adopt(kiln_context* context, const kiln_adopted_device* info,
                              kiln_device** device, kiln_error** error) {
  const kiln_result result = Create(context, info, device, error, Adopt);
  if (result == KILN_OK) {
    // The wrapped device does not know its instance, but the caller does.
    (*device)->instance = info->instance;
  }
  return result;
}

kiln_result kiln_device_get_handles(const kiln_device* device, kiln_device_handles* handles,
                                    kiln_error** error) {
  return Call(device, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(device, "device"));
    KILN_TRY_VOID(CheckRoom(handles, "handles"));
    // The size is written by Give, which knows how large the struct of the caller is.
    Give(kiln_device_handles{.struct_size = 0,
                             .instance = device->instance,
                             .physical_device = device->device->physical(),
                             .device = device->device->handle(),
                             .queue_family = device->device->queue_family()},
         handles);
    return {};
  });
}

// NULL in, NULL out, as the loader's own function does.
PFN_vkVoidFunction kiln_device_function(const kiln_device* device, const char* name) {
  return device == nullptr || name == nullptr ? nullptr
                                              : vk::DeviceFunction(device->device->handle(), name);
}

void kiln_device_destroy(kiln_device* device) { Destroy(device); }
