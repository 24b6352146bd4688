#pragma once

#include <cstdint>

namespace aflguard {

/// Prepares this process's TCP connections to `port` of any host for bursts of whole pieces: what is written
/// goes out at once, and a send buffer of at least `send_buffer_bytes` (as far as the system allows) takes
/// everything that may be on its way.
///
/// Paho does not give out its sockets, and stalls for a second whenever a send buffer is full, which a
/// board's default of 16 KiB is at once; so its sockets are looked up among this process's open files.
/// Returns how many there were.
int tune_connections(std::uint16_t port, int send_buffer_bytes);

}  // namespace aflguard
