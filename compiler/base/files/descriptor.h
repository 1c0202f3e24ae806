// SPDX-License-Identifier: MIT
// The one owner of a descriptor of the system: closes it when it goes, which also gives a lock up.
#pragma once

#include <unistd.h>
#include <utility>

namespace kiln {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}  // below 0: none
  ~Descriptor() { Close(); }
  Descriptor(Descriptor&& other) noexcept : number_(other.Release()) {}
  Descriptor& operator=(Descriptor&&) = delete;

  int get() const { return number_; }
  // Leaves it to the caller, open.
  int Release() { return std::exchange(number_, -1); }
  void Close() {
    if (number_ >= 0) {
      (void)::close(Release());
    }
  }

 private:
  int number_;
};

}  // namespace kiln
