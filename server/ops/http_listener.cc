// SPDX-License-Identifier: MIT
// A small HTTP server for metrics and health (spec/daemon 13.3), on loopback or a unix socket only.
// It knows GET and HEAD, answers one request for each connection and closes it.
#include "server/ops/http_listener.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

namespace kiln::ops {
namespace {

// Far more than a scraper sends; of what it says only the first line is read. With 64 connections
// the listener holds little more than half a MiB of requests. See spec/daemon 13.3
constexpr size_t kMostRequest = 8192;
constexpr std::chrono::milliseconds kPatience{2'000};  // for one connection
// Until the listener is asked again when there are no descriptors for who waits there. Poll would
// tell of him at once and for ever, and the thread would do nothing else.
constexpr std::chrono::milliseconds kPause{100};

// The socket is asked and not the text: a name may resolve to anything. Metrics tell what is built
// and by whom, and have no authentication.
bool IsLocal(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return false;
  }
  if (address.ss_family == AF_INET) {
    const auto* in = reinterpret_cast<const sockaddr_in*>(&address);
    return (ntohl(in->sin_addr.s_addr) >> 24) == 127;
  }
  if (address.ss_family == AF_INET6) {
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(&address)->sin6_addr) != 0;
  }
  return address.ss_family == AF_UNIX;
}

// Somebody accepts there. A queue that is full says so at once, too.
bool IsServed(const sockaddr_un& address) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool served =
      fd >= 0 && (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ||
                  errno == EAGAIN);
  if (fd >= 0) {
    (void)close(fd);
  }
  return served;
}

// A socket that nobody serves is what a process that died left; another daemon's is not taken away.
Result<TcpListener> ListenUnix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  TcpListener listener = TcpListener::Adopt(fd);
  if (path.size() >= sizeof(address.sun_path)) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = fmt::format("the socket path '{}' is too long", path),
                 .reason = "SOCKET"};
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  struct stat found {};
  // What a daemon that was killed left behind. Only a socket of this user is removed, never a file
  // that the configuration names by mistake.
  if (lstat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode) && found.st_uid == geteuid()) {
    if (IsServed(address)) {
      return Error{.code = ErrorCode::kFailedPrecondition,
                   .context = fmt::format("cannot listen on '{}': another process does", path),
                   .reason = "SOCKET"};
    }
    (void)unlink(path.c_str());
  }
  if (fd < 0 || bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      chmod(path.c_str(), 0600) != 0 || listen(fd, SOMAXCONN) != 0) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context = fmt::format("cannot listen on '{}': {}", path, std::strerror(errno)),
                 .reason = "SOCKET"};
  }
  return Result<TcpListener>(std::move(listener));
}

// A HEAD is answered as a GET without its body, which health checks of load balancers count on.
constexpr std::string_view kGet = "GET ", kHead = "HEAD ";

// The path of "GET /path HTTP/1.1", without its query; empty for anything else.
std::string PathOf(std::string_view request) {
  const size_t begin = request.starts_with(kHead) ? kHead.size() : kGet.size();
  if (!request.starts_with(kGet) && !request.starts_with(kHead)) {
    return {};
  }
  const std::string_view path =
      request.substr(begin, request.find_first_of(" ?\r\n", begin) - begin);
  return path.starts_with('/') ? std::string(path) : std::string();
}

std::string_view StatusText(int status) {
  return status == 200   ? "OK"
         : status == 404 ? "Not Found"
         : status == 500 ? "Internal Server Error"
         : status == 503 ? "Unavailable"
                         : "No";
}

}  // namespace

Result<std::unique_ptr<HttpListener>> HttpListener::Listen(const std::string& address,
                                                           Handler handler) {
  constexpr std::string_view kUnix = "unix:";
  const bool is_unix = address.starts_with(kUnix);
  const std::string path = is_unix ? address.substr(kUnix.size()) : std::string();
  KILN_TRY(TcpListener socket, is_unix ? ListenUnix(path) : TcpListener::Listen(address));
  // Asked of the socket itself and not of the text, which may be a name that leads anywhere.
  if (!IsLocal(socket.fd())) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = fmt::format("metrics.listen = '{}' is open to others; only loopback "
                                        "and unix sockets are taken",
                                        address),
                 .reason = "SOCKET"};
  }
  std::unique_ptr<HttpListener> listener(
      new HttpListener(std::move(socket), path, std::move(handler)));
  KILN_TRY_VOID(listener->Begin());
  return Result<std::unique_ptr<HttpListener>>(std::move(listener));
}

// A socket that systemd passed on. What it is bound to is the choice of the unit, so it is not
// checked.
Result<std::unique_ptr<HttpListener>> HttpListener::Adopt(int fd, Handler handler) {
  std::unique_ptr<HttpListener> listener(
      new HttpListener(TcpListener::Adopt(fd), {}, std::move(handler)));
  KILN_TRY_VOID(listener->Begin());
  return Result<std::unique_ptr<HttpListener>>(std::move(listener));
}

Result<void> HttpListener::Begin() {
  // The descriptor that ends the thread: poll cannot be told by a condition variable.
  wake_ = eventfd(0, EFD_CLOEXEC);
  if (wake_ < 0) {
    return Error{
        .code = ErrorCode::kUnavailable, .context = "out of descriptors", .reason = "SOCKET"};
  }
  thread_ = Thread({.name = "metrics"}, [this](const std::stop_token&) { Serve(); });
  return {};
}

