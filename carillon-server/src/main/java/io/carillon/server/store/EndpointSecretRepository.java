package io.carillon.server.store;

import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Session;
import java.sql.SQLException;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** Writes the encrypted secrets of endpoints. {@link EndpointRepository} reads them. */
public final class EndpointSecretRepository {
    // The creation of a secret that is given again stays; a rotation that is in progress ends.
    private static final String PUT = """
            INSERT INTO carillon.endpoint_secret (project, endpoint, name, header, sealed, created_by)
            VALUES (:project, :endpoint, :name, :header, :sealed, :createdBy)
            ON CONFLICT (project, endpoint, name) DO UPDATE
               SET header = excluded.header, sealed = excluded.sealed, previous = NULL, previous_until = NULL
            """;

    private static final String ROTATE = """
            UPDATE carillon.endpoint_secret
               SET previous = sealed, previous_until = carillon.clock() + make_interval(secs => :overlap),
                   sealed = :sealed, rotated_at = carillon.clock()
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

    private final Transactions transactions;

    public EndpointSecretRepository(Transactions transactions) {
        this.transactions = transactions;
    }

    /** A secret to store, encrypted. A null header means that it signs requests. */
    public record NewSecret(String name, @Nullable String header, String sealed) {}

    /** Stores a secret of an endpoint, or replaces it. */
    public void put(Session session, String project, String endpoint, NewSecret secret, String createdBy)
            throws SQLException {
        bindName(session.query(PUT), project, endpoint, secret.name())
                .text("header", secret.header())
                .text("sealed", secret.sealed())
                .text("createdBy", createdBy)
                .update();
    }

    /** Replaces a secret; the previous one remains valid for {@code overlap} seconds. */
    public void rotate(Session session, String project, String endpoint, NewSecret secret, double overlap)
            throws SQLException {
        bindName(session.query(ROTATE), project, endpoint, secret.name())
                .real("overlap", overlap)
                .text("sealed", secret.sealed())
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

    /** Stores the same secret under another encryption. Returns false if the secret was changed since it was read. */
    public boolean reseal(
            StoredEndpoint endpoint, StoredEndpoint.StoredSecret before, String sealed, @Nullable String previous) {
        return transactions.runStatementAsServer(
                        session -> bindName(session.query(RESEAL), endpoint.project(), endpoint.name(), before.name())
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
