// SPDX-License-Identifier: MIT
// What a command costs from its start to its end: `kiln version`, its help, and a compile that a
// warm daemon has, beside /bin/true and beside a process that makes one bare call. See spec/cli 12
//
// usage: start_bench [--json] [--rounds N]
//        start_bench --call ADDRESS   (the peer: one call, then the end)
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "client/client.h"

namespace {

namespace fs = std::filesystem;

// Medians over the rounds, in milliseconds.
struct Cost {
  double wall = 0;
  double cpu = 0;  // of the process: user and system
};

struct Command {
  std::string name;
  std::vector<std::string> words;
  double gate = 0;  // milliseconds of wall time; 0: a peer
  std::vector<Cost> samples = {};
  Cost median = {};
};

double Milliseconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) * 1e-3;
}

// Runs it once with its output thrown away. False if it does not end with 0.
bool Run(const std::vector<std::string>& words, Cost& cost) {
  std::vector<std::string> copy = words;
  std::vector<char*> argv;
  argv.reserve(copy.size() + 1);
  for (std::string& word : copy) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int descriptor : {1, 2}) {
    posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0);
  }
  const auto begun = std::chrono::steady_clock::now();
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    fmt::print(stderr, "error: cannot run '{}': {}\n", words[0], std::strerror(failed));
    return false;
  }
  int status = 0;
  rusage usage{};
  while (::wait4(pid, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begun;
  cost = {.wall = took.count(), .cpu = Milliseconds(usage.ru_utime) + Milliseconds(usage.ru_stime)};
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

double Median(const std::vector<Cost>& samples, double Cost::*member) {
  std::vector<double> values;
  values.reserve(samples.size());
  for (const Cost& sample : samples) {
    values.push_back(sample.*member);
  }
  std::ranges::nth_element(values, values.begin() + static_cast<ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

// All commands take turns, so that all meet the same machine.
bool Measure(std::vector<Command>& commands, int rounds) {
  Cost cost;
  for (const Command& command : commands) {
    if (!Run(command.words, cost)) {  // files into memory, the daemon started, its cache filled
      fmt::print(stderr, "error: '{}' failed\n", command.name);
      return false;
    }
  }
  for (int round = 0; round < rounds; ++round) {
    for (Command& command : commands) {
      if (!Run(command.words, cost)) {
        fmt::print(stderr, "error: '{}' failed\n", command.name);
        return false;
      }
      command.samples.push_back(cost);
    }
  }
  for (Command& command : commands) {
    command.median = {.wall = Median(command.samples, &Cost::wall),
                      .cpu = Median(command.samples, &Cost::cpu)};
  }
  return true;
}

void Print(const std::vector<Command>& commands, bool json) {
  if (!json) {
    for (const Command& command : commands) {
      fmt::print("{:<14} {:>7.2f} ms wall, {:>7.2f} ms of CPU{}\n", command.name,
                 command.median.wall, command.median.cpu,
                 command.gate == 0 ? "" : fmt::format("   (at most {} ms)", command.gate));
    }
    return;
  }
  std::string rows;
  std::string gates;
  for (const Command& command : commands) {
    rows += fmt::format("{}\"{}\": {{\"wall_ms\": {:.3f}, \"cpu_ms\": {:.3f}}}",
                        rows.empty() ? "" : ", ", command.name, command.median.wall,
                        command.median.cpu);
    if (command.gate != 0) {
      std::string name = command.name;
      std::ranges::replace(name, ' ', '_');
      gates += fmt::format("{}\"start_{}_ms\": {{\"value\": {:.3f}, \"gate\": {}, \"ok\": {}}}",
                           gates.empty() ? "" : ", ", name, command.median.wall, command.gate,
                           command.median.wall <= command.gate);
    }
  }
  fmt::print("{{\"start\": {{{}}}, \"gates\": {{{}}}}}\n", rows, gates);
}

// The peer: what any client with this transport costs.
int CallOnce(const std::string& address) {
  const bool answered =
      kiln::client::Client::Open(address)->Ping(std::chrono::milliseconds(2'000)).ok();
  std::_Exit(answered ? 0 : 1);  // as kiln ends
}

int Bench(bool json, int rounds) {
  std::string folder = fs::temp_directory_path().string() + "/kiln_start_XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) {
    fmt::print(stderr, "error: cannot make '{}'\n", folder);
    return 2;
  }
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  const std::string kiln = (fs::path(self).parent_path() / "kiln").string();
  const std::string address = "unix:" + folder + "/kilnd.sock";
  (void)::setenv("KILN_DAEMON", address.c_str(), 1);
  (void)::setenv("KILN_CACHE_DIR", (folder + "/cache").c_str(), 1);
  (void)::setenv("KILN_CACHE_MIN_FREE", "0", 1);
  const std::string uber = std::string(KILN_SOURCE_DIR) + "/tests/bench/shaders/uber.rpl";
  const std::vector<std::string> compile{kiln,
                                         "compile",
                                         uber,
                                         "--entry",
                                         "vertex=vertex_main",
                                         "--entry",
                                         "fragment=fragment_main",
                                         "--out",
                                         folder + "/out"};
  Cost ignored;
  const bool started = Run({kiln, "start"}, ignored);
  std::vector<Command> commands{{.name = "true", .words = {"/bin/true"}},
                                {.name = "version", .words = {kiln, "--version"}, .gate = 10},
                                {.name = "help", .words = {kiln, "--help"}, .gate = 10},
                                {.name = "bare call", .words = {self, "--call", address}},
                                {.name = "warm compile", .words = compile, .gate = 25}};
  const bool measured = started && Measure(commands, rounds);
  (void)Run({kiln, "stop"}, ignored);
  std::error_code error;
  fs::remove_all(folder, error);
  if (!measured) {
    return 2;
  }
  Print(commands, json);
  return std::ranges::all_of(commands,
                             [](const Command& command) {
                               return command.gate == 0 || command.median.wall <= command.gate;
                             })
             ? 0
             : 1;
}

}  // namespace

int main(int argc, char** argv) {
  bool json = false;
  int rounds = 41;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--call" && i + 1 < argc) {
      return CallOnce(argv[i + 1]);
    }
    json = json || word == "--json";
    if (word == "--rounds" && i + 1 < argc) {
      rounds = std::max(1, static_cast<int>(std::strtol(argv[++i], nullptr, 10)));
    }
  }
  return Bench(json, rounds);
}
