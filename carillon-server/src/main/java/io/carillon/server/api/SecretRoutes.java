package io.carillon.server.api;

import io.carillon.internal.value.Names;
import io.carillon.server.hooks.SecretStore;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import io.carillon.server.store.ApiKey;
import io.carillon.server.store.SecretRepository;
import io.carillon.spi.Secret;
import io.carillon.webhook.sign.SigningSecret;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Webhook secrets of the caller's project. A generated secret is shown only in the response that created it. */
final class SecretRoutes {
    private static final Duration LONGEST_OVERLAP = Duration.ofDays(30);
    private static final String SIGNING_PREFIX = "whsec_";
    /** The characters that a header value may contain. */
    private static final Pattern HEADER_VALUE = Pattern.compile("[\\x21-\\x7E](?:[\\x20-\\x7E]{0,1998}[\\x21-\\x7E])?");

    private final RequestExecutor executor;
    private final SecretStore secretStore;

    SecretRoutes(RequestExecutor executor) {
        this.executor = executor;
        this.secretStore = executor.context().webhooks().secretStore();
    }

    List<Route> routes() {
        return List.of(
                Route.get("/v1/secrets", Permission.READ, this::list).withQuery("limit", "cursor"),
                Route.post("/v1/secrets", Permission.ADMIN, this::create),
                Route.post("/v1/secrets:re-encrypt", Permission.ADMIN, this::reEncrypt),
                Route.get("/v1/secrets/{name}", Permission.READ, this::get),
                Route.delete("/v1/secrets/{name}", Permission.ADMIN, this::delete),
                Route.post("/v1/secrets/{name}/rotate", Permission.ADMIN, this::rotate));
    }

    private ApiResponse list(ApiRequest request) {
        int limit = request.limit();
        String after = executor.cursor(request).orElse("");
        List<SecretRepository.StoredSecret> found = executor.read(
                request,
                transaction -> secretStore
                        .repository()
                        .list(transaction.session(), transaction.project().name(), after, limit + 1));
        return executor.page(request, found, limit, JsonResponses::secret, SecretRepository.StoredSecret::name);
    }

    private ApiResponse get(ApiRequest request) {
        return ApiResponse.ok(JsonResponses.secret(
                executor.read(request, transaction -> requireSecret(transaction, request.pathName("name")))));
    }

    private SecretRepository.StoredSecret requireSecret(RequestExecutor.RequestTransaction transaction, String name)
            throws SQLException {
        return secretStore
                .repository()
                .get(transaction.session(), transaction.project().name(), name)
                .orElseThrow(() -> Problem.notFound("secret"));
    }

    /** A secret to store; the response shows it only if the server generated it. */
    private record NewSecret(Secret value, boolean signing, boolean generated) {
        /** Reads the given secret, or generates a signing secret if none is given. */
        static NewSecret of(JsonFields body) {
            Optional<String> given = body.text("value");
            if (given.isEmpty())
                return new NewSecret(Secret.of(SigningSecret.generate().reveal()), true, true);
            String value = given.get();
            boolean signing = value.startsWith(SIGNING_PREFIX);
            if (signing) body.convert("value", () -> SigningSecret.parse(value));
            else if (!HEADER_VALUE.matcher(value).matches())
                throw Problem.invalid("/value", "This must have between 1 and 2000 printable ASCII characters.");
            return new NewSecret(Secret.of(value), signing, false);
        }
    }

