#include "stopping.h"

namespace headwave {

namespace {

thread_local const std::atomic<bool>* asked_to_stop = nullptr;

}  // namespace

Stoppable::Stoppable(const std::atomic<bool>* asked) : before_(asked_to_stop) {
  asked_to_stop = asked;
}

Stoppable::~Stoppable() {
  asked_to_stop = before_;
}

const std::atomic<bool>* Stoppable::flag() {
  return asked_to_stop;
}

void stop_if_asked() {
  if (asked_to_stop != nullptr && asked_to_stop->load(std::memory_order_relaxed)) throw Stopped();
}

}  // namespace headwave
