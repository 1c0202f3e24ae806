// SPDX-License-Identifier: MIT
// Messages between daemon and worker over a socket pair (spec/daemon 12.2): a head of fixed size, a
// text, and a payload in a sealed memory file whose descriptor comes with the head. Neither side
// trusts the other, least of all the daemon a worker.
#include "server/worker/message.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <span>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "compiler/base/files/descriptor.h"

namespace kiln::worker {
namespace {

constexpr uint32_t kMagic = 0x314B574B;  // "KWK1"
// Without these seals the other side could change or shrink a payload while it is read, after it
// was checked.
constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

// Before each message: magic, kind, length of payload and of text. Both sides are one build on one
// machine, so the struct is sent as it is; the magic tells a message from anything else.
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

// All that came along with a message. Closes them, whatever becomes of the message.
class Descriptors {
 public:
  Descriptors() = default;
  ~Descriptors() {
    for (const int number : numbers_) {
      (void)::close(number);
    }
  }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

  void TakeFrom(msghdr& message) {
    // More than fit into the buffer are an attack as well. They must not stay open, or a worker
    // could use up the descriptors of the daemon.
    surplus_ = surplus_ || (message.msg_flags & MSG_CTRUNC) != 0;  // the kernel closed the rest
    for (cmsghdr* row = CMSG_FIRSTHDR(&message); row != nullptr; row = CMSG_NXTHDR(&message, row)) {
      if (row->cmsg_level != SOL_SOCKET || row->cmsg_type != SCM_RIGHTS) {
        continue;
      }
      for (size_t at = 0; CMSG_LEN(at + sizeof(int)) <= row->cmsg_len; at += sizeof(int)) {
        int number = -1;
        std::memcpy(&number, CMSG_DATA(row) + at, sizeof(number));
        numbers_.push_back(number);
      }
    }
  }
  bool are(size_t count) const { return !surplus_ && numbers_.size() == count; }
  // Requires: are(1).
  int first() const { return numbers_.front(); }

 private:
  std::vector<int> numbers_;
  bool surplus_ = false;
};

// The time that one message may take. It spans the whole message (spec/daemon 12.2), so a worker
// that sends a byte now and then holds nobody up.
class Waiting {
 public:
  Waiting(int socket, Patience patience) : socket_(socket) {
    if (patience.has_value()) {
      end_ = std::chrono::steady_clock::now() + *patience;
    }
  }

  // Of recv and send: whatever waits for ever waits there.
  int flags() const { return end_.has_value() ? MSG_DONTWAIT : 0; }

  // False, with errno: it is over.
  bool WaitFor(short events) const {
    // Time passes while signals interrupt, so what is left is computed anew each time.
    while (end_.has_value()) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          *end_ - std::chrono::steady_clock::now());
      pollfd wait{.fd = socket_, .events = events, .revents = 0};
      const int ready = ::poll(&wait, 1, static_cast<int>(std::max<int64_t>(0, left.count())));
      if (ready > 0) {
        return true;
      }
      if (ready == 0) {
        errno = ETIMEDOUT;
      }
      if (errno != EINTR) {
        return false;
      }
    }
    return true;
  }

  // What recv, send and their like give, repeated until they give something. EAGAIN behind a
  // successful poll is possible and means to wait again.
  template <class Call>
  ssize_t Repeat(short events, const Call& call) const {
    for (;;) {
      if (!WaitFor(events)) {
        return -1;
      }
      const ssize_t done = call();
      if (done >= 0 || (errno != EINTR && errno != EAGAIN)) {
        return done;
      }
    }
  }

