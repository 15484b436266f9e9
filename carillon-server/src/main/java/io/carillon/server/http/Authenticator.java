package io.carillon.server.http;

/** Identifies the caller of a request. Throws a problem with status 401 if there is no valid key or token. */
@FunctionalInterface
public interface Authenticator {
    Caller identify(ApiRequest apiRequest);

    /** Called after a request of an identified caller was refused with status 403. */
    default void onForbidden(ApiRequest refused) {}
}
