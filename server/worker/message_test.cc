// SPDX-License-Identifier: MIT
// What the other side of a worker's socket may send, by mistake or on purpose.
#include "server/worker/message.h"

#include <array>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <iterator>
#include <sys/mman.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "compiler/base/test_wait.h"

namespace kiln::worker {
namespace {

constexpr Duration kLong = std::chrono::seconds(60);
constexpr Duration kShort = std::chrono::milliseconds(50);
constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

ptrdiff_t OpenDescriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

// "KWK1", kind, bytes of payload, bytes of text
std::string HeadOf(MessageKind kind, uint64_t payload, uint32_t text) {
  const auto number = static_cast<uint32_t>(kind);
  std::string head(24, '\0');
  std::memcpy(head.data(), "KWK1", 4);
  std::memcpy(head.data() + 4, &number, 4);
  std::memcpy(head.data() + 8, &payload, 8);
  std::memcpy(head.data() + 16, &text, 4);
  return head;
}

int MemoryFile(const std::string& text, int seals) {
  const int file = ::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  EXPECT_EQ(::write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  EXPECT_EQ(::fcntl(file, F_ADD_SEALS, seals), 0);
  return file;
}

class MessageTest : public testing::Test {
 protected:
  MessageTest() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0); }
  ~MessageTest() override {
    (void)::close(ends[0]);
    (void)::close(ends[1]);
  }