    private ApiResponse create(ApiRequest request) {
        RequestExecutor.refuseIdempotencyKey(request);
        JsonFields body = request.fields();
        String given = body.required("name", body.text("name"));
        String name = body.convert("name", () -> Names.check("secret", given));
        NewSecret newSecret = NewSecret.of(body);
        body.refuseUnknown();
        requireMasterKey();
        return executor.change(request, "secret.make", "secret/" + name, transaction -> {
            String project = transaction.project().name();
            SecretRepository.StoredSecret storedSecret = new SecretRepository.StoredSecret(
                    project,
                    name,
                    newSecret.signing(),
                    secretStore.seal(project, name, newSecret.value()),
                    null,
                    null,
                    new ApiKey.Creation(Instant.EPOCH, request.caller().actor()),
                    null);
            if (!secretStore.repository().insert(transaction.session(), storedSecret))
                throw Problem.of(
                        409, "secret-exists", "A secret of this name already exists. Rotate it or use another name.");
            return createdResponse(transaction, name, newSecret);
        });
    }

    /** Returns the only response that shows a generated secret. */
    private ApiResponse createdResponse(
            RequestExecutor.RequestTransaction transaction, String name, NewSecret newSecret) throws SQLException {
        JsonObject jsonObject = JsonResponses.secret(requireSecret(transaction, name));
        return ApiResponse.json(
                201,
                newSecret.generated()
                        ? jsonObject.put("value", newSecret.value().reveal())
                        : jsonObject);
    }

    /**
     * Replaces a secret. Both secrets sign during the overlap, so that receivers can change theirs at any
     * time within it.
     */
    private ApiResponse rotate(ApiRequest request) {
        RequestExecutor.refuseIdempotencyKey(request);
        JsonFields body = request.optionalFields();
        Duration overlap = body.duration("overlap").orElse(Duration.ofHours(24));
        NewSecret newSecret = NewSecret.of(body);
        body.refuseUnknown();
        if (overlap.isNegative() || overlap.compareTo(LONGEST_OVERLAP) > 0)
            throw Problem.invalid("/overlap", "This must be between 0 and 30 days.");
        String name = request.pathName("name");
        return executor.change(request, "secret.rotate", "secret/" + name, transaction -> {
            SecretRepository.StoredSecret old = requireSecret(transaction, name);
            requireMasterKey();
            if (old.signing() != newSecret.signing())
                throw Problem.invalid(
                        "/value",
                        old.signing()
                                ? "This is a signing secret. Leave out the value, or use one that starts with whsec_."
                                : "This secret is the value of a header. Send the new value.");
            String sealed = secretStore.seal(old.project(), name, newSecret.value());
            secretStore
                    .repository()
                    .rotate(transaction.session(), old.project(), name, sealed, overlap.toMillis() / 1000.0);
            transaction.addAuditDetail("overlap", overlap.toString());
            return createdResponse(transaction, name, newSecret);
        });
    }

    private ApiResponse delete(ApiRequest request) {
        String name = request.pathName("name");
        return executor.change(request, "secret.delete", "secret/" + name, transaction -> {
            if (!secretStore
                    .repository()
                    .delete(transaction.session(), transaction.project().name(), name))
                throw Problem.notFound("secret");
            return ApiResponse.noContent();
        });
    }

    /**
     * Encrypts up to 10,000 secrets again with the current master key. The caller repeats the request with {@code next}
     * until the response has none.
     */
    private ApiResponse reEncrypt(ApiRequest request) {
        request.caller().requireServerAdmin();
        JsonFields body = request.optionalFields();
        String after = body.text("after").orElse("");
        body.refuseUnknown();
        requireMasterKey();
        SecretStore.ResealResult resealResult = secretStore.reseal(after);
        return executor.change(request, "secret.re-encrypt", "secrets", transaction -> {
            transaction.addAuditDetail("done", Integer.toString(resealResult.done()));
            return ApiResponse.ok(new JsonObject()
                    .put("done", resealResult.done())
                    .put("unreadable", resealResult.unreadable())
                    .put("next", resealResult.next()));
        });
    }

    private void requireMasterKey() {
        if (!secretStore.hasMasterKey())
            throw Problem.of(
                    409,
                    "no-master-key",
                    "This server has no master key to encrypt secrets. Set CARILLON_MASTER_KEYS_FILE and restart it.");
    }
}
