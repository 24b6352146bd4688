#include "fleet/provisioning_openssl/authority_files.h"

#include "core/identity/pem_limit.h"
#include "core/system/atomic_file.h"
#include "core/system/secret_file.h"

namespace aflguard::fleet {

Result<OpensslAuthority> load_authority(const FleetFolder& folder) {
  TRY(const std::string certificate, read_text_file(folder.authority() / "ca.crt", kMaxPemBytes));
  const auto key = read_secret_file(folder.authority() / "ca.key");
  if (!key.ok()) {
    return Error{key.error().kind,
                 key.error().message + "; certificates are made where the authority's key is, by its owner"};
  }
  auto authority = OpensslAuthority::load(certificate, *key);
  if (!authority.ok()) return at(folder.authority().string(), authority.error());
  return authority;
}

}  // namespace aflguard::fleet
