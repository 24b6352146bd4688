#include "firmware_sim/local_fleet/child_programs.h"

namespace aflguard::sim {

ChildGroup& ChildPrograms::group(std::string_view name) {
  if (name == kBrokerProgram) return broker_;
  return name == kGatewayProgram ? gateway_ : clients_;
}

Status ChildPrograms::start(std::string_view name, const Command& command) {
  ChildGroup& own = group(name);
  return own.start((&own == &clients_ ? "client " : "the ") + std::string(name), command.arguments,
                   command.folder, command.log);
}

Status ChildPrograms::check_running(std::string_view name) {
  return group(name).check_running();
}

Status ChildPrograms::check_running() {
  TRY_STATUS(broker_.check_running());
  TRY_STATUS(gateway_.check_running());
  return clients_.check_running();
}

pid_t ChildPrograms::pid(std::string_view name) {
  return group(name).pid();
}

void ChildPrograms::stop() {
  stop_clients();
  stop_gateway();
  stop_broker();
}

}  // namespace aflguard::sim
