package io.carillon.server.access;

import io.carillon.server.http.Caller;
import java.util.Optional;

/** Reads bearer tokens that somebody else issued; empty: it is none of theirs, or not valid now. */
@FunctionalInterface
public interface Tokens {
    Optional<Caller> read(String bearer);
}
