package io.carillon.server.access;

import io.carillon.server.http.Caller;
import java.util.Optional;

/** Verifies bearer tokens of another issuer. Returns empty if the token is not from this issuer or not valid now. */
@FunctionalInterface
public interface BearerTokenVerifier {
    Optional<Caller> verify(String bearer);
}
