// SPDX-License-Identifier: MIT
#include "compiler/base/threads/signal_stack.h"

#include <csignal>
#include <cstddef>
#include <sys/mman.h>
#include <unistd.h>

namespace kiln {
namespace {

constexpr size_t kStackBytes = size_t{64} << 10;  // a backtrace needs a quarter of it

// Below the stack lies a page that nobody may touch.
class SignalStack {
 public:
  SignalStack() {
    stack_t had{};
    // A sanitizer or the host program may have set a stack for this thread; theirs stays.
    if (::sigaltstack(nullptr, &had) != 0 || (had.ss_flags & SS_DISABLE) == 0) {
      return;
    }
    // All of it is reserved without access and then all but the lowest page is opened: a handler
    // that goes too deep faults there and does not write over a neighbour.
    void* const memory =
        ::mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) {
      return;
    }
    memory_ = memory;
    stack_t stack{};
    stack.ss_sp = static_cast<std::byte*>(memory) + page_;
    stack.ss_size = kStackBytes;
    used_ = ::mprotect(stack.ss_sp, kStackBytes, PROT_READ | PROT_WRITE) == 0 &&
            ::sigaltstack(&stack, nullptr) == 0;
  }
  // The kernel must forget the stack before its memory goes, else a signal in between would run on
  // nothing.
  ~SignalStack() {
    if (used_) {
      stack_t none{};
      none.ss_flags = SS_DISABLE;
      (void)::sigaltstack(&none, nullptr);
    }
    if (memory_ != nullptr) {
      (void)::munmap(memory_, size_);
    }
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  const size_t page_ = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t size_ = kStackBytes + page_;
  void* memory_ = nullptr;
  bool used_ = false;
};

}  // namespace

void UseSignalStack() { static const thread_local SignalStack stack; }

}  // namespace kiln
