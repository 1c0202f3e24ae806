// SPDX-License-Identifier: MIT
#include "runtime/c/context.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "runtime/c/arguments.h"
#include "runtime/c/call.h"

namespace kiln::c {
namespace {

constexpr uint32_t kMajor = KILN_HEADER_VERSION / 1'000'000;
constexpr uint32_t kMinor = KILN_HEADER_VERSION / 1'000 % 1'000;
constexpr uint32_t kPatch = KILN_HEADER_VERSION % 1'000;

// "0.1.0" and its end.
constexpr auto MakeVersion() {
  std::array<char, 16> text{};
  size_t at = 0;
  const auto number = [&](uint32_t value) {
    for (uint32_t unit = 1'000'000; unit > 0; unit /= 10) {
      if (value >= unit || unit == 1) {
        text[at++] = static_cast<char>('0' + value / unit % 10);
      }
    }
  };
  number(kMajor);
  text[at++] = '.';
  number(kMinor);
  text[at++] = '.';
  number(kPatch);
  return text;
}
constexpr auto kVersion = MakeVersion();

// Before 1.0 every minor version is another one; from then on a library serves older headers.
Result<void> CheckVersion(uint32_t header) {
  const uint32_t minor = header / 1'000 % 1'000;
  const bool fits =
      header / 1'000'000 == kMajor && (kMajor == 0 ? minor == kMinor : minor <= kMinor);
  if (!fits) {
    return Error{
        ErrorCode::kFailedPrecondition,
        fmt::format("the program was compiled with kiln.h of version {}.{}.{}, the library "
                    "is version {}; install the one that fits",
                    header / 1'000'000, minor, header % 1'000, kVersion.data()),
        "VERSION"};
  }
  return {};
}

}  // namespace

Context::Context(const kiln_context_info& info, Memory* memory)
    : log_(info.log), user_(info.log_user), level_(info.log_level), memory_(memory) {}

Context::~Context() { CloseMemory(memory_); }

void Context::Take(const LogEntry& entry) {
  const auto level = static_cast<kiln_log_level>(entry.level);
  if (log_ != nullptr && level >= level_) {
    const std::string line = FormatLogLine(entry);
    log_(user_, level, TextOf(line));
  }
}

}  // namespace kiln::c

using namespace kiln;
using namespace kiln::c;

const char* kiln_version(void) { return kVersion.data(); }
uint32_t kiln_version_number(void) { return KILN_HEADER_VERSION; }

kiln_result kiln_context_create(const kiln_context_info* info, kiln_context** context,
                                kiln_error** error) {
  return Call(nullptr, error, [&]() -> Result<void> {
    KILN_TRY(const kiln_context_info given, Take(info, "info"));
    KILN_TRY_VOID(NotNull(context, "context"));
    KILN_TRY_VOID(CheckVersion(given.header_version));
    KILN_TRY_VOID(CheckNumber(given.log_level, KILN_LOG_ERROR, "log_level"));
    KILN_TRY(Memory* const memory, OpenMemory(given));
    struct Closer {
      Memory* memory;
      ~Closer() { CloseMemory(memory); }
    } closer{memory};  // until the context has it
    const MemoryScope scope(memory);
    auto made = std::make_unique<kiln_context>();
    made->context = std::make_shared<Context>(given, memory);
    closer.memory = nullptr;
    *context = made.release();
    return {};
  });
}

void kiln_context_destroy(kiln_context* context) { Destroy(context); }
