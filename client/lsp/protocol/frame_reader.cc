// SPDX-License-Identifier: MIT
// The framing of the protocol: a header with the length, an empty line, the content. Input comes in
// pieces of any size, and an error costs one message and not the stream.
#include "client/lsp/protocol/frame_reader.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace kiln::lsp {
namespace {

constexpr std::string_view kEndOfHeader = "\r\n\r\n";
constexpr std::string_view kLength = "content-length";

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

// Names of fields are compared without case, as in HTTP.
bool IsLengthField(std::string_view name) {
  return std::ranges::equal(Trimmed(name), kLength, [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;
  });
}

// Decimal digits only; nothing for anything else, or for more than 18 digits.
std::optional<size_t> NumberIn(std::string_view text) {
  // 18 digits fit into 64 bits, so the loop below cannot overflow.
  if (text.empty() || text.size() > 18) {
    return std::nullopt;
  }
  size_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') {
      return std::nullopt;
    }
    number = number * 10 + static_cast<size_t>(c - '0');
  }
  return number;
}

// The length that a header states; nothing if it states none or several.
std::optional<size_t> LengthIn(std::string_view header) {
  std::optional<size_t> length;
  while (!header.empty()) {
    const size_t end = std::min(header.find("\r\n"), header.size());
    const std::string_view line = header.substr(0, end);
    header.remove_prefix(std::min(end + 2, header.size()));
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || !IsLengthField(line.substr(0, colon))) {
      continue;
    }
    const std::optional<size_t> stated = NumberIn(Trimmed(line.substr(colon + 1)));
    // Two lengths in one header are a classic disagreement between readers. Whichever is taken may
    // be wrong, so none is.
    if (!stated.has_value() || length.has_value()) {
      return std::nullopt;
    }
    length = stated;
  }
  return length;
}

}  // namespace

// Linear in the bytes: nothing is looked at here.
void FrameReader::Add(std::string_view bytes) {
  // What is still to come of a refused content never enters the buffer.
  const size_t skipped = std::min(skip_, bytes.size());
  skip_ -= skipped;
  buffer_.append(bytes.substr(skipped));
}

// Call it until it gives nothing. Each call costs the bytes of one frame.
std::optional<FrameReader::Frame> FrameReader::Next() {
  if (!length_.has_value()) {
    if (std::optional<Frame> error = ReadHeader()) {
      return error;
    }
  }
  // More bytes are needed. This is the moment to drop what was read, once for a burst of frames and
  // not for each of them.
  if (!length_.has_value() || buffer_.size() - at_ < *length_) {
    Compact();
    return std::nullopt;
  }
  Frame frame{.content = buffer_.substr(at_, *length_), .error = {}};
  at_ += *length_;
  length_.reset();
  return frame;
}

// Sets length_ if there is a whole and good header. An error is taken off the buffer, so that the
// next call goes on behind it.
std::optional<FrameReader::Frame> FrameReader::ReadHeader() {
  const size_t end = buffer_.find(kEndOfHeader, at_);
  // Without an end of the header all that is there counts, so a stream that never ends its header
  // is refused at kMaxHeader and not collected.
  const size_t size = (end == std::string::npos ? buffer_.size() : end) - at_;
  if (size > kMaxHeader) {
    at_ = end == std::string::npos ? buffer_.size() : end + kEndOfHeader.size();
    return Frame{.content = {}, .error = fmt::format("a header has at most {} bytes", kMaxHeader)};
  }
  if (end == std::string::npos) {
    return std::nullopt;
  }
  const std::optional<size_t> length = LengthIn(std::string_view(buffer_).substr(at_, size));
  at_ = end + kEndOfHeader.size();
  if (!length.has_value()) {
    return Frame{.content = {}, .error = "a header needs one Content-Length: a decimal number"};
  }
  if (*length > kMaxContent) {
    // What of the content is here already is stepped over, the rest is skipped as it comes.
    const size_t here = std::min(*length, buffer_.size() - at_);
    at_ += here;
    skip_ = *length - here;
    return Frame{.content = {},
                 .error = fmt::format("a message has at most {} bytes, this one has {}",
                                      kMaxContent, *length)};
  }
  length_ = length;
  return std::nullopt;
}

// Moves what is left to the front, once for all frames that were read.
void FrameReader::Compact() {
  buffer_.erase(0, at_);
  at_ = 0;
  if (buffer_.empty()) {
    buffer_.shrink_to_fit();  // one large message is not kept for ever
  }
}

std::string FrameOf(std::string_view content) {
  return fmt::format("Content-Length: {}\r\n\r\n{}", content.size(), content);
}

}  // namespace kiln::lsp
