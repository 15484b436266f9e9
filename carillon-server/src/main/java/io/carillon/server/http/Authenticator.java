package io.carillon.server.http;

import java.util.Map;

/** Identifies the caller of a request. Throws a problem with status 401 if there is no valid key or token. */
@FunctionalInterface
public interface Authenticator {
    Caller identify(ApiRequest apiRequest);

    /**
     * Identifies the caller of an open stream again. This is not a use of the session: a page that is open does not
     * keep it from ending.
     *
     * @param stream the request that opened the stream, with its caller
     */
    default Caller identifyAgain(ApiRequest stream) {
        return identify(stream);
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
