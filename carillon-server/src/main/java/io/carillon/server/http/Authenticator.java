package io.carillon.server.http;

/** Says who calls, or throws a problem with status 401. */
@FunctionalInterface
public interface Authenticator {
    Caller identify(Call call);
}
