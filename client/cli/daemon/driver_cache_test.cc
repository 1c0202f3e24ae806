// SPDX-License-Identifier: MIT
#include "client/cli/daemon/driver_cache.h"

#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/vk/table.h"

namespace kiln::cli {
namespace {

TEST(DriverCacheText, EveryDriver_ByItsEnvironment) {
  struct Row {
    uint32_t driver;
    std::map<std::string, std::string> environment;
    std::string text;
  };
  const std::vector<Row> rows = {
      {VK_DRIVER_ID_MESA_LLVMPIPE,
       {{"HOME", "/home/ada"}},
       "in /home/ada/.cache/mesa_shader_cache"},
      {VK_DRIVER_ID_MESA_RADV,
       {{"HOME", "/home/ada"}, {"XDG_CACHE_HOME", "/fast"}},
       "in /fast/mesa_shader_cache"},
      {VK_DRIVER_ID_MESA_LLVMPIPE,
       {{"XDG_CACHE_HOME", "/fast"}, {"MESA_SHADER_CACHE_DIR", "/own"}},
       "in /own/mesa_shader_cache"},
      {VK_DRIVER_ID_MESA_LLVMPIPE,
       {{"HOME", "/home/ada"}, {"MESA_SHADER_CACHE_DISABLE", "true"}},
       "switched off by MESA_SHADER_CACHE_DISABLE=true"},
      {VK_DRIVER_ID_NVIDIA_PROPRIETARY,
       {{"HOME", "/home/ada"}},
       "in /home/ada/.cache/nvidia/GLCache"},
      {VK_DRIVER_ID_NVIDIA_PROPRIETARY,
       {{"__GL_SHADER_DISK_CACHE_PATH", "/own"}},
       "in /own/GLCache"},
      {VK_DRIVER_ID_NVIDIA_PROPRIETARY,
       {{"__GL_SHADER_DISK_CACHE", "0"}},
       "switched off by __GL_SHADER_DISK_CACHE=0"},
      {VK_DRIVER_ID_MOLTENVK, {}, "unknown for this driver"},
  };
  for (const Row& row : rows) {
    const Environment environment = [&](const char* name) {
      const auto found = row.environment.find(name);
      return found == row.environment.end() ? std::string() : found->second;
    };
    EXPECT_EQ(DriverCacheText(row.driver, environment), row.text);
  }
}

}  // namespace
}  // namespace kiln::cli
