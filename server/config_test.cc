// SPDX-License-Identifier: MIT
#include "server/config.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <gtest/gtest.h>

namespace kiln::server {
namespace {

using Variables = std::map<std::string, std::string>;

Environment EnvironmentOf(const Variables& variables) {
  return [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

class ConfigFile {
 public:
  explicit ConfigFile(const std::string& text)
      : path_(testing::TempDir() + "/kilnd_config_test." + std::to_string(getpid()) + ".toml") {
    std::ofstream(path_) << text;
  }
  ~ConfigFile() { std::filesystem::remove(path_); }

  Result<Config> Load(const Variables& variables = {}, const Variables& flags = {}) const {
    return LoadConfig({.flags = flags, .file = path_, .environment = EnvironmentOf(variables)});
  }

 private:
  const std::string path_;
};

TEST(LoadConfig, FlagBeforeEnvironmentBeforeFile) {
  const ConfigFile file("[jobs]\nworkers = 3\n[queue]\nbatch = 7\n[cache]\nmax_size = \"5G\"\n");
  const Result<Config> config = file.Load(
      {{"KILN_JOBS_WORKERS", "4"}, {"KILN_CACHE_MAX_SIZE", "6G"}}, {{"jobs.workers", "5"}});
  ASSERT_TRUE(config.ok()) << config.error().context;
  EXPECT_EQ(config->workers, 5u);
  EXPECT_EQ(config->cache_max_bytes, uint64_t{6} << 30);
  EXPECT_EQ(config->queue_batch, 7u);
  EXPECT_EQ(config->queue_interactive, 256u);  // default
}

TEST(LoadConfig, Directories_FollowTheEnvironment) {
  const ConfigFile file("");
  const Result<Config> config =
      file.Load({{"XDG_RUNTIME_DIR", "/run/user/7"}, {"XDG_CACHE_HOME", "/home/a/cache"}});
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->socket, "/run/user/7/kiln/kilnd.sock");
  EXPECT_EQ(config->cache_dir, "/home/a/cache/kiln");
}

TEST(LoadConfig, WrongFile_IsRefusedWithLineAndHelp) {
  struct Row {
    const char* text;
    const char* expected;  // part of the message
  };
  const Row rows[] = {
      {"[cache]\nmax_sise = \"1G\"\n",
       ":2: unknown key 'cache.max_sise'; the closest is "
       "'cache.max_size'"},
      {"[jobs]\n\nworkers = 0\n", ":3: 'jobs.workers' = '0' is not a number from 1 to 1024"},
      {"[cache]\nmemory = \"12Q\"\n", ":2: 'cache.memory' = '12Q' is not a size like 256M"},
      {"[lifecycle]\nidle_timeout = true\n", ":2: 'lifecycle.idle_timeout' = '' is not a duration"},
      {"workers = 3\n", ":1: unknown key 'workers'"},
      {"[cache\n", ":1:"},
  };
  for (const Row& row : rows) {
    const Result<Config> config = ConfigFile(row.text).Load();
    ASSERT_FALSE(config.ok()) << row.text;
    EXPECT_EQ(config.error().reason, "BAD_CONFIG");
    EXPECT_NE(config.error().context.find(row.expected), std::string::npos)
        << config.error().context;
  }
}

TEST(LoadConfig, SizesAndDurations_HaveUnits) {
  struct Row {
    const char* text;
    std::optional<uint64_t> bytes;
  };
  const Row rows[] = {{"0", 0},
                      {"17", 17},
                      {"3K", 3072},
                      {"2M", 2u << 20},
                      {"1T", 1ull << 40},
                      {"20000000T", std::nullopt},
                      {"G", std::nullopt},
                      {"1GB", std::nullopt},
                      {"-1", std::nullopt}};
  for (const Row& row : rows) {
    const Result<Config> config = ConfigFile("").Load({}, {{"cache.memory", row.text}});
    EXPECT_EQ(config.ok(), row.bytes.has_value()) << row.text;
    if (config.ok()) {
      EXPECT_EQ(config->cache_memory_bytes, *row.bytes) << row.text;
    }
  }
  const Result<Config> config = ConfigFile("").Load({}, {{"lifecycle.drain_timeout", "1500ms"}});
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->drain_timeout, std::chrono::milliseconds(1500));
}

}  // namespace
}  // namespace kiln::server
