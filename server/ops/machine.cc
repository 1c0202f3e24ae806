// SPDX-License-Identifier: MIT
#include "server/ops/machine.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace kiln::ops {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { (void)std::fclose(file); }
};

// The first line of a file in /proc or /sys.
// One line is enough for each file that is read here, and a stack buffer is enough for one line. A
// file that is not there is an empty line, and each caller has an answer for that.
std::string Line(const std::string& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "re"));
  char text[256] = {};
  return file != nullptr && std::fgets(text, sizeof text, file.get()) != nullptr ? text : "";
}

template <class Number>
std::optional<Number> NumberAfter(std::string_view words, std::string_view line) {
  const size_t at = line.find(words);
  Number number{};
  return at != std::string_view::npos &&
                 std::from_chars(line.data() + at + words.size(), line.data() + line.size(), number)
                         .ec == std::errc()
             ? std::optional(number)
             : std::nullopt;
}

}  // namespace

uint64_t ResidentBytes() {
  const uint64_t resident = NumberAfter<uint64_t>(" ", Line("/proc/self/statm")).value_or(0);
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// The limits of memory are shares of this number. In a container the machine's memory would be a
// promise that the group does not keep.
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
  // "some" is the time in which at least one task waited. "full", the second line, is that in which
  // nothing went on at all, which is too late to react to.
  const std::optional<double> percent = NumberAfter<double>("some avg10=", line);
  return percent.has_value() ? std::optional(*percent / 100) : std::nullopt;
}

uint64_t RaiseDescriptorLimit(uint64_t wanted) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return 0;
  }
  if (limit.rlim_cur < wanted) {
    // The soft limit may go up to the hard one without a privilege. A wish that the kernel refuses
    // leaves the limit as it was.
    const rlim_t before = std::exchange(limit.rlim_cur, std::min<rlim_t>(wanted, limit.rlim_max));
    limit.rlim_cur = setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
  }
  return limit.rlim_cur;
}

}  // namespace kiln::ops
