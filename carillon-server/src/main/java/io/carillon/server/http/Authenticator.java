package io.carillon.server.http;

import java.util.Map;

/** Identifies the caller of a request. Throws a problem with status 401 if there is no valid key or token. */
@FunctionalInterface
public interface Authenticator {
    Caller identify(ApiRequest apiRequest);

    /** Identifies the caller by the key or token of a session. It was valid when the session started. */
    default Caller identifySession(ApiRequest apiRequest) {
        return identify(apiRequest);
    }

    /**
     * Returns the headers that tell an identified caller how many requests its project may send; empty if any number.
     */
    default Map<String, String> rateHeaders(Caller caller) {
        return Map.of();
    }

    /** Called after a request of an identified caller was refused with status 403. */
    default void onForbidden(ApiRequest refused) {}
}
