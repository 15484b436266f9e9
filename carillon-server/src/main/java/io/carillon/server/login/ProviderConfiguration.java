package io.carillon.server.login;

import com.nimbusds.oauth2.sdk.ParseException;
import com.nimbusds.oauth2.sdk.auth.ClientAuthenticationMethod;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import io.carillon.server.access.BoundedHttp;
import io.carillon.server.access.JwkSet;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The configuration that the provider publishes. It is read at the first login and again after an hour; if the provider
 * does not answer then, the last configuration is used. After a failure, the next attempt is two seconds later at the
 * earliest.
 */
final class ProviderConfiguration {
    private static final long MAX_AGE_NANOS = Duration.ofHours(1).toNanos();
    private static final long PAUSE_NANOS = Duration.ofSeconds(2).toNanos();

    private final OidcSettings settings;
    private final ProviderHttp http;
    private @Nullable Endpoints known;
    private @Nullable LoginFailure failure;
    private long triedNanos;

    /**
     * The parts of the configuration that a login needs.
     *
     * @param namesIssuer whether the provider names itself in every response
     */
    record Endpoints(
            URI login,
            URI tokens,
            URI keySet,
            JwkSet keys,
            List<ClientAuthenticationMethod> clientAuthentication,
            boolean namesIssuer) {}

    ProviderConfiguration(OidcSettings settings, ProviderHttp http) {
        this.settings = settings;
        this.http = http;
    }

    /** Returns the configuration; reads it if it is not known or too old. */
    synchronized Endpoints get() throws LoginFailure {
        long age = System.nanoTime() - triedNanos;
        boolean tried = known != null || failure != null;
        if (!tried || age > (failure == null ? MAX_AGE_NANOS : PAUSE_NANOS)) refresh();
        if (known != null) return known;
        if (failure != null) throw failure;
        throw new IllegalStateException("the configuration was neither read nor refused");
    }

    private void refresh() {
        try {
            known = read();
            failure = null;
        } catch (LoginFailure refused) {
            failure = refused;
        }
        triedNanos = System.nanoTime();
    }

    private Endpoints read() throws LoginFailure {
        try {
            BoundedHttp.Reply reply = http.get(settings.configuration());
            if (reply.status() != 200)
                throw new LoginFailure(
                        LoginFailure.Cause.PROVIDER_UNREACHABLE,
                        "%s answered with status %d".formatted(settings.configuration(), reply.status()));
            OIDCProviderMetadata metadata = OIDCProviderMetadata.parse(reply.body());
            if (!metadata.getIssuer().getValue().equals(settings.issuer()))
                throw new LoginFailure(
                        LoginFailure.Cause.PROVIDER_REFUSED,
                        "%s is the configuration of the issuer %s, not of %s"
                                .formatted(settings.configuration(), metadata.getIssuer(), settings.issuer()));
            return endpoints(metadata);
        } catch (IOException away) {
            throw new LoginFailure(
                    LoginFailure.Cause.PROVIDER_UNREACHABLE, "could not read " + settings.configuration(), away);
        } catch (ParseException odd) {
            throw new LoginFailure(
                    LoginFailure.Cause.PROVIDER_REFUSED, "could not parse " + settings.configuration(), odd);
        }
    }

    private Endpoints endpoints(OIDCProviderMetadata metadata) throws LoginFailure {
        URI keySet = allowed("jwks_uri", metadata.getJWKSetURI());
        List<ClientAuthenticationMethod> methods = metadata.getTokenEndpointAuthMethods();
        return new Endpoints(
                allowed("authorization_endpoint", metadata.getAuthorizationEndpointURI()),
                allowed("token_endpoint", metadata.getTokenEndpointURI()),
                keySet,
                // The keys know how old they are.
                known != null && known.keySet().equals(keySet) ? known.keys() : JwkSet.fromUri(keySet),
                methods == null ? List.of() : methods,
                metadata.supportsAuthorizationResponseIssuerParam());
    }

    /** A network that can change these URLs can log in as any user. */
    private static URI allowed(String name, @Nullable URI uri) throws LoginFailure {
        if (uri != null && BoundedHttp.isAllowed(uri)) return uri;
        throw new LoginFailure(
                LoginFailure.Cause.PROVIDER_REFUSED,
                "%s of the provider must be a URL with https, or with http on this machine (is %s)"
                        .formatted(name, uri));
    }
}
