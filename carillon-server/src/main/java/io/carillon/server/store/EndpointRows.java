package io.carillon.server.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.carillon.internal.jdbc.Row;
import io.carillon.webhook.WebhookTarget;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads the rows of {@link EndpointRepository}: each contains an endpoint with at most one of its secrets. */
final class EndpointRows {
    private EndpointRows() {}

    static StoredEndpoint read(Row row) throws SQLException {
        return new StoredEndpoint(
                row.text("project"),
                row.text("name"),
                row.number("version"),
                request(row),
                row.maybeText("secret") == null ? List.of() : List.of(secret(row)),
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
                row.maybeSeconds("callback"));
    }

    @SuppressWarnings("unchecked") // EndpointRepository writes the column from a map of texts
    private static Map<String, String> headers(String json) {
        return (Map<String, String>) EndpointRepository.JSON.decode(json.getBytes(UTF_8), Map.class);
    }

    private static StoredEndpoint.StoredSecret secret(Row row) throws SQLException {
        return new StoredEndpoint.StoredSecret(
                row.text("secret"),
                row.maybeText("header"),
                row.text("sealed"),
                row.maybeText("previous"),
                row.maybeInstant("previous_until"),
                new ApiKey.Creation(row.instant("secret_created_at"), row.text("secret_created_by")),
                row.maybeInstant("rotated_at"));
    }

    /** Joins the rows of each endpoint, in their order. */
    static List<StoredEndpoint> group(List<StoredEndpoint> rows) {
        Map<String, StoredEndpoint> grouped = new LinkedHashMap<>();
        for (StoredEndpoint row : rows) grouped.merge(row.project() + "/" + row.name(), row, EndpointRows::join);
        return new ArrayList<>(grouped.values());
    }

    private static StoredEndpoint join(StoredEndpoint first, StoredEndpoint second) {
        List<StoredEndpoint.StoredSecret> secrets = new ArrayList<>(first.secrets());
        secrets.addAll(second.secrets());
        return new StoredEndpoint(
                first.project(),
                first.name(),
                first.version(),
                first.request(),
                secrets,
                first.creation(),
                first.updatedAt());
    }
}
