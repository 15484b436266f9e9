package io.carillon.server.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.json.JsonCodec;
import io.carillon.internal.run.PolicyText;
import io.carillon.run.Retry;
import io.carillon.webhook.WebhookTarget;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The endpoints of projects with their encrypted secrets. This class does not decrypt secrets. */
public final class EndpointRepository {
    static final JsonCodec JSON = new JsonCodec();

    /** One row for each endpoint. One statement, so that URL and secrets fit together. */
    private static final String SELECT = """
            SELECT e.project, e.name, e.version, e.url, e.method, e.headers::text AS headers,
                   e.success::bigint[] AS success,
                   extract(epoch FROM e.total_timeout)::float8 AS total_timeout,
                   extract(epoch FROM e.connect_timeout)::float8 AS connect_timeout,
                   extract(epoch FROM e.callback)::float8 AS callback, e.retry, e.created_at, e.created_by,
                   e.updated_at,
                   (SELECT json_agg(json_build_object('name', s.name, 'header', s.header, 'publicKey', s.public_key,
                             'sealed', %s, 'previous', %s,
                             'previousUntil', CASE WHEN s.previous_until > carillon.clock() THEN s.previous_until END,
                             'createdAt', s.created_at, 'createdBy', s.created_by, 'rotatedAt', s.rotated_at)
                             ORDER BY s.name)::text
                      FROM carillon.endpoint_secret s WHERE s.project = e.project AND s.endpoint = e.name) AS secrets
              FROM carillon.endpoint e
            """;

    private static final String GET =
            SELECT.formatted("s.sealed", "CASE WHEN s.previous_until > carillon.clock() THEN s.previous END")
                    + "WHERE e.project = :project AND e.name = :name";

    /** Without the encrypted secrets, which are the largest part. */
    private static final String LIST = SELECT.formatted("''", "NULL::text")
            + "WHERE e.project = :project AND e.name > :after ORDER BY e.name LIMIT :limit";

    private static final String COUNT = """
            SELECT count(*) AS endpoints
              FROM (SELECT 1 FROM carillon.endpoint WHERE project = :project LIMIT :limit) few
            """;

    private static final String INSERT = """
            INSERT INTO carillon.endpoint (project, name, url, method, headers, total_timeout, connect_timeout,
                                           success, callback, retry, created_by)
            VALUES (:project, :name, :url, :method, CAST(:headers AS jsonb), make_interval(secs => :total),
                    make_interval(secs => :connect), :success, make_interval(secs => :callback), :retry, :createdBy)
            ON CONFLICT (project, name) DO NOTHING
            """;

    private static final String UPDATE = """
            UPDATE carillon.endpoint
               SET version = version + 1, url = :url, method = :method, headers = CAST(:headers AS jsonb),
                   total_timeout = make_interval(secs => :total), connect_timeout = make_interval(secs => :connect),
                   success = :success, callback = make_interval(secs => :callback), retry = :retry,
                   updated_at = carillon.clock()
             WHERE project = :project AND name = :name
            """;

    // A run must not be stored for an endpoint that is being deleted, and the other way round. Changes of the
    // endpoint do not wait for this lock.
    private static final String LOCK_FOR_USE =
            "SELECT 1 FROM carillon.endpoint WHERE project = :project AND name = :name FOR KEY SHARE";

    private static final String LOCK_FOR_UPDATE =
            "SELECT 1 FROM carillon.endpoint WHERE project = :project AND name = :name FOR NO KEY UPDATE";

    private static final String LOCK_FOR_DELETE =
            "SELECT 1 FROM carillon.endpoint WHERE project = :project AND name = :name FOR UPDATE";

    private static final String DELETE = "DELETE FROM carillon.endpoint WHERE project = :project AND name = :name";

    private static final String AD_HOC_URLS = "SELECT ad_hoc_urls FROM carillon.project WHERE project = :project";

    private final Transactions transactions;

    public EndpointRepository(Transactions transactions) {
        this.transactions = transactions;
    }

