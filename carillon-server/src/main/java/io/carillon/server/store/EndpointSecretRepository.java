package io.carillon.server.store;

import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.jdbc.Session;
import io.carillon.webhook.Endpoint;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes the encrypted secrets of endpoints, and reads those of all projects for a change of the master key. {@link
 * EndpointRepository} reads those of an endpoint.
 */
public final class EndpointSecretRepository {
    // The creation of a secret that is given again stays; a rotation that is in progress ends.
    private static final String PUT = """
            INSERT INTO carillon.endpoint_secret (project, endpoint, name, header, sealed, public_key, created_by)
            VALUES (:project, :endpoint, :name, :header, :sealed, :publicKey, :createdBy)
            ON CONFLICT (project, endpoint, name) DO UPDATE
               SET header = excluded.header, sealed = excluded.sealed, public_key = excluded.public_key,
                   previous = NULL, previous_until = NULL
            """;

    private static final String ROTATE = """
            UPDATE carillon.endpoint_secret
               SET previous = sealed, previous_until = carillon.clock() + make_interval(secs => :overlap),
                   sealed = :sealed, public_key = :publicKey, rotated_at = carillon.clock()
             WHERE project = :project AND endpoint = :endpoint AND name = :name
            """;

    private static final String DELETE_OTHERS = """
            DELETE FROM carillon.endpoint_secret
             WHERE project = :project AND endpoint = :endpoint AND name <> ALL (:names)
            """;

    // If a rotation has replaced the secret meanwhile, this changes nothing: the rotation encrypted with
    // the current key.
    private static final String RESEAL = """
            UPDATE carillon.endpoint_secret SET sealed = :sealed, previous = :previous
             WHERE project = :project AND endpoint = :endpoint AND name = :name AND sealed = :before
            """;

    private static final String LIST_SEALED = """
            SELECT s.project, s.endpoint, e.url, s.name, s.header, s.sealed,
                   CASE WHEN s.previous_until > carillon.clock() THEN s.previous END AS previous
              FROM carillon.endpoint_secret s
              JOIN carillon.endpoint e ON e.project = s.project AND e.name = s.endpoint
             WHERE (s.project, s.endpoint, s.name) > (:project, :endpoint, :name)
             ORDER BY s.project, s.endpoint, s.name LIMIT :limit
            """;

    // The id of the master key is the second part of an encrypted text. Only the rows of the samples are read
    // completely.
    private static final String SAMPLES = """
            WITH keyed AS (
              SELECT project, endpoint, name, split_part(left(sealed, 200), '~', 2) AS key_id
                FROM carillon.endpoint_secret ORDER BY project, endpoint, name LIMIT 10000),
            sample AS (
              SELECT project, endpoint, name, key_id, count(*) OVER (PARTITION BY key_id) AS stored_with_key,
                     row_number() OVER (PARTITION BY key_id ORDER BY project, endpoint, name) AS place
                FROM keyed ORDER BY place LIMIT 100)
            SELECT s.project, s.endpoint, e.url, s.name, s.header, s.sealed, p.key_id, p.stored_with_key,
                   NULL::text AS previous
              FROM sample p
              JOIN carillon.endpoint_secret s ON s.project = p.project AND s.endpoint = p.endpoint AND s.name = p.name
              JOIN carillon.endpoint e ON e.project = s.project AND e.name = s.endpoint
             WHERE p.place <= 3
            """;

    private final Transactions transactions;

    public EndpointSecretRepository(Transactions transactions) {
        this.transactions = transactions;
    }

    /**
     * A secret to store, encrypted.
     *
     * @param header the header whose value it is; null if it signs requests
     * @param publicKey the public key if it signs with Ed25519; null otherwise
     */
    public record NewSecret(
            String name,
            @Nullable String header,
            String sealed,
            @Nullable String publicKey) {}

    /**
     * A stored secret with what its encryption is bound to.
     *
     * @param url the URL of its endpoint
     * @param previous the encrypted previous secret while it also signs; null otherwise
     */
    public record SealedSecret(
            String project,
            String endpoint,
            String url,
            String name,
            @Nullable String header,
            String sealed,
            @Nullable String previous) {
        private static SealedSecret read(Row row) throws SQLException {
            return new SealedSecret(
                    row.text("project"),
                    row.text("endpoint"),
                    row.text("url"),
                    row.text("name"),
                    row.maybeText("header"),
                    row.text("sealed"),
                    row.maybeText("previous"));
        }

        /** Returns scheme, host and port of the URL. */
        public String origin() {
            return Endpoint.originOf(url);
        }
    }

    /**
     * One of the secrets that the same master key encrypted.
     *
     * @param keyId the id of the master key
     * @param storedWithKey how many secrets the key encrypted
     */
    public record Sample(String keyId, long storedWithKey, SealedSecret secret) {}

    /** Stores a secret of an endpoint, or replaces it. */
    public void put(Session session, String project, String endpoint, NewSecret secret, String createdBy)
            throws SQLException {
        bindName(session.query(PUT), project, endpoint, secret.name())
                .text("header", secret.header())
                .text("sealed", secret.sealed())
                .text("publicKey", secret.publicKey())
                .text("createdBy", createdBy)
                .update();
    }

    /** Replaces a secret; the previous one remains valid for {@code overlap} seconds. */
    public void rotate(Session session, String project, String endpoint, NewSecret secret, double overlap)
            throws SQLException {
        bindName(session.query(ROTATE), project, endpoint, secret.name())
                .real("overlap", overlap)
                .text("sealed", secret.sealed())
                .text("publicKey", secret.publicKey())
                .update();
    }

    /** Deletes the secrets of an endpoint whose names are not in {@code names}. */
    public void deleteOthers(Session session, String project, String endpoint, Collection<String> names)
            throws SQLException {
        session.query(DELETE_OTHERS)
                .text("project", project)
                .text("endpoint", endpoint)
                .texts("names", names)
                .update();
    }

    /** Returns secrets of all projects from after this position, without row-level security. */
    public List<SealedSecret> listSealed(String project, String endpoint, String name, int limit) {
        return transactions.runStatementAsServer(
                session -> bindName(session.query(LIST_SEALED), project, endpoint, name)
                        .number("limit", limit)
                        .list(SealedSecret::read));
    }

    /**
     * Returns up to three secrets for each master key that encrypted one of the first 10,000, at most 100 together,
     * without row-level security.
     */
    public List<Sample> samples() {
        return transactions.runStatementAsServer(session -> session.query(SAMPLES)
                .list(row -> new Sample(row.text("key_id"), row.number("stored_with_key"), SealedSecret.read(row))));
    }

    /** Stores the same secret under another encryption. Returns false if the secret was changed since it was read. */
    public boolean reseal(SealedSecret before, String sealed, @Nullable String previous) {
        return transactions.runStatementAsServer(
                        session -> bindName(session.query(RESEAL), before.project(), before.endpoint(), before.name())
                                .text("sealed", sealed)
                                .text("previous", previous)
                                .text("before", before.sealed())
                                .update())
                == 1;
    }

    private static Query bindName(Query query, String project, String endpoint, String name) throws SQLException {
        return query.text("project", project).text("endpoint", endpoint).text("name", name);
    }
}
