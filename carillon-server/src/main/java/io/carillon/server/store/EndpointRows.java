package io.carillon.server.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.carillon.internal.jdbc.Row;
import io.carillon.internal.run.PolicyText;
import io.carillon.webhook.WebhookTarget;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the rows of {@link EndpointRepository}: each contains an endpoint with its secrets as JSON. */
final class EndpointRows {
    private EndpointRows() {}

    /** A secret in the JSON that the statement builds. */
    record SecretJson(
            String name,
            @Nullable String header,
            @Nullable String publicKey,
            String sealed,
            @Nullable String previous,
            @Nullable Instant previousUntil,
            Instant createdAt,
            String createdBy,
            @Nullable Instant rotatedAt) {
        private StoredEndpoint.StoredSecret toStored() {
            return new StoredEndpoint.StoredSecret(
                    name,
                    header,
                    publicKey,
                    sealed,
                    previous,
                    previousUntil,
                    new ApiKey.Creation(createdAt, createdBy),
                    rotatedAt);
        }
    }

    static StoredEndpoint read(Row row) throws SQLException {
        return new StoredEndpoint(
                row.text("project"),
                row.text("name"),
                row.number("version"),
                request(row),
                PolicyText.parseRetry(row.maybeText("retry")),
                secrets(row.maybeText("secrets")),
                new ApiKey.Creation(row.instant("created_at"), row.text("created_by")),
                row.instant("updated_at"));
    }

    private static WebhookTarget request(Row row) throws SQLException {
        return new WebhookTarget(
                null,
                row.text("url"),
                row.text("method"),
                headers(row.text("headers")),
                "",
                new WebhookTarget.Timeouts(row.seconds("total_timeout"), row.seconds("connect_timeout")),
                row.numbers("success").stream().map(Long::intValue).toList(),
                row.maybeSeconds("callback"),
                null);
    }

    @SuppressWarnings("unchecked") // EndpointRepository writes the column from a map of texts
    private static Map<String, String> headers(String json) {
        return (Map<String, String>) EndpointRepository.JSON.decode(json.getBytes(UTF_8), Map.class);
    }

    private static List<StoredEndpoint.StoredSecret> secrets(@Nullable String json) {
        if (json == null) return List.of();
        return Arrays.stream(EndpointRepository.JSON.decode(json.getBytes(UTF_8), SecretJson[].class))
                .map(SecretJson::toStored)
                .toList();
    }
}
