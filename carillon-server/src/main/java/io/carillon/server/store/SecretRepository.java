package io.carillon.server.store;

import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.jdbc.Session;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The encrypted secrets of webhooks. This class does not decrypt them. */
public final class SecretRepository {
    private static final String COLUMNS = """
            SELECT project, name, kind, sealed, created_at, created_by, rotated_at,
                   CASE WHEN previous_until > carillon.clock() THEN previous END AS previous,
                   CASE WHEN previous_until > carillon.clock() THEN previous_until END AS previous_until
              FROM carillon.webhook_secret
            """;

    private static final String GET = COLUMNS + "WHERE project = :project AND name = :name";

    private static final String LIST =
            COLUMNS + "WHERE project = :project AND name > :after ORDER BY name LIMIT :limit";

    private static final String ALL =
            COLUMNS + "WHERE (project, name) > (:project, :name) ORDER BY project, name LIMIT :limit";

    private static final String INSERT = """
            INSERT INTO carillon.webhook_secret (project, name, kind, sealed, created_by)
            VALUES (:project, :name, :kind, :sealed, :createdBy)
            ON CONFLICT (project, name) DO NOTHING
            """;

    private static final String ROTATE = """
            UPDATE carillon.webhook_secret
               SET previous = sealed, previous_until = carillon.clock() + make_interval(secs => :overlap),
                   sealed = :sealed, rotated_at = carillon.clock()
             WHERE project = :project AND name = :name
            """;

    private static final String DELETE =
            "DELETE FROM carillon.webhook_secret WHERE project = :project AND name = :name";

    // If a rotation has replaced the secret meanwhile, this changes nothing: the rotation encrypted with
    // the current key.
    private static final String RESEAL = """
            UPDATE carillon.webhook_secret SET sealed = :sealed, previous = :previous
             WHERE project = :project AND name = :name AND sealed = :before
            """;

    private final Transactions transactions;

    public SecretRepository(Transactions transactions) {
        this.transactions = transactions;
    }

    /**
     * A stored secret.
     *
     * @param signing whether it signs webhooks; otherwise it is the value of a header
     * @param sealed the encrypted secret
     * @param previous the encrypted previous secret while it also signs; null otherwise
     * @param rotatedAt null if it was never rotated
     */
    public record StoredSecret(
            String project,
            String name,
            boolean signing,
            String sealed,
            @Nullable String previous,
            @Nullable Instant previousUntil,
            ApiKey.Creation creation,
            @Nullable Instant rotatedAt) {}

    /** Returns a secret, without row-level security: a node executes the runs of all projects. */
    public Optional<StoredSecret> find(String project, String name) {
        return transactions.runStatementAsServer(session -> get(session, project, name));
    }

    public Optional<StoredSecret> get(Session session, String project, String name) throws SQLException {
        return bindName(session.query(GET), project, name).first(SecretRepository::read);
    }

    public List<StoredSecret> list(Session session, String project, String after, int limit) throws SQLException {
        return session.query(LIST)
                .text("project", project)
                .text("after", after)
                .number("limit", limit)
                .list(SecretRepository::read);
    }

    /** Returns secrets of all projects from after this project and name, without row-level security. */
    public List<StoredSecret> listAllProjects(String project, String name, int limit) {
        return transactions.runStatementAsServer(session -> bindName(session.query(ALL), project, name)
                .number("limit", limit)
                .list(SecretRepository::read));
    }

    /** Stores a secret. Returns false if the name is taken. */
    public boolean insert(Session session, StoredSecret secret) throws SQLException {
        String kind = secret.signing() ? "signing" : "value";
        return bindName(session.query(INSERT), secret.project(), secret.name())
                        .text("kind", kind)
                        .text("sealed", secret.sealed())
                        .text("createdBy", secret.creation().by())
                        .update()
                == 1;
    }

    /** Replaces a secret; the previous one remains valid for {@code overlap} seconds. */
    public boolean rotate(Session session, String project, String name, String sealed, double overlap)
            throws SQLException {
        return bindName(session.query(ROTATE), project, name)
                        .real("overlap", overlap)
                        .text("sealed", sealed)
                        .update()
                == 1;
    }

    public boolean delete(Session session, String project, String name) throws SQLException {
        return bindName(session.query(DELETE), project, name).update() == 1;
    }

    /** Stores the same secret under another encryption. Returns false if the secret was changed since it was read. */
    public boolean reseal(StoredSecret before, String sealed, @Nullable String previous) {
        return transactions.runStatementAsServer(
                        session -> bindName(session.query(RESEAL), before.project(), before.name())
                                .text("sealed", sealed)
                                .text("previous", previous)
                                .text("before", before.sealed())
                                .update())
                == 1;
    }

    private static Query bindName(Query query, String project, String name) throws SQLException {
        return query.text("project", project).text("name", name);
    }

    private static StoredSecret read(Row row) throws SQLException {
        return new StoredSecret(
                row.text("project"),
                row.text("name"),
                row.text("kind").equals("signing"),
                row.text("sealed"),
                row.maybeText("previous"),
                row.maybeInstant("previous_until"),
                new ApiKey.Creation(row.instant("created_at"), row.text("created_by")),
                row.maybeInstant("rotated_at"));
    }
}
