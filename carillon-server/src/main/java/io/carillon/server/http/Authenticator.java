package io.carillon.server.http;

/** Identifies the caller of a request. Throws a problem with status 401 if there is no valid key or token. */
@FunctionalInterface
public interface Authenticator {
    Caller identify(ApiRequest apiRequest);
}
