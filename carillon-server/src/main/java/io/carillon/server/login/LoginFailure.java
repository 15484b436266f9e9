package io.carillon.server.login;

import java.util.Locale;

/** A login that failed. The page of the dashboard has a text for each cause; the log has the details. */
final class LoginFailure extends Exception {
    private static final long serialVersionUID = 1L;

    /** Why a login failed. */
    enum Cause {
        /** The user or the provider declined. */
        ACCESS_DENIED,
        /** The login did not begin in this browser, took too long, or was completed before. */
        LOGIN_EXPIRED,
        /** The provider does not answer, or not in time. */
        PROVIDER_UNREACHABLE,
        /** The provider answers with an error, which is usually caused by the configuration. */
        PROVIDER_REFUSED,
        /** The provider answers with an identity token that is not valid for this login. */
        TOKEN_INVALID,
        /** Too many logins are in progress. */
        BUSY;

        /** Returns whether a client can cause the failure with an invented response. */
        boolean isOfClient() {
            return this == LOGIN_EXPIRED || this == PROVIDER_REFUSED || this == TOKEN_INVALID;
        }

        /** Returns the name in the address of the page. */
        String text() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    private final Cause reason;

    LoginFailure(Cause reason, String detail) {
        super(detail);
        this.reason = reason;
    }

    LoginFailure(Cause reason, String detail, Throwable cause) {
        super(detail, cause);
        this.reason = reason;
    }

    Cause reason() {
        return reason;
    }
}
