#pragma once

namespace aflguard::testing {

/// Thrown by Unity's assertions when they fail or skip; caught by the runner.
struct TestAborted {};

}  // namespace aflguard::testing
