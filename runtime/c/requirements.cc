// SPDX-License-Identifier: MIT
#include "runtime/c/requirements.h"

#include <cstring>
#include <utility>

#include "runtime/c/arguments.h"
#include "runtime/c/call.h"
#include "runtime/c/source.h"

using namespace kiln;
using namespace kiln::c;

namespace {

// Checked first for all structs and written afterwards, so that an error leaves the structs of the
// caller as they were.
enum class MergeStep : uint8_t { kCheck, kWrite };

// Sets in `into`, which the caller may not have, what is set in `needed`: members of VkBool32
// behind `head` bytes. The rest of `into` stays as it is.
// The structs of features are rows of flags behind a head, and so they are merged without naming
// each flag; a new version of Vulkan needs no new code here.
Result<void> Merge(MergeStep step, const void* needed, void* into, size_t head, size_t size,
                   std::string_view name) {
  const auto* const from = static_cast<const std::byte*>(needed);
  auto* const to = static_cast<std::byte*>(into);
  for (size_t at = head; at + sizeof(VkBool32) <= size; at += sizeof(VkBool32)) {
    VkBool32 on = VK_FALSE;
    // Copied and not read through a pointer: the structs are of other types than the flag.
    std::memcpy(&on, from + at, sizeof(on));
    // A flag that is not needed is left as the caller has it, and a struct without any needed flag
    // may be missing.
    if (on == VK_FALSE) {
      continue;
    }
    if (into == nullptr) {
      return NullError(name);
    }
    if (step == MergeStep::kWrite) {
      std::memcpy(to + at, &on, sizeof(on));
    }
  }
  return {};
}

Result<void> MergeAll(MergeStep step, const vk::FeatureChain& needed,
                      const kiln_feature_structs& into) {
  // The head is type and chain, with the padding that the platform puts between them.
  constexpr size_t kHead = offsetof(VkPhysicalDeviceVulkan11Features, storageBuffer16BitAccess);
  static_assert(kHead == offsetof(VkPhysicalDeviceVulkan12Features, samplerMirrorClampToEdge) &&
                kHead == offsetof(VkPhysicalDeviceVulkan13Features, robustImageAccess));
  const VkPhysicalDeviceFeatures& core = needed.core.features;
  KILN_TRY_VOID(Merge(step, &core, into.core, 0, sizeof(core), "structs.core"));
  KILN_TRY_VOID(
      Merge(step, &needed.v11, into.vulkan11, kHead, sizeof(needed.v11), "structs.vulkan11"));
  KILN_TRY_VOID(
      Merge(step, &needed.v12, into.vulkan12, kHead, sizeof(needed.v12), "structs.vulkan12"));
  return Merge(step, &needed.v13, into.vulkan13, kHead, sizeof(needed.v13), "structs.vulkan13");
}

}  // namespace

kiln_result kiln_device_requirements(const kiln_source* source, kiln_requirements** requirements,
                                     kiln_error** error) {
  return Call(source, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(source, "source"));
    KILN_TRY_VOID(NotNull(requirements, "requirements"));
    auto made = std::make_unique<kiln_requirements>();
    made->context = source->context;
    KILN_TRY(made->all, runtime::RequirementsOf(*source->source));
    *requirements = made.release();
    return {};
  });
}

// One list for C: features first, extensions behind them.
uint32_t kiln_requirements_count(const kiln_requirements* requirements) {
  return requirements == nullptr ? 0
                                 : static_cast<uint32_t>(requirements->all.features.size() +
                                                         requirements->all.extensions.size());
}

kiln_result kiln_requirements_get(const kiln_requirements* requirements, uint32_t index,
                                  kiln_requirement* requirement, kiln_error** error) {
  return Call(requirements, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(requirements, "requirements"));
    KILN_TRY_VOID(CheckRoom(requirement, "requirement"));
    const uint32_t count = kiln_requirements_count(requirements);
    if (index >= count) {
      return OutOfRange("requirement", index, count);
    }
    const auto& features = requirements->all.features;
    const bool feature = index < features.size();
    const runtime::DeviceNeed& need =
        feature ? features[index] : requirements->all.extensions[index - features.size()];
    Give(kiln_requirement{.struct_size = 0,
                          .kind = feature ? static_cast<uint32_t>(KILN_REQUIREMENT_FEATURE)
                                          : static_cast<uint32_t>(KILN_REQUIREMENT_EXTENSION),
                          .name = TextOf(need.name),
                          .program = TextOf(need.program)},
         requirement);
    return {};
  });
}

kiln_result kiln_requirements_enable(const kiln_requirements* requirements,
                                     const kiln_feature_structs* structs, kiln_error** error) {
  return Call(requirements, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(requirements, "requirements"));
    KILN_TRY(const kiln_feature_structs given, Take(structs, "structs"));
    // A full chain of kiln's own is filled first, since the caller may have only some of the
    // structs; what is missing matters only if something in it is needed.
    vk::FeatureChain needed;
    KILN_TRY_VOID(runtime::EnableFeatures(requirements->all, needed));
    // Two passes, see MergeStep.
    KILN_TRY_VOID(MergeAll(MergeStep::kCheck, needed, given));
    return MergeAll(MergeStep::kWrite, needed, given);
  });
}

void kiln_requirements_destroy(kiln_requirements* requirements) { Destroy(requirements); }
