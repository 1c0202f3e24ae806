// SPDX-License-Identifier: MIT
// Bytes of a stream -> contents of messages. A frame is
//
//   Content-Length: 119\r\n
//   Content-Type: …\r\n          (ignored, like any other field)
//   \r\n
//   119 bytes
//
// What is wrong costs one message: behind a broken header reading goes on at the next frame, and a
// content that is too large is skipped without being kept. Spec: LSP 3.17 "Base Protocol".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kiln::lsp {

class FrameReader {
 public:
  static constexpr size_t kMaxHeader = 4096;               // bytes
  static constexpr size_t kMaxContent = size_t{16} << 20;  // bytes

  // Either a content, or what is wrong with a frame.
  struct Frame {
    std::string content;
    std::string error;
  };

  void Add(std::string_view bytes);
  // The next frame of what was added; nothing if more bytes are needed.
  std::optional<Frame> Next();
  // Whether the stream may end here.
  bool empty() const { return at_ == buffer_.size() && skip_ == 0; }

 private:
  std::optional<Frame> ReadHeader();
  void Compact();

  std::string buffer_;
  size_t at_ = 0;                 // of buffer_: what is not read yet
  size_t skip_ = 0;               // bytes of a content that nobody wants
  std::optional<size_t> length_;  // of the content that comes
};

// The frame of a content.
std::string FrameOf(std::string_view content);

}  // namespace kiln::lsp
