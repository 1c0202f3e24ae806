// SPDX-License-Identifier: MIT
#include "server/config.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "compiler/base/printable.h"
#include "server/config_table.h"

namespace kiln::server {
namespace {

using Variables = std::map<std::string, std::string>;

Environment EnvironmentOf(const Variables& variables) {
  return [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

// Of somebody who has a home.
Variables AtHome(Variables variables) {
  variables.emplace("HOME", "/home/a");
  return variables;
}

class ConfigFile {
 public:
  explicit ConfigFile(const std::string& text)
      : path_(testing::TempDir() + "/kilnd_config_test." + std::to_string(getpid()) + ".toml") {
    std::ofstream(path_) << text;
  }
  ~ConfigFile() { std::filesystem::remove(path_); }

  Result<Config> Load(const Variables& variables = {}, const Variables& flags = {}) const {
    return LoadConfig(
        {.flags = flags, .file = path_, .environment = EnvironmentOf(AtHome(variables))});
  }
  Result<Config> LoadAnywhere(const Variables& variables) const {
    return LoadConfig({.flags = {}, .file = path_, .environment = EnvironmentOf(variables)});
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

TEST(LoadConfig, WithoutAFolderOfTheUser_SaysWhatToSet) {
  const ConfigFile file("");
  const struct {
    Variables variables;
    std::string missing;
  } rows[] = {{{}, "cache.dir"},
              {{{"HOME", ""}}, "cache.dir"},
              {{{"HOME", "not/absolute"}}, "cache.dir"},
              {{{"XDG_RUNTIME_DIR", "/run/user/7"}}, "cache.dir"},
              {{{"KILN_CACHE_DIR", "/c"}}, "listen.unix"},
              {{{"KILN_CACHE_DIR", "/c"}, {"KILN_LISTEN_UNIX", "/r/s"}}, ""},
              {{{"XDG_CACHE_HOME", "/c"}}, ""},
              {{{"HOME", "/home/a"}}, ""}};
  for (const auto& row : rows) {
    const Result<Config> config = file.LoadAnywhere(row.variables);
    ASSERT_EQ(config.ok(), row.missing.empty()) << row.missing;
    if (config.ok()) {
      EXPECT_FALSE(config->socket.starts_with("/tmp")) << config->socket;
      EXPECT_FALSE(config->cache_dir.string().starts_with("/tmp")) << config->cache_dir;
    } else {
      EXPECT_TRUE(config.error().context.starts_with(row.missing + " has no default here"))
          << config.error().context;
    }
  }
}

TEST(LoadConfig, FileThatOthersMayWrite_IsReadOnlyIfItIsNamed) {
  const std::filesystem::path folder =
      testing::TempDir() + "/kilnd_config_home." + std::to_string(getpid());
  std::filesystem::create_directories(folder / "kiln");
  const std::filesystem::path file = folder / "kiln/kilnd.toml";
  std::ofstream(file) << "[jobs]\nworkers = 3\n";
  const Environment environment = EnvironmentOf(AtHome({{"XDG_CONFIG_HOME", folder.string()}}));
  const auto found = [&](mode_t mode) {
    EXPECT_EQ(chmod(file.c_str(), mode), 0);
    return LoadConfig({.flags = {}, .file = std::nullopt, .environment = environment});
  };
  EXPECT_EQ(found(0644)->workers, 3u);
  EXPECT_FALSE(found(0666).ok());
  EXPECT_FALSE(found(0664).ok());
  EXPECT_EQ(LoadConfig({.flags = {}, .file = file, .environment = environment})->workers, 3u);
  if (geteuid() == 0) {
    ASSERT_EQ(chown(file.c_str(), 65'534, 65'534), 0);
    EXPECT_FALSE(found(0644).ok());
  }
  std::filesystem::remove_all(folder);
}

TEST(LoadConfig, FileThatGoesTooDeepOrIsNone_IsRefused) {
  std::string deep = "a";
  for (int i = 0; i < 100'000; ++i) {
    deep += ".a";
  }
  const ConfigFile file(deep + " = 1\n");
  const Result<Config> config = file.Load();
  ASSERT_FALSE(config.ok());
  EXPECT_NE(config.error().context.find("a key of more than 32 parts"), std::string::npos)
      << config.error().context;
  const std::string pipe = testing::TempDir() + "/kilnd_config_pipe." + std::to_string(getpid());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const Result<Config> none =
      LoadConfig({.flags = {}, .file = pipe, .environment = EnvironmentOf(AtHome({}))});
  (void)unlink(pipe.c_str());
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().context.find("it is a pipe"), std::string::npos) << none.error().context;
}

TEST(LoadConfig, WeightsOfTenants_AreATableOrAList) {
  using Weights = std::map<std::string, uint32_t>;
  const ConfigFile file("[jobs.weights]\nnight = 1\nci = 4\n");
  EXPECT_EQ(file.Load()->weights, (Weights{{"ci", 4}, {"night", 1}}));
  EXPECT_EQ(file.Load({{"KILN_JOBS_WEIGHTS", "a=1000"}})->weights, (Weights{{"a", 1000}}));
  EXPECT_EQ(file.Load({}, {{"jobs.weights", ""}})->weights, Weights());
  for (const char* wrong : {"ci", "ci=0", "ci=1001", "=1", "ci=1,ci=2", ",ci=1"}) {
    EXPECT_FALSE(file.Load({}, {{"jobs.weights", wrong}}).ok()) << wrong;
  }
}

TEST(LoadConfig, Politeness_IsAFlagOrAuto) {
  EXPECT_EQ(ConfigFile("").Load()->polite, Config::Polite::kAuto);
  const ConfigFile file("[jobs]\npolite = true\n");
  EXPECT_EQ(file.Load()->polite, Config::Polite::kOn);
  EXPECT_EQ(file.Load({{"KILN_JOBS_POLITE", "false"}})->polite, Config::Polite::kOff);
  EXPECT_FALSE(file.Load({}, {{"jobs.polite", "yes"}}).ok());
}

TEST(LoadConfig, SecondLookAndIsolation_AreOffUnlessAskedFor) {
  const Result<Config> plain = ConfigFile("").Load();
  EXPECT_EQ(plain->twice_percent, 0u);
  EXPECT_EQ(plain->validate_percent, 0u);
  EXPECT_FALSE(plain->isolate_front_ends);
  const Result<Config> config = ConfigFile(
                                    "[audit]\ntwice_percent = 7\n"
                                    "[jobs]\nisolation = \"all\"\n"
                                    "[validate]\nspirv = \"on\"\n")
                                    .Load();
  ASSERT_TRUE(config.ok()) << config.error().context;
  EXPECT_EQ(config->twice_percent, 7u);
  EXPECT_EQ(config->validate_percent, 100u);
  EXPECT_TRUE(config->isolate_front_ends);
  EXPECT_EQ(ConfigFile("").Load({}, {{"validate.spirv", "5%"}})->validate_percent, 5u);
  struct Row {
    const char* key;
    const char* wrong;
  };
  for (const Row& row : {Row{"audit.twice_percent", "101"}, Row{"audit.twice_percent", "5%"},
                         Row{"validate.spirv", "0%"}, Row{"validate.spirv", "true"},
                         Row{"jobs.isolation", "none"}}) {
    EXPECT_FALSE(ConfigFile("").Load({}, {{row.key, row.wrong}}).ok()) << row.key;
  }
}

TEST(LoadConfig, LimitsOfTheService_HaveBounds) {
  const ConfigFile file("[limits]\nstreams = 7\nheader_list = \"32K\"\nidle = \"1h\"\n");
  const Result<Config> config = file.Load();
  ASSERT_TRUE(config.ok()) << config.error().context;
  EXPECT_EQ(config->limits.streams, 7u);
  EXPECT_EQ(config->limits.header_list, 32u << 10);
  EXPECT_EQ(config->limits.idle, std::chrono::hours(1));
  EXPECT_EQ(config->limits.watch_sessions, 64u);
  struct Row {
    const char* key;
    const char* wrong;
  };
  for (const Row& row :
       {Row{"limits.streams", "0"}, Row{"limits.streams", "10001"},
        Row{"limits.header_list", "1023"}, Row{"limits.header_list", "2M"},
        Row{"limits.idle", "99ms"}, Row{"limits.idle", "2d"}, Row{"limits.handshake", "0"},
        Row{"limits.watch_sessions", "0"}, Row{"limits.watch_subscribers", "many"}}) {
    EXPECT_FALSE(file.Load({}, {{row.key, row.wrong}}).ok()) << row.key << " " << row.wrong;
  }
}

TEST(LoadConfig, LimitsOfTheLanguage_HaveTheRangesOfTheirTable) {
  const ConfigFile file("");
  EXPECT_EQ(file.Load()->language_limits, LanguageLimits());
  for (const LanguageLimitRow& row : LanguageLimitTable()) {
    const std::string key = "limits." + std::string(row.name);
    const auto keys = ConfigTable();
    const auto known = std::ranges::find(keys, key, &ConfigKey::key);
    ASSERT_NE(known, keys.end()) << key;
    Config config;
    config.language_limits.*row.value = 0;
    EXPECT_TRUE(known->read(known->fallback, config)) << key;
    EXPECT_EQ(config.language_limits, LanguageLimits()) << key;
    for (const uint32_t good : {row.least, row.most}) {
      const Result<Config> loaded = file.Load({}, {{key, std::to_string(good)}});
      ASSERT_TRUE(loaded.ok()) << key << " " << good;
      EXPECT_EQ(loaded->language_limits.*row.value, good);
    }
    for (const uint64_t wrong : {uint64_t{row.least} - 1, uint64_t{row.most} + 1}) {
      const Result<Config> loaded = file.Load({}, {{key, std::to_string(wrong)}});
      ASSERT_FALSE(loaded.ok()) << key << " " << wrong;
      EXPECT_NE(loaded.error().context.find(key), std::string::npos) << loaded.error().context;
      EXPECT_NE(loaded.error().context.find(known->expected), std::string::npos)
          << loaded.error().context;
    }
  }
}

TEST(LoadConfig, MaxAge_IsNothingOrAtLeastAnHour) {
  EXPECT_EQ(ConfigFile("").Load()->cache_max_age, Duration::zero());
  const ConfigFile file("[cache]\nmax_age = \"90d\"\n");
  EXPECT_EQ(file.Load()->cache_max_age, std::chrono::hours(90 * 24));
  EXPECT_EQ(file.Load({{"KILN_CACHE_MAX_AGE", "1h"}})->cache_max_age, std::chrono::hours(1));
  EXPECT_EQ(file.Load({}, {{"cache.max_age", "0"}})->cache_max_age, Duration::zero());
  for (const char* wrong : {"59m", "1ms", "90", "never", "-1h", "1000000d"}) {
    EXPECT_FALSE(file.Load({}, {{"cache.max_age", wrong}}).ok()) << wrong;
  }
}

TEST(LoadConfig, OtlpFile_IsBelowTheCacheOrAbsolute) {
  const Variables variables = {{"KILN_CACHE_DIR", "/var/cache/kiln"}};
  EXPECT_EQ(ConfigFile("").Load(variables)->otlp, "");
  const ConfigFile file("[trace]\notlp = \"out/traces.jsonl\"\n");
  EXPECT_EQ(file.Load(variables)->otlp, "/var/cache/kiln/out/traces.jsonl");
  EXPECT_EQ(file.Load(variables, {{"trace.otlp", "/var/log/kiln/t.jsonl"}})->otlp,
            "/var/log/kiln/t.jsonl");
  EXPECT_EQ(file.Load(variables, {{"trace.otlp", "off"}})->otlp, "");
  for (const char* wrong : {"../t.jsonl", "a/../../t.jsonl", "folder/", ""}) {
    EXPECT_FALSE(file.Load(variables, {{"trace.otlp", wrong}}).ok()) << wrong;
  }
}

TEST(LoadConfig, RequestMessage_HasARange) {
  const ConfigFile file("[limits]\nrequest_message = \"8M\"\n");
  EXPECT_EQ(file.Load()->limits.request_message, 8u << 20);
  for (const char* wrong : {"1M", "65M", "4096", "many"}) {
    EXPECT_FALSE(file.Load({}, {{"limits.request_message", wrong}}).ok()) << wrong;
  }
}

TEST(LoadConfig, WrongFile_IsRefusedWithLineAndHelp) {
  struct Row {
    const char* text;
    const char* expected;  // part of the message
  };
  const Row rows[] = {
      {"[cache]\nmax_sise = \"1G\"\n",
       ":2: unknown key 'cache.max_sise'; did you mean "
       "'cache.max_size'?"},
      {"[jobs]\n\nworkers = 0\n", ":3: 'jobs.workers' = '0' is not a number from 1 to 1024"},
      {"[cache]\nmemory = \"12Q\"\n", ":2: 'cache.memory' = '12Q' is not a size like 256M"},
      {"[lifecycle]\nidle_timeout = true\n",
       ":2: 'lifecycle.idle_timeout' = 'true' is not a duration"},
      {"workers = 3\n", ":1: unknown key 'workers'"},
      {"\"security.allow_uids\" = [7]\n",
       ":1: 'security.allow_uids' in quotes is no key of a table"},
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

// An error is told to terminals, to the log and to whoever asked for a reload.
TEST(LoadConfig, WhatIsNotSeen_IsSpelledOutInErrors) {
  const char* const rows[] = {"[cache]\n\"a\\u001b[31m\\u202Eb\" = 1\n",
                              "\"a\\u001b\\u202E\" = 1\n",
                              "[cache]\nmemory = \"\\u001b\\u202E\"\n"};
  for (const char* text : rows) {
    const Result<Config> config = ConfigFile(text).Load();
    ASSERT_FALSE(config.ok()) << text;
    EXPECT_TRUE(IsPrintable(config.error().context)) << config.error().context;
    EXPECT_NE(config.error().context.find("\\x1b"), std::string::npos) << config.error().context;
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
                      {"1GB", 1ull << 30},
                      {"1GX", std::nullopt},
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

TEST(ConfigTable, IsSortedAndEveryDefaultReads) {
  std::string_view last;
  for (const ConfigKey& row : ConfigTable()) {
    EXPECT_LT(last, row.key);
    last = row.key;
    Config config;
    EXPECT_TRUE(row.fallback.empty() || row.read(row.fallback, config)) << row.key;
    EXPECT_FALSE(row.meaning.empty() || row.expected.empty()) << row.key;
  }
}

TEST(LoadConfig, Values_SayWhereTheyComeFrom) {
  const ConfigFile file("[jobs]\nworkers = 3\n");
  const Result<Config> config = file.Load({{"KILN_QUEUE_BATCH", "9"}}, {{"cache.max_size", "1G"}});
  ASSERT_TRUE(config.ok());
  std::map<std::string_view, std::pair<std::string, std::string>> shown;
  for (const ConfigValue& value : config->values) {
    shown[value.key] = {value.text, value.origin};
  }
  EXPECT_EQ(shown.size(), ConfigTable().size());
  EXPECT_EQ(shown["jobs.workers"], std::pair(std::string("3"), config->file + ":2"));
  EXPECT_EQ(shown["queue.batch"], std::pair(std::string("9"), std::string("KILN_QUEUE_BATCH")));
  EXPECT_EQ(shown["cache.max_size"], std::pair(std::string("1G"), std::string("--cache.max_size")));
  EXPECT_EQ(shown["log.level"], std::pair(std::string("info"), std::string("default")));
}

TEST(LoadConfig, Paths_AreRelativeToWhereTheyBelong) {
  const Result<Config> config =
      ConfigFile("[tls]\ncert = \"a.pem\"\nkey = \"/k.pem\"\n").Load({}, {{"cache.dir", "/c"}});
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->tls_cert, std::filesystem::path(config->file).parent_path() / "a.pem");
  EXPECT_EQ(config->tls_key, "/k.pem");
  EXPECT_EQ(config->tls_client_ca, "");
  EXPECT_EQ(config->audit_log, "/c/audit.jsonl");
}

TEST(LoadConfig, FilesOfAnUpstream_AreRelativeToTheFileOfTheConfiguration) {
  const Result<Config> config =
      ConfigFile(
          "[[upstream]]\nurl = \"https://a:1\"\ntls_ca = \"ca.pem\"\ntls_cert = \"a.pem\"\n"
          "tls_key = \"/a.key\"\ntoken_file = \"a.token\"\n[[upstream]]\nurl = \"unix:/b\"\n")
          .Load();
  ASSERT_TRUE(config.ok()) << config.error().context;
  ASSERT_EQ(config->upstreams.size(), 2u);
  const std::filesystem::path folder = std::filesystem::path(config->file).parent_path();
  EXPECT_EQ(config->upstreams[0].tls_ca, folder / "ca.pem");
  EXPECT_EQ(config->upstreams[0].tls_cert, folder / "a.pem");
  EXPECT_EQ(config->upstreams[0].tls_key, "/a.key");
  EXPECT_EQ(config->upstreams[0].token_file, folder / "a.token");
  EXPECT_EQ(config->upstreams[1].tls_ca + config->upstreams[1].tls_cert, "");
}

TEST(LoadConfig, UpstreamsThatCannotBe_AreRefused) {
  const std::pair<const char*, const char*> table[] = {
      {"url = \"http://127.0.0.1:1\"", "is not unix:PATH or https://HOST:PORT"},
      {"url = \"unix:/a\"\ntls_ca = \"a\"", "are of https"},
      {"url = \"unix:/a\"\ntls_cert = \"a\"\ntls_key = \"a\"", "are of https"},
      {"url = \"https://a:1\"\ntls_cert = \"a\"", "go together"},
      {"url = \"https://a:1\"\ntls_key = \"a\"", "go together"},
      {"tls_ca = \"a\"", "an upstream needs a url"}};
  for (const auto& [rows, why] : table) {
    const Result<Config> config = ConfigFile(std::string("[[upstream]]\n") + rows + "\n").Load();
    ASSERT_FALSE(config.ok()) << rows;
    EXPECT_NE(config.error().context.find(why), std::string::npos) << config.error().context;
  }
  EXPECT_FALSE(ConfigFile("").Load({}, {{"upstream.tls_ca", "a"}}).ok());  // of which?
}

TEST(Compare, Changes_AreSortedByWhenTheyHold) {
  const Result<Config> before = ConfigFile("").Load();
  const Result<Config> after =
      ConfigFile("").Load({}, {{"log.level", "debug"}, {"jobs.workers", "1023"}});
  const ConfigChange change = Compare(*before, *before, *after);
  EXPECT_EQ(change.at_once, std::vector<std::string_view>{"log.level"});
  EXPECT_EQ(change.at_restart, std::vector<std::string_view>{"jobs.workers"});
}

// What was read and waits for a restart does not hold: it is told of each time, and not when it is
// taken back.
TEST(Compare, WhatWaitsForARestart_IsComparedWithWhatHolds) {
  const Result<Config> started = ConfigFile("").Load();
  const Result<Config> edited =
      ConfigFile("").Load({}, {{"log.level", "debug"}, {"jobs.workers", "1023"}});
  const ConfigChange again = Compare(*started, *edited, *edited);
  EXPECT_TRUE(again.at_once.empty());
  EXPECT_EQ(again.at_restart, std::vector<std::string_view>{"jobs.workers"});
  const ConfigChange back = Compare(*started, *edited, *started);
  EXPECT_EQ(back.at_once, std::vector<std::string_view>{"log.level"});
  EXPECT_TRUE(back.at_restart.empty());
}

}  // namespace
}  // namespace kiln::server