HttpListener::~HttpListener() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    (void)!write(wake_, &one, sizeof(one));
    thread_.join();
    (void)close(wake_);
  }
  if (!unix_path_.empty()) {
    (void)unlink(unix_path_.c_str());
  }
}

std::string HttpListener::Address() const {
  return unix_path_.empty() ? listener_.Address() : "unix:" + unix_path_;
}

HttpListener::Connection::~Connection() { (void)close(fd); }

// One thread and one poll for all connections. Reads and writes take what is there, and each
// connection ends at its time whatever it does; only the handler may keep the others waiting.
void HttpListener::Serve() {
  std::vector<pollfd> ready;
  for (;;) {
    const int16_t accepts = AcceptsNow() ? POLLIN : 0;
    ready = {{.fd = wake_, .events = POLLIN, .revents = 0},
             {.fd = listener_.fd(), .events = accepts, .revents = 0}};
    for (const ConnectionPtr& open : open_) {
      const int16_t events = open->reply.empty() ? POLLIN : POLLOUT;
      ready.push_back({.fd = open->fd, .events = events, .revents = 0});
    }
    (void)poll(ready.data(), ready.size(), TimeToNextStep());
    if (ready[0].revents != 0) {
      return;
    }
    for (size_t i = 0; i < open_.size(); ++i) {
      // Only those that poll knew of are looked at here; new ones are accepted after the loop, so
      // the places of `ready` and `open_` match.
      bool goes_on = ready[i + 2].revents == 0;
      // A connection whose handling throws is closed.
      (void)CatchAll([&] { goes_on = goes_on || GoOn(*open_[i]); });
      open_[i]->is_over = !goes_on;
    }
    const auto now = std::chrono::steady_clock::now();
    std::erase_if(open_,
                  [now](const ConnectionPtr& one) { return one->is_over || one->end <= now; });
    if (ready[1].revents != 0) {
      Accept();
    }
  }
}

bool HttpListener::AcceptsNow() const {
  return !paused_until_.has_value() || *paused_until_ <= std::chrono::steady_clock::now();
}

// The end of the oldest connection, which is the first, or of the pause. In milliseconds, as poll
// wants it.
int HttpListener::TimeToNextStep() const {
  const auto now = std::chrono::steady_clock::now();
  std::optional<std::chrono::steady_clock::time_point> next;
  if (!open_.empty()) {
    next = open_.front()->end;
  }
  if (paused_until_.has_value() && *paused_until_ > now) {
    next = std::min(next.value_or(*paused_until_), *paused_until_);
  }
  if (!next.has_value()) {
    return -1;
  }
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(*next - now).count();
  return static_cast<int>(std::max<int64_t>(milliseconds, 0));
}

// The one that has been open for longest makes room: it had its time.
void HttpListener::Accept() {
  const int fd = accept4(listener_.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  paused_until_.reset();
  if (fd < 0) {
    // A client that is gone already leaves nothing to wait for; for the others there is no room.
    if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
      paused_until_ = std::chrono::steady_clock::now() + kPause;
      ++failed_accepts_;
    }
    return;
  }
  if (open_.size() >= kMostConnections) {
    open_.erase(open_.begin());
  }
  open_.push_back(std::make_unique<Connection>(fd, std::chrono::steady_clock::now() + kPatience));
}

// Reads or writes what is ready. False: the connection is over.
bool HttpListener::GoOn(Connection& connection) const {
  if (connection.reply.empty()) {
    std::array<char, 1024> buffer{};
    const ssize_t got = recv(connection.fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got <= 0) {
      return got < 0 && (errno == EAGAIN || errno == EINTR);
    }
    connection.request.append(buffer.data(), static_cast<size_t>(got));
    // The end of the headers may come byte by byte. Searching all of it again with each piece is
    // bounded by 8 KiB of request and two seconds of patience.
    if (connection.request.find("\r\n\r\n") == std::string::npos) {
      return connection.request.size() <= kMostRequest;
    }
    connection.reply = ReplyTo(PathOf(connection.request),
                               connection.request.starts_with(kHead) ? Part::kHead : Part::kAll);
    return !connection.reply.empty();
  }
  const std::string_view rest = std::string_view(connection.reply).substr(connection.sent);
  const ssize_t count = send(connection.fd, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count < 0) {
    return errno == EAGAIN || errno == EINTR;
  }
  connection.sent += static_cast<size_t>(count);
  // After the last byte the connection is closed, as its headers announced.
  return connection.sent < connection.reply.size();
}

// The reply to a path; empty for none. The handler may take locks of other parts; a scrape that
// takes long delays other scrapes and nothing else. A head alone has the length of the body that a
// GET would get.
std::string HttpListener::ReplyTo(const std::string& path, Part part) const {
  if (path.empty()) {
    return {};
  }
  HttpReply reply;
  try {
    reply = handler_(path);
  } catch (const std::exception&) {  // costs this reply
    reply = {.status = 500, .body = "internal error\n"};
  }
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close"
      "\r\n\r\n{}",
      reply.status, StatusText(reply.status), reply.type, reply.body.size(),
      part == Part::kHead ? std::string_view() : std::string_view(reply.body));
}

}  // namespace kiln::ops
