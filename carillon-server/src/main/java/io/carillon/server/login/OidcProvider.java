package io.carillon.server.login;

import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.oauth2.sdk.AuthorizationCode;
import com.nimbusds.oauth2.sdk.AuthorizationCodeGrant;
import com.nimbusds.oauth2.sdk.ErrorObject;
import com.nimbusds.oauth2.sdk.ParseException;
import com.nimbusds.oauth2.sdk.ResponseType;
import com.nimbusds.oauth2.sdk.Scope;
import com.nimbusds.oauth2.sdk.TokenRequest;
import com.nimbusds.oauth2.sdk.TokenResponse;
import com.nimbusds.oauth2.sdk.auth.ClientAuthentication;
import com.nimbusds.oauth2.sdk.auth.ClientAuthenticationMethod;
import com.nimbusds.oauth2.sdk.auth.ClientSecretBasic;
import com.nimbusds.oauth2.sdk.auth.ClientSecretPost;
import com.nimbusds.oauth2.sdk.auth.Secret;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.oauth2.sdk.id.Issuer;
import com.nimbusds.oauth2.sdk.id.State;
import com.nimbusds.oauth2.sdk.pkce.CodeChallengeMethod;
import com.nimbusds.oauth2.sdk.pkce.CodeVerifier;
import com.nimbusds.openid.connect.sdk.AuthenticationRequest;
import com.nimbusds.openid.connect.sdk.Nonce;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponse;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponseParser;
import com.nimbusds.openid.connect.sdk.validators.IDTokenClaimsVerifier;
import io.carillon.internal.value.TextCleaner;
import io.carillon.server.access.JwkSet;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Asks an identity provider who a user is (OpenID Connect): a browser goes to the provider and comes back with a code,
 * which the server exchanges for an identity token.
 */
final class OidcProvider {
    private static final Scope SCOPE = new Scope("openid", "profile", "email");
    private static final int LEEWAY_SECONDS = 60;
    /** The longest subject that OpenID Connect allows. */
    static final int MAX_SUBJECT_LENGTH = 255;

    private static final int MAX_NAME_LENGTH = 200;

    private final OidcSettings settings;
    private final ProviderConfiguration configuration;
    private final ProviderHttp http = new ProviderHttp();

    /**
     * A user, as the provider knows the user.
     *
     * @param name null if the provider does not say it
     * @param email null if the provider does not say it
     */
    record Identity(
            String subject, @Nullable String name, @Nullable String email, boolean hasAdminClaim) {}

    OidcProvider(OidcSettings settings) {
        this.settings = settings;
        this.configuration = new ProviderConfiguration(settings, http);
    }

    String issuer() {
        return settings.issuer();
    }

    /**
     * Returns the URL of the provider at which the user logs in. The provider sends the browser to {@code callback}.
     */
    URI loginUrl(LoginState login, URI callback) throws LoginFailure {
        return new AuthenticationRequest.Builder(ResponseType.CODE, SCOPE, new ClientID(settings.clientId()), callback)
                .endpointURI(configuration.get().login())
                .state(new State(login.state()))
                .nonce(new Nonce(login.nonce()))
                .codeChallenge(new CodeVerifier(login.verifier()), CodeChallengeMethod.S256)
                .build()
                .toURI();
    }

    /** Returns the user who has logged in, from the code that the browser brought back. */
    Identity identify(LoginState login, String code, Optional<String> issuer, URI callback) throws LoginFailure {
        ProviderConfiguration.Endpoints endpoints = configuration.get();
        // A response of another provider must not be completed at this one (RFC 9207).
        if (issuer.isPresent() ? !issuer.get().equals(settings.issuer()) : endpoints.namesIssuer())
            throw new LoginFailure(LoginFailure.Cause.TOKEN_INVALID, "the response names another issuer, or none");
        return verified(endpoints.keys(), identityToken(endpoints, login, code, callback), login);
    }

