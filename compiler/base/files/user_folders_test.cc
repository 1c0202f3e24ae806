// SPDX-License-Identifier: MIT
#include "compiler/base/files/user_folders.h"

#include <map>

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(UserFolders, AreOfTheUserOrNowhere) {
  const struct {
    std::map<std::string, std::string> set;
    std::string socket, cache, config;
  } rows[] = {
      {{}, "", "", ""},
      {{{"HOME", "/home/a"}},
       "/home/a/.cache/kiln/run/kilnd.sock",
       "/home/a/.cache/kiln",
       "/home/a/.config/kiln"},
      {{{"HOME", "/home/a"},
        {"XDG_RUNTIME_DIR", "/run/user/7"},
        {"XDG_CACHE_HOME", "/c"},
        {"XDG_CONFIG_HOME", "/d"}},
       "/run/user/7/kiln/kilnd.sock",
       "/c/kiln",
       "/d/kiln"},
      {{{"XDG_CACHE_HOME", "/c"}}, "/c/kiln/run/kilnd.sock", "/c/kiln", ""},
      {{{"HOME", ""}, {"XDG_RUNTIME_DIR", ""}, {"XDG_CACHE_HOME", ""}}, "", "", ""},
      {{{"HOME", "here"}, {"XDG_RUNTIME_DIR", "run"}, {"XDG_CONFIG_HOME", "../x"}}, "", "", ""}};
  for (const auto& row : rows) {
    const Variables variables = [&](const std::string& name) {
      const auto found = row.set.find(name);
      return found == row.set.end() ? std::nullopt : std::optional(found->second);
    };
    EXPECT_EQ(UserSocket(variables), row.socket);
    EXPECT_EQ(UserCacheFolder(variables), row.cache);
    EXPECT_EQ(UserConfigFolder(variables), row.config);
  }
}

}  // namespace
}  // namespace kiln
