// SPDX-License-Identifier: MIT
#include "server/ops/machine.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <unistd.h>

namespace kiln::ops {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { (void)std::fclose(file); }
};

// The beginning of a file of the kernel.
std::string Line(const std::string& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "re"));
  char text[256] = {};
  return file != nullptr && std::fgets(text, sizeof text, file.get()) != nullptr ? text : "";
}

}  // namespace

uint64_t ResidentBytes() {
  unsigned long long size = 0, resident = 0;
  const std::string line = Line("/proc/self/statm");
  return std::sscanf(line.c_str(), "%llu %llu", &size, &resident) == 2
             ? resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE))
             : 0;
}

uint64_t MemoryBytes() {
  const uint64_t machine =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const std::string line = Line("/sys/fs/cgroup/memory.max");  // "max" if there is none
  uint64_t group = 0;
  (void)std::from_chars(line.data(), line.data() + line.size(), group);
  return group == 0 ? machine : std::min(machine, group);
}

std::optional<double> Pressure(const std::string& resource) {
  const std::string line = Line("/proc/pressure/" + resource);  // "some avg10=0.12 avg60=…"
  double percent = 0;
  if (std::sscanf(line.c_str(), "some avg10=%lf", &percent) != 1) {
    return std::nullopt;
  }
  return percent / 100;
}

}  // namespace kiln::ops