 private:
  const int socket_;
  std::optional<std::chrono::steady_clock::time_point> end_;
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

// MSG_NOSIGNAL, because the other side may die at any moment, and that must be an error and no
// signal.
bool SendAll(int socket, std::string_view text, const Waiting& waiting) {
  while (!text.empty()) {
    const ssize_t sent = waiting.Repeat(POLLOUT, [&] {
      return ::send(socket, text.data(), text.size(), MSG_NOSIGNAL | waiting.flags());
    });
    if (sent <= 0) {
      return false;
    }
    text.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

// The head, with the payload's descriptor. A socket takes all of something that small.
bool SendHead(int socket, const Head& head, int payload, const Waiting& waiting) {
  // The kernel only reads it; the type of iovec serves both directions.
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
  // A part of the head that was sent would be an error: the descriptor goes with the first byte.
  const ssize_t sent = waiting.Repeat(
      POLLOUT, [&] { return ::sendmsg(socket, &message, MSG_NOSIGNAL | waiting.flags()); });
  return sent == static_cast<ssize_t>(sizeof(head));
}

// Fills `bytes`, and takes the descriptors that come with them.
Result<void> ReceiveAll(int socket, std::span<std::byte> bytes, Descriptors& descriptors,
                        const Waiting& waiting) {
  while (!bytes.empty()) {
    iovec part{.iov_base = bytes.data(), .iov_len = bytes.size()};
    // Room for one descriptor, which is all that a message has. The kernel closes what does not fit
    // and says so.
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t got = waiting.Repeat(
        POLLIN, [&] { return ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | waiting.flags()); });
    if (got <= 0) {
      return Gone(got == 0 ? "end of stream" : std::strerror(errno));
    }
    descriptors.TakeFrom(message);
    bytes = bytes.subspan(static_cast<size_t>(got));
  }
  return {};
}

// The bytes are copied with pread and not mapped: the file's position is shared with the sender,
// and a file that could shrink under a mapping would end this process with SIGBUS. The seals are
// asked first, the size next, as only sealed files keep theirs.
Result<Bytes> ReadPayload(int file, uint64_t size) {
  if ((::fcntl(file, F_GET_SEALS) & kSeals) != kSeals ||
      ::lseek(file, 0, SEEK_END) != static_cast<off_t>(size)) {
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

// Sealed before it is sent: from then on neither side can change it.
Result<void> Send(int socket, const Message& message, Patience patience) {
  if (message.payload.size() > kMaxPayload || message.text.size() > kMaxText) {
    return Error{.code = ErrorCode::kResourceExhausted,
                 .context = fmt::format("a worker message has at most {} bytes of payload, not {}",
                                        kMaxPayload, message.payload.size()),
                 .reason = "LIMIT_EXCEEDED"};
  }
  // A memory file and not the socket, because a payload may have 64 MiB: the socket carries a
  // descriptor, and neither side waits for the other to read.
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
  const Waiting waiting(socket, patience);
  if (!SendHead(socket, head, payload.get(), waiting) || !SendAll(socket, message.text, waiting)) {
    return Gone(std::strerror(errno));
  }
  return {};
}

// Requires nothing of the other side: it may be a worker that a hostile module took over. Text and
// payload are bounded before they are allocated, and a message with other descriptors than it
// announces is none.
Result<Message> Receive(int socket, Patience patience) {
  const Waiting waiting(socket, patience);
  Head head;
  Descriptors files;
  // Descriptors are counted over head and text together: they may come with any byte of a stream.
  KILN_TRY_VOID(ReceiveAll(socket, std::as_writable_bytes(std::span(&head, 1)), files, waiting));
  if (head.magic != kMagic) {
    return NoMessage("the head");
  }
  // Before anything is allocated: a worker that was taken over says any number here.
  if (head.text > kMaxText || head.payload > kMaxPayload || head.kind < kFirstKind ||
      head.kind > kLastKind) {
    return NoMessage("sizes");
  }
  Message message{.kind = static_cast<MessageKind>(head.kind), .text = {}, .payload = {}};
  message.text.resize(head.text);
  KILN_TRY_VOID(
      ReceiveAll(socket, std::as_writable_bytes(std::span(message.text)), files, waiting));
  if (!files.are(head.payload == 0 ? 0 : 1)) {
    return NoMessage("its descriptors");
  }
  if (head.payload != 0) {
    KILN_TRY(message.payload, ReadPayload(files.first(), head.payload));
  }
  return message;
}

}  // namespace kiln::worker
