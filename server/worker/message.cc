// SPDX-License-Identifier: MIT
#include "server/worker/message.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace kiln::worker {
namespace {

constexpr uint32_t kMagic = 0x314B574B;  // "KWK1"
constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

struct Head {
  uint32_t magic = kMagic;
  uint32_t kind = 0;
  uint64_t payload = 0;
  uint32_t text = 0;
  uint32_t unused = 0;
};
static_assert(sizeof(Head) == 24);

Error Gone(std::string_view what) {
  return {.code = ErrorCode::kUnavailable,
          .context = fmt::format("the other side of the worker socket is gone: {}", what),
          .reason = "WORKER_GONE"};
}

Error NoMessage(std::string_view what) {
  return {.code = ErrorCode::kDataLoss,
          .context = fmt::format("not a message of a worker: {}", what),
          .reason = "WORKER_GARBAGE"};
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) {
      (void)::close(number_);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

bool WriteAll(int file, const std::byte* data, size_t size) {
  while (size != 0) {
    const ssize_t wrote = ::write(file, data, size);
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote <= 0) {
      return false;
    }
    data += wrote;
    size -= static_cast<size_t>(wrote);
  }
  return true;
}

bool SendAll(int socket, const char* data, size_t size) {
  while (size != 0) {
    const ssize_t sent = ::send(socket, data, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) {
      continue;
    }
    if (sent <= 0) {
      return false;
    }
    data += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

// The head, with the payload's descriptor.
bool SendHead(int socket, const Head& head, int payload) {
  iovec part{.iov_base = const_cast<Head*>(&head), .iov_len = sizeof(head)};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (payload >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const row = CMSG_FIRSTHDR(&message);
    row->cmsg_level = SOL_SOCKET;
    row->cmsg_type = SCM_RIGHTS;
    row->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(row), &payload, sizeof(int));
  }
  for (;;) {
    const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) {
      continue;
    }
    return sent == static_cast<ssize_t>(sizeof(head));
  }
}

Result<void> ReceiveHead(int socket, Head& head, int& payload) {
  iovec part{.iov_base = &head, .iov_len = sizeof(head)};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket, &message, MSG_WAITALL | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  for (cmsghdr* row = CMSG_FIRSTHDR(&message); row != nullptr; row = CMSG_NXTHDR(&message, row)) {
    if (row->cmsg_level == SOL_SOCKET && row->cmsg_type == SCM_RIGHTS &&
        row->cmsg_len == CMSG_LEN(sizeof(int))) {
      std::memcpy(&payload, CMSG_DATA(row), sizeof(int));
    }
  }
  if (got <= 0) {
    return Gone(got == 0 ? "end of stream" : std::strerror(errno));
  }
  if (got != static_cast<ssize_t>(sizeof(head)) || head.magic != kMagic) {
    return NoMessage("the head");
  }
  return {};
}

Result<Bytes> ReadPayload(int file, uint64_t size) {
  struct stat status {};
  if (file < 0 || ::fstat(file, &status) != 0 || (::fcntl(file, F_GET_SEALS) & kSeals) != kSeals ||
      static_cast<uint64_t>(status.st_size) != size) {
    return NoMessage("the payload");
  }
  Bytes bytes(size);
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t got = ::pread(file, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return NoMessage("the payload ends early");
    }
    at += static_cast<size_t>(got);
  }
  return bytes;
}

}  // namespace

Result<void> Send(int socket, const Message& message) {
  if (message.payload.size() > kMaxPayload || message.text.size() > kMaxText) {
    return Error{.code = ErrorCode::kResourceExhausted,
                 .context = fmt::format("a worker message has at most {} bytes of payload, not {}",
                                        kMaxPayload, message.payload.size()),
                 .reason = "LIMIT_EXCEEDED"};
  }
  const Descriptor payload(message.payload.empty()
                               ? -1
                               : ::memfd_create("kiln-worker", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!message.payload.empty() &&
      (payload.get() < 0 ||
       !WriteAll(payload.get(), message.payload.data(), message.payload.size()) ||
       ::fcntl(payload.get(), F_ADD_SEALS, kSeals) != 0)) {
    return Error{
        .code = ErrorCode::kResourceExhausted,
        .context = fmt::format("no memory for a worker's payload: {}", std::strerror(errno)),
        .reason = {}};
  }
  const Head head{.kind = static_cast<uint32_t>(message.kind),
                  .payload = message.payload.size(),
                  .text = static_cast<uint32_t>(message.text.size())};
  if (!SendHead(socket, head, payload.get()) ||
      !SendAll(socket, message.text.data(), message.text.size())) {
    return Gone(std::strerror(errno));
  }
  return {};
}

Result<Message> Receive(int socket) {
  Head head;
  int number = -1;
  const Result<void> received = ReceiveHead(socket, head, number);
  const Descriptor file(number);
  if (!received.ok()) {
    return received.error();
  }
  if (head.text > kMaxText || head.payload > kMaxPayload || head.kind < kFirstKind ||
      head.kind > kLastKind) {
    return NoMessage("sizes");
  }
  Message message{.kind = static_cast<MessageKind>(head.kind), .text = {}, .payload = {}};
  message.text.resize(head.text);
  for (size_t at = 0; at < message.text.size();) {
    const ssize_t got = ::recv(socket, message.text.data() + at, message.text.size() - at, 0);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return Gone("in the middle of a message");
    }
    at += static_cast<size_t>(got);
  }
  if (head.payload != 0) {
    KILN_TRY(message.payload, ReadPayload(file.get(), head.payload));
  }
  return message;
}

}  // namespace kiln::worker
