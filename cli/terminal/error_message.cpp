#include "error_message.h"

#include <algorithm>

namespace headwave::cli {

std::string remedy_as_flag(const Remedy& remedy) {
  std::string flag = "--" + remedy.option;
  std::replace(flag.begin(), flag.end(), '_', '-');
  return remedy.value.empty() ? flag : flag + " " + remedy.value;
}

std::string error_message(const std::exception& error) {
  const auto* ours = dynamic_cast<const Error*>(&error);
  return ours == nullptr ? error.what() : ours->message(remedy_as_flag);
}

}  // namespace headwave::cli