    private String identityToken(ProviderConfiguration.Endpoints endpoints, LoginState login, String code, URI callback)
            throws LoginFailure {
        AuthorizationCodeGrant grant =
                new AuthorizationCodeGrant(new AuthorizationCode(code), callback, new CodeVerifier(login.verifier()));
        ClientID client = new ClientID(settings.clientId());
        TokenRequest request = settings.clientSecret()
                .map(secret -> new TokenRequest.Builder(
                                endpoints.tokens(), authentication(endpoints, client, new Secret(secret)), grant)
                        .build())
                .orElseGet(() -> new TokenRequest.Builder(endpoints.tokens(), client, grant).build());
        try {
            TokenResponse response =
                    OIDCTokenResponseParser.parse(request.toHTTPRequest().send(http));
            if (!response.indicatesSuccess())
                throw refused(response.toErrorResponse().getErrorObject());
            String token = ((OIDCTokenResponse) response.toSuccessResponse())
                    .getOIDCTokens()
                    .getIDTokenString();
            if (token == null) throw new LoginFailure(LoginFailure.Cause.TOKEN_INVALID, "there is no identity token");
            return token;
        } catch (IOException away) {
            throw new LoginFailure(LoginFailure.Cause.PROVIDER_UNREACHABLE, "no answer to the token request", away);
        } catch (ParseException odd) {
            throw new LoginFailure(LoginFailure.Cause.PROVIDER_REFUSED, "unreadable answer to the token request", odd);
        }
    }

    private static ClientAuthentication authentication(
            ProviderConfiguration.Endpoints endpoints, ClientID client, Secret secret) {
        List<ClientAuthenticationMethod> methods = endpoints.clientAuthentication();
        boolean onlyPost = methods.contains(ClientAuthenticationMethod.CLIENT_SECRET_POST)
                && !methods.contains(ClientAuthenticationMethod.CLIENT_SECRET_BASIC);
        return onlyPost ? new ClientSecretPost(client, secret) : new ClientSecretBasic(client, secret);
    }

    private static LoginFailure refused(@Nullable ErrorObject error) {
        String text = error == null ? "" : error.getCode() + ": " + error.getDescription();
        // The code was used before, belongs to another login, or is too old.
        boolean expired = error != null && "invalid_grant".equals(error.getCode());
        return new LoginFailure(
                expired ? LoginFailure.Cause.LOGIN_EXPIRED : LoginFailure.Cause.PROVIDER_REFUSED,
                "error of the token request: " + text);
    }

    private Identity verified(JwkSet keys, String token, LoginState login) throws LoginFailure {
        Optional<Map<String, Object>> claims = keys.signedClaims(token);
        if (claims.isEmpty() && !keys.isKnown())
            throw new LoginFailure(LoginFailure.Cause.PROVIDER_UNREACHABLE, "the keys of the provider are not known");
        if (claims.isEmpty())
            throw new LoginFailure(
                    LoginFailure.Cause.TOKEN_INVALID, "the signature is not valid (RS256 and ES256 are accepted)");
        try {
            new IDTokenClaimsVerifier(
                            new Issuer(settings.issuer()),
                            new ClientID(settings.clientId()),
                            new Nonce(login.nonce()),
                            LEEWAY_SECONDS)
                    .verify(JWTClaimsSet.parse(claims.get()), null);
        } catch (BadJOSEException | java.text.ParseException refused) {
            throw new LoginFailure(LoginFailure.Cause.TOKEN_INVALID, "a claim is not valid", refused);
        }
        return identity(claims.get());
    }

    private Identity identity(Map<String, Object> claims) throws LoginFailure {
        if (!(claims.get("sub") instanceof String subject)
                || subject.isEmpty()
                || subject.length() > MAX_SUBJECT_LENGTH
                || !TextCleaner.isClean(subject))
            throw new LoginFailure(LoginFailure.Cause.TOKEN_INVALID, "the subject is not valid");
        String name = shown(claims.get("name"));
        return new Identity(
                subject,
                name == null ? shown(claims.get("preferred_username")) : name,
                shown(claims.get("email")),
                settings.adminClaim().filter(claim -> claim.isIn(claims)).isPresent());
    }

    private static @Nullable String shown(@Nullable Object claim) {
        return claim instanceof String text && !text.isBlank()
                ? TextCleaner.clean(text.strip(), MAX_NAME_LENGTH)
                : null;
    }
}
