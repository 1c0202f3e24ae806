// SPDX-License-Identifier: MIT
// The faults of faulty_kilnd: FAULTS="Compile=hang,store=bad_alloc" makes whatever is done for a
// call of that method, or every access to the store, throw that or never return.
#include <cstdlib>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <unistd.h>

#include "compiler/base/check.h"
#include "server/faults.h"

namespace kiln::server {
namespace {

std::map<std::string, std::string, std::less<>> Faults() {
  std::map<std::string, std::string, std::less<>> faults;
  const char* const value = std::getenv("FAULTS");
  std::string_view rest = value == nullptr ? "" : value;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    const size_t sign = one.find('=');
    faults.emplace(one.substr(0, sign), one.substr(sign + 1));
  }
  return faults;
}

void Commit(std::string_view fault) {
  if (fault == "bad_alloc") {
    throw std::bad_alloc();
  }
  if (fault == "runtime_error") {
    throw std::runtime_error("the sky fell");
  }
  if (fault == "internal_error") {
    throw InternalError("a.cc:1: check failed");
  }
  if (fault == "number") {
    throw 7;
  }
  if (fault == "hang") {
    constexpr std::string_view kHangs = "a fault hangs\n";
    (void)!write(STDERR_FILENO, kHangs.data(), kHangs.size());
  }
  while (fault == "hang") {  // whoever wants it to stop is not heard
    (void)pause();
  }
}

}  // namespace

void AddFaults(Daemon::Options& options) {
  options.fault = [faults = Faults()](std::string_view where) {
    if (const auto found = faults.find(where); found != faults.end()) {
      Commit(found->second);
    }
  };
}

}  // namespace kiln::server
