#include "disturbed_run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "right_result.h"

extern char** environ;

namespace {

std::vector<std::string> environment_of(const Disturbance& disturbance, const std::filesystem::path& scratch) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!std::string_view(*entry).starts_with("TMPDIR=")) environment.emplace_back(*entry);
  std::filesystem::create_directory(scratch / "tmp");
  environment.push_back("TMPDIR=" + (scratch / "tmp").string());
  if (disturbance.call.empty()) return environment;
  environment.push_back("LD_PRELOAD=" HEADWAVE_FAILING_CALLS);
  environment.push_back("HEADWAVE_FAIL_CALL=" + disturbance.call);
  environment.push_back(fmt::format("HEADWAVE_FAIL_AT={}", disturbance.at));
  environment.push_back("HEADWAVE_FAIL_WITH=" + disturbance.error);
  environment.push_back(fmt::format("HEADWAVE_FAIL_ALWAYS={}", disturbance.always ? 1 : 0));
  environment.emplace_back("HEADWAVE_FAIL_PROGRAM=headwave");
  environment.push_back("HEADWAVE_FAIL_LOG=" + (scratch / "refused").string());
  return environment;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

pid_t started(std::vector<std::string> arguments, std::vector<std::string> environment,
              const std::filesystem::path& scratch) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, (scratch / "printed").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, (scratch / "said").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  arguments.insert(arguments.begin(), HEADWAVE_PROGRAM);
  pid_t child = 0;
  const int failure = posix_spawn(&child, HEADWAVE_PROGRAM, &actions, nullptr, pointers_to(arguments).data(),
                                  pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) throw std::runtime_error("cannot start " HEADWAVE_PROGRAM);
  return child;
}

// A run that hangs is ended, and counts as ended by a signal.
void wait_for(pid_t child, DisturbedEnd& end_of_run) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(60);
  int status = 0;
  rusage usage{};
  while (wait4(child, &status, WNOHANG, &usage) == 0) {
    if (Clock::now() > end) kill(child, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  end_of_run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  end_of_run.most_resident = std::int64_t{usage.ru_maxrss} * 1024;
}

}  // namespace

std::string Disturbance::text() const {
  return fmt::format("{} {}{}: {}", call, at, always ? " and all after" : "", error);
}

bool DisturbedEnd::was_refused(const std::string& what) const {
  return std::find(refused.begin(), refused.end(), what) != refused.end();
}

DisturbedEnd disturbed_run(const std::vector<std::string>& arguments, const Disturbance& disturbance,
                           const std::filesystem::path& scratch) {
  DisturbedEnd end;
  wait_for(started(arguments, environment_of(disturbance, scratch), scratch), end);
  end.errors = content_of(scratch / "said");
  std::istringstream lines(content_of(scratch / "refused"));
  for (std::string line; std::getline(lines, line);) end.refused.push_back(line);
  return end;
}

CallLoop each_call(const Disturbance& disturbance,
                   const std::function<std::string(const Disturbance& disturbance, bool& disturbed)>& complaint) {
  CallLoop loop;
  std::mutex mutex;
  std::atomic<int> next{1};
  std::atomic<bool> enough{false};
  const auto work = [&] {
    Disturbance one = disturbance;
    while (!enough && (one.at = next++) <= most_calls) {
      bool disturbed = false;
      const std::string wrong = complaint(one, disturbed);
      if (!disturbed) enough = true;
      const std::lock_guard lock(mutex);
      loop.runs += disturbed ? 1 : 0;
      if (!wrong.empty()) loop.complaints.push_back(wrong);
    }
  };
  std::thread other(work);
  work();
  other.join();
  return loop;
}
