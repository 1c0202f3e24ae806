// SPDX-License-Identifier: MIT
// Says where the driver keeps compiled shaders of its own, from the variables that drivers
// document. It is a text for `kiln doctor` and measurements: who compares times of pipelines must
// know whether that cache was there. Nothing is read from the disk.
#include "client/cli/daemon/driver_cache.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "runtime/vk/table.h"

namespace kiln::cli {
namespace {

// Drivers that are built from Mesa share one disk cache and its variables.
constexpr uint32_t kMesaDrivers[] = {
    VK_DRIVER_ID_MESA_RADV,     VK_DRIVER_ID_INTEL_OPEN_SOURCE_MESA,
    VK_DRIVER_ID_MESA_LLVMPIPE, VK_DRIVER_ID_MESA_TURNIP,
    VK_DRIVER_ID_MESA_V3DV,     VK_DRIVER_ID_MESA_PANVK,
    VK_DRIVER_ID_MESA_VENUS,    VK_DRIVER_ID_MESA_DOZEN,
};

// The rules of the XDG base directories, which both families of drivers follow.
std::string CacheHome(const Environment& environment) {
  const std::string folder = environment("XDG_CACHE_HOME");
  return folder.empty() ? environment("HOME") + "/.cache" : folder;
}

std::string MesaText(const Environment& environment) {
  const std::string off = environment("MESA_SHADER_CACHE_DISABLE");
  if (off == "true" || off == "1") {
    return fmt::format("switched off by MESA_SHADER_CACHE_DISABLE={}", off);
  }
  const std::string folder = environment("MESA_SHADER_CACHE_DIR");
  return fmt::format("in {}/mesa_shader_cache", folder.empty() ? CacheHome(environment) : folder);
}

std::string NvidiaText(const Environment& environment) {
  if (environment("__GL_SHADER_DISK_CACHE") == "0") {
    return "switched off by __GL_SHADER_DISK_CACHE=0";
  }
  const std::string folder = environment("__GL_SHADER_DISK_CACHE_PATH");
  return fmt::format("in {}/GLCache", folder.empty() ? CacheHome(environment) + "/nvidia" : folder);
}

}  // namespace

// The environment is a parameter, so that tests need not change that of their process.
std::string DriverCacheText(uint32_t driver_id, const Environment& environment) {
  if (std::ranges::find(kMesaDrivers, driver_id) != std::end(kMesaDrivers)) {
    return MesaText(environment);
  }
  return driver_id == VK_DRIVER_ID_NVIDIA_PROPRIETARY ? NvidiaText(environment)
                                                      : "unknown for this driver";
}

}  // namespace kiln::cli