    /** Returns an endpoint, without row-level security: a node executes the runs of all projects. */
    public Optional<StoredEndpoint> find(String project, String name) {
        return transactions.runStatementAsServer(session -> get(session, project, name));
    }

    /** Returns whether the project allows webhooks to URLs that are not endpoints, without row-level security. */
    public boolean allowsAdHocUrls(String project) {
        return transactions.runStatementAsServer(session -> allowsAdHocUrls(session, project));
    }

    public boolean allowsAdHocUrls(Session session, String project) throws SQLException {
        return session.query(AD_HOC_URLS)
                .text("project", project)
                .first(row -> row.flag("ad_hoc_urls"))
                .orElse(true);
    }

    public Optional<StoredEndpoint> get(Session session, String project, String name) throws SQLException {
        return named(session, GET, project, name).first(EndpointRows::read);
    }

    /** Locks the endpoint against deletion until the transaction ends, and returns it. */
    public Optional<StoredEndpoint> getForUse(Session session, String project, String name) throws SQLException {
        return lock(session, LOCK_FOR_USE, project, name) ? get(session, project, name) : Optional.empty();
    }

    /** Locks the endpoint against other changes until the transaction ends, and returns it. */
    public Optional<StoredEndpoint> getForUpdate(Session session, String project, String name) throws SQLException {
        return lock(session, LOCK_FOR_UPDATE, project, name) ? get(session, project, name) : Optional.empty();
    }

    /** Locks the endpoint against use and changes until the transaction ends, and returns it. */
    public Optional<StoredEndpoint> getForDelete(Session session, String project, String name) throws SQLException {
        return lock(session, LOCK_FOR_DELETE, project, name) ? get(session, project, name) : Optional.empty();
    }

    private static boolean lock(Session session, String statement, String project, String name) throws SQLException {
        return named(session, statement, project, name).first(row -> true).isPresent();
    }

    /** Returns endpoints in the order of their names, without their encrypted secrets. */
    public List<StoredEndpoint> list(Session session, String project, String after, int limit) throws SQLException {
        return session.query(LIST)
                .text("project", project)
                .text("after", after)
                .number("limit", limit)
                .list(EndpointRows::read);
    }

    /** Returns the number of endpoints of a project, counted up to {@code atMost}. */
    public long count(Session session, String project, long atMost) throws SQLException {
        return session.query(COUNT)
                .text("project", project)
                .number("limit", atMost)
                .first(row -> row.number("endpoints"))
                .orElseThrow();
    }

    /** Stores an endpoint without secrets. Returns false if the name is taken. */
    public boolean insert(
            Session session,
            String project,
            String name,
            WebhookTarget request,
            @Nullable Retry retry,
            String createdBy)
            throws SQLException {
        return bindSettings(named(session, INSERT, project, name), request, retry)
                        .text("createdBy", createdBy)
                        .update()
                == 1;
    }

    /** Changes an endpoint and raises its version. */
    public void update(Session session, String project, String name, WebhookTarget request, @Nullable Retry retry)
            throws SQLException {
        bindSettings(named(session, UPDATE, project, name), request, retry).update();
    }

    /** Deletes an endpoint and its secrets. */
    public void delete(Session session, String project, String name) throws SQLException {
        named(session, DELETE, project, name).update();
    }

    private static Query named(Session session, String statement, String project, String name) throws SQLException {
        return session.query(statement).text("project", project).text("name", name);
    }

    private static Query bindSettings(Query query, WebhookTarget request, @Nullable Retry retry) throws SQLException {
        return query.text("url", request.url())
                .text("method", request.method())
                .text("headers", new String(JSON.encode(request.headers()), UTF_8))
                .seconds("total", request.timeouts().total())
                .seconds("connect", request.timeouts().connect())
                .column("success", "int4", request.success(), code -> code)
                .seconds("callback", request.callback())
                .text("retry", retry == null ? null : PolicyText.of(retry));
    }
}