  // Text with descriptors, which are closed here.
  void SendRaw(const std::string& text, const std::vector<int>& files) const {
    iovec part{.iov_base = const_cast<char*>(text.data()), .iov_len = text.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(64 * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (!files.empty()) {
      message.msg_control = control.data();
      message.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
      cmsghdr* const row = CMSG_FIRSTHDR(&message);
      row->cmsg_level = SOL_SOCKET;
      row->cmsg_type = SCM_RIGHTS;
      row->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
      std::memcpy(CMSG_DATA(row), files.data(), files.size() * sizeof(int));
    }
    ASSERT_EQ(::sendmsg(ends[1], &message, MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
    for (const int file : files) {
      (void)::close(file);
    }
  }

  std::array<int, 2> ends{};
};

TEST_F(MessageTest, MessageWithTextAndPayload_Arrives) {
  const Bytes payload(100'000, std::byte{7});
  for (const Patience& patience : {Patience(), Patience(kLong)}) {
    ASSERT_TRUE(
        Send(ends[1], {.kind = MessageKind::kMade, .text = "report", .payload = payload}, patience)
            .ok());
    const Result<Message> got = Receive(ends[0], patience);
    ASSERT_TRUE(got.ok()) << got.error().context;
    EXPECT_EQ(got->kind, MessageKind::kMade);
    EXPECT_EQ(got->text, "report");
    EXPECT_EQ(got->payload, payload);
  }
}

struct Surplus {
  const char* name;
  uint64_t payload;
  size_t files;
};

class SurplusDescriptors : public MessageTest, public testing::WithParamInterface<Surplus> {};

TEST_P(SurplusDescriptors, AreRefusedAndClosed) {
  const ptrdiff_t before = OpenDescriptors();
  std::vector<int> files;
  for (size_t i = 0; i < GetParam().files; ++i) {
    files.push_back(MemoryFile("ab", kSeals));
  }
  SendRaw(HeadOf(MessageKind::kMade, GetParam().payload, 0), files);
  const Result<Message> got = Receive(ends[0], kLong);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code, ErrorCode::kDataLoss);
  EXPECT_EQ(OpenDescriptors(), before);
}

INSTANTIATE_TEST_SUITE_P(Table, SurplusDescriptors,
                         testing::Values(Surplus{"two_for_one", 2, 2}, Surplus{"many", 2, 64},
                                         Surplus{"one_for_none", 0, 1},
                                         Surplus{"none_for_one", 2, 0}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST_F(MessageTest, DescriptorsWithTheText_AreRefusedAndClosed) {
  const ptrdiff_t before = OpenDescriptors();
  SendRaw(HeadOf(MessageKind::kMade, 2, 4), {MemoryFile("ab", kSeals)});
  SendRaw("text", {MemoryFile("cd", kSeals), MemoryFile("ef", kSeals)});
  EXPECT_FALSE(Receive(ends[0], kLong).ok());
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(MessageTest, PayloadThatCouldStillChange_IsRefused) {
  for (const int seals : {0, F_SEAL_WRITE, kSeals & ~F_SEAL_WRITE, kSeals & ~F_SEAL_SHRINK}) {
    SendRaw(HeadOf(MessageKind::kMade, 2, 0), {MemoryFile("ab", seals)});
    EXPECT_FALSE(Receive(ends[0], kLong).ok()) << seals;
  }
  SendRaw(HeadOf(MessageKind::kMade, 3, 0), {MemoryFile("ab", kSeals)});  // of another size
  EXPECT_FALSE(Receive(ends[0], kLong).ok());
  SendRaw(HeadOf(MessageKind::kMade, 2, 0), {::open("/dev/zero", O_RDONLY)});
  EXPECT_FALSE(Receive(ends[0], kLong).ok());
  SendRaw(HeadOf(MessageKind::kMade, 2, 0), {MemoryFile("ab", kSeals)});
  EXPECT_TRUE(Receive(ends[0], kLong).ok());
}

TEST_F(MessageTest, HeadThatIsNone_IsRefused) {
  std::string other = HeadOf(MessageKind::kMade, 0, 0);
  other[0] = 'X';
  const std::string heads[] = {other, HeadOf(static_cast<MessageKind>(0), 0, 0),
                               HeadOf(static_cast<MessageKind>(kLastKind + 1), 0, 0),
                               HeadOf(MessageKind::kMade, kMaxPayload + 1, 0),
                               HeadOf(MessageKind::kMade, 0, kMaxText + 1)};
  for (const std::string& head : heads) {
    SendRaw(head, {});
    EXPECT_EQ(Receive(ends[0], kLong).error().code, ErrorCode::kDataLoss);
  }
}

// Somebody who says a part of a message and then nothing.
class PartOfAMessage : public MessageTest, public testing::WithParamInterface<size_t> {};

TEST_P(PartOfAMessage, EndsTheWaitWhenTheTimeIsOver) {
  SendRaw((HeadOf(MessageKind::kMade, 0, 8) + "text").substr(0, GetParam()), {});
  const Result<Message> got = Receive(ends[0], kShort);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code, ErrorCode::kUnavailable);
}

INSTANTIATE_TEST_SUITE_P(Table, PartOfAMessage, testing::Values(1, 23, 24, 25, 28));

// One byte now and then does not start the time anew.
TEST_F(MessageTest, DrippingSender_EndsTheWaitWhenTheTimeIsOver) {
  const std::jthread drip([this](const std::stop_token& stop) {
    const std::string text = HeadOf(MessageKind::kMade, 0, kMaxText) + std::string(kMaxText, 'x');
    for (size_t at = 0; at < text.size() && !stop.stop_requested(); ++at) {
      (void)!::send(ends[1], text.data() + at, 1, MSG_NOSIGNAL);
      LetPass(std::chrono::milliseconds(1));  // the pace of the drip
    }
  });
  EXPECT_EQ(Receive(ends[0], kShort).error().code, ErrorCode::kUnavailable);
}

TEST_F(MessageTest, ReceiverThatTakesNothing_EndsTheSendersWait) {
  const Message message{
      .kind = MessageKind::kJob, .text = std::string(kMaxText, 'x'), .payload = {}};
  Result<void> sent;
  for (int i = 0; i < 1000 && sent.ok(); ++i) {
    sent = Send(ends[1], message, kShort);
  }
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ(sent.error().code, ErrorCode::kUnavailable);
}

TEST_F(MessageTest, EndOfTheStream_IsUnavailable) {
  (void)::shutdown(ends[1], SHUT_RDWR);
  EXPECT_EQ(Receive(ends[0], kLong).error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace kiln::worker
