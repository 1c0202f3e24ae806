// SPDX-License-Identifier: MIT
#include "runtime/c/context.h"

#include <string>

#include "runtime/c/arguments.h"
#include "runtime/c/call.h"
#include "runtime/c/version.h"

namespace kiln::c {
Context::Context(const kiln_context_info& info, Memory* memory)
    : log_(info.log), user_(info.log_user), level_(info.log_level), memory_(memory) {}

// Gives back what the context itself holds; blocks that are still out hold the memory on their own.
Context::~Context() { CloseMemory(memory_); }

// Lines below the level are dropped before they are formatted, which costs more than all else here.
void Context::Take(const LogEntry& entry) {
  const auto level = static_cast<kiln_log_level>(entry.level);
  // A context without a function for the log is a silent one, which is no error.
  if (log_ != nullptr && level >= level_) {
    const std::string line = FormatLogLine(entry);
    log_(user_, level, TextOf(line));
  }
}

}  // namespace kiln::c

using namespace kiln;
using namespace kiln::c;

// The text is a constant of the library, so it needs no context and never goes away.
const char* kiln_version(void) {
  static constexpr auto kText = VersionText(KILN_HEADER_VERSION);
  return kText.data();
}
uint32_t kiln_version_number(void) { return KILN_HEADER_VERSION; }

kiln_result kiln_context_create(const kiln_context_info* info, kiln_context** context,
                                kiln_error** error) {
  return Call(nullptr, error, [&]() -> Result<void> {
    KILN_TRY(const kiln_context_info given, Take(info, "info"));
    KILN_TRY_VOID(NotNull(context, "context"));
    // Asked before the other members are looked at: with a header of another version they may mean
    // something else.
    KILN_TRY_VOID(CheckVersion(given.header_version));
    KILN_TRY_VOID(CheckNumber(given.log_level, KILN_LOG_ERROR, "log_level"));
    KILN_TRY(Memory* const memory, OpenMemory(given));
    // Whatever fails between the two must give the memory back, or the counter of its holders never
    // becomes zero.
    struct Closer {
      Memory* memory;
      ~Closer() { CloseMemory(memory); }
    } closer{memory};  // until the context has it
    const MemoryScope scope(memory);
    // From here on the thread allocates from the caller's memory: the context is the first object
    // in it.
    auto made = std::make_unique<kiln_context>();
    // Shared, because all objects made from the context keep it; the caller may destroy them in any
    // order.
    made->context = std::make_shared<Context>(given, memory);
    closer.memory = nullptr;
    *context = made.release();
    return {};
  });
}

void kiln_context_destroy(kiln_context* context) { Destroy(context); }
