package io.carillon.server.login;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.TextCleaner;
import io.carillon.server.access.BoundedHttp;
import java.net.URI;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;

/**
 * The identity provider with which users log in.
 *
 * @param issuer its name, a URL under which it publishes its configuration
 * @param clientId the name of this server at the provider
 * @param clientSecret empty if the provider knows this server as a public client
 * @param adminClaim the claim that makes a user the first admin; empty if none does
 */
public record OidcSettings(
        String issuer, String clientId, Optional<String> clientSecret, Optional<AdminClaim> adminClaim) {
    public OidcSettings {
        if (!isAllowed(issuer))
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The issuer must be a URL that begins with https://; http:// is allowed for an address of "
                            + "this machine"
                            + " only (was %s).".formatted(TextCleaner.clean(issuer, 200)));
        if (clientId.isBlank())
            throw new CarillonException(ErrorCode.INVALID_OPTION, "The client id must not be empty.");
    }

    /** Returns whether a provider may have this issuer. */
    public static boolean isAllowed(String issuer) {
        try {
            URI uri = URI.create(issuer);
            return BoundedHttp.isAllowed(uri) && uri.getRawQuery() == null && uri.getRawFragment() == null;
        } catch (IllegalArgumentException malformed) {
            return false;
        }
    }

    /** Returns the URL of the provider's configuration. */
    URI configuration() {
        String base = issuer.endsWith("/") ? issuer.substring(0, issuer.length() - 1) : issuer;
        return URI.create(base + "/.well-known/openid-configuration");
    }

    /** Returns the name of the provider that the login page shows. */
    public String displayName() {
        return URI.create(issuer).getHost();
    }

    /** A claim of the identity token that must have this value, or contain it in its list. */
    public record AdminClaim(String name, String value) {
        /** Parses {@code name=value}; empty if the text has another form. */
        public static Optional<AdminClaim> parse(String text) {
            int equals = text.indexOf('=');
            if (equals <= 0 || equals == text.length() - 1) return Optional.empty();
            return Optional.of(new AdminClaim(text.substring(0, equals), text.substring(equals + 1)));
        }

        boolean isIn(Map<String, Object> claims) {
            Object claim = claims.get(name);
            return claim instanceof Collection<?> values ? values.contains(value) : value.equals(String.valueOf(claim));
        }
    }
}
