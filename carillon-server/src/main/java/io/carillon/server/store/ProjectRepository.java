package io.carillon.server.store;

import io.carillon.internal.jdbc.Database.SessionWork;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.jdbc.Session;
import java.security.SecureRandom;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Projects with their quotas, and the secrets that all nodes share. Projects are created and listed with the server's
 * rights, without row-level security.
 */
public final class ProjectRepository {
    private static final String GET_OR_INSERT_SECRET = """
            WITH inserted AS (INSERT INTO carillon.server_secret (name, value) VALUES (:name, :value)
              ON CONFLICT (name) DO NOTHING RETURNING value)
            SELECT value FROM inserted UNION ALL SELECT value FROM carillon.server_secret WHERE name = :name
            """;

    private static final String COLUMNS = """
            SELECT p.project, p.id, p.owner,
              CASE WHEN o.used_at IS NULL THEN u.subject ELSE coalesce(u.name, u.subject) END AS owner_name,
              p.created_at,
              p.requests_per_second, p.max_schedules, p.max_waiting, p.max_bulk_actions, p.max_streams, p.max_endpoints,
              p.max_subscriptions, p.ad_hoc_urls
              FROM carillon.project p LEFT JOIN carillon.app_user u ON u.id = p.owner
              LEFT JOIN carillon.project_member o ON o.project = p.project AND o.user_id = p.owner
            """;

    private static final String GET = COLUMNS + "WHERE p.project = :project";

    private static final String LOCK =
            "SELECT project FROM carillon.project WHERE project = :project FOR NO KEY UPDATE";

    private static final String LIST = COLUMNS + "WHERE p.project > :after ORDER BY p.project LIMIT :limit";

    private static final String LIST_OF_USER = COLUMNS + """
            JOIN carillon.project_member m ON m.project = p.project AND m.user_id = :user
             WHERE m.project > :after ORDER BY m.project LIMIT :limit
            """;

    private static final String INSERT =
            "INSERT INTO carillon.project (project) VALUES (:project) ON CONFLICT (project) DO NOTHING";

    private static final String UPDATE_QUOTA = """
            UPDATE carillon.project SET requests_per_second = :rate, max_schedules = :schedules, max_waiting = :waiting,
              max_bulk_actions = :bulkActions, max_streams = :streams, max_endpoints = :endpoints,
              max_subscriptions = :subscriptions
             WHERE project = :project
            """;

    private static final String UPDATE_OWNER = "UPDATE carillon.project SET owner = :owner WHERE project = :project";

    private static final String UPDATE_AD_HOC_URLS =
            "UPDATE carillon.project SET ad_hoc_urls = :allowed WHERE project = :project";

    private static final long CACHE_NANOS = Duration.ofSeconds(3).toNanos();
    private static final int MAX_CACHED = 10_000;

    private final Transactions transactions;
    private final Map<String, CachedQuota> cachedQuotas = new ConcurrentHashMap<>();

    private record CachedQuota(Quota quota, long readNanos) {}

    public ProjectRepository(Transactions transactions) {
        this.transactions = transactions;
    }

    /**
     * The quota of a project. A part that is null means the default of the server, or no limit if it is null in the
     * default.
     *
     * @param requestsPerSecond on each node
     * @param maxWaiting the number of waiting and running runs
     * @param maxBulkActions the number of running bulk actions
     * @param maxStreams the number of open event streams on each node
     * @param maxEndpoints the number of endpoints
     * @param maxSubscriptions the number of subscriptions to events
     */
    public record Quota(
            @Nullable Double requestsPerSecond,
            @Nullable Integer maxSchedules,
            @Nullable Long maxWaiting,
            @Nullable Integer maxBulkActions,
            @Nullable Integer maxStreams,
            @Nullable Integer maxEndpoints,
            @Nullable Integer maxSubscriptions) {
        /** The quota of projects that have none of their own, unless the server is configured otherwise. */
        public static final Quota DEFAULT = new Quota(1_000d, 10_000, 1_000_000L, 5, 20, 1_000, 1_000);

        /** Returns this quota with the parts that are null taken from the other one. */
        public Quota orElse(Quota other) {
            return new Quota(
                    requestsPerSecond == null ? other.requestsPerSecond : requestsPerSecond,
                    maxSchedules == null ? other.maxSchedules : maxSchedules,
                    maxWaiting == null ? other.maxWaiting : maxWaiting,
                    maxBulkActions == null ? other.maxBulkActions : maxBulkActions,
                    maxStreams == null ? other.maxStreams : maxStreams,
                    maxEndpoints == null ? other.maxEndpoints : maxEndpoints,
                    maxSubscriptions == null ? other.maxSubscriptions : maxSubscriptions);
        }
    }

    /**
     * A stored project.
     *
     * @param owner null if none
     * @param adHocUrls whether webhooks may call URLs that are not endpoints
     */
    public record StoredProject(
            String name, UUID id, @Nullable Owner owner, Instant createdAt, Quota quota, boolean adHocUrls) {}

    /** The user to whom a project belongs, with the name to show. */
    public record Owner(UUID user, String name) {}

    /** Returns the secret of this name; creates it on first use. */
    public byte[] getOrCreateSecret(String name) {
        byte[] fresh = new byte[32];
        new SecureRandom().nextBytes(fresh);
        for (int turn = 0; turn < 3; turn++) {
            Optional<byte[]> found = transactions.runStatementAsServer(session -> session.query(GET_OR_INSERT_SECRET)
                    .text("name", name)
                    .bytes("value", fresh)
                    .first(row -> row.bytes("value")));
            if (found.isPresent()) return found.get();
        }
        throw new IllegalStateException("could not read or create the secret " + name);
    }

    public Optional<StoredProject> get(Session session, String project) throws SQLException {
        return session.query(GET).text("project", project).first(ProjectRepository::read);
    }

    /**
     * Locks a project until the end of the transaction. Every change of its owner or its members locks it first, before
     * it reads them. Returns false if the project does not exist.
     */
    public boolean lock(Session session, String project) throws SQLException {
        return session.query(LOCK).text("project", project).first(row -> true).orElse(false);
    }

    /**
     * Returns the quota of a project, cached for three seconds: this saves a round trip for nearly every request that
     * adds something.
     */
    public Optional<Quota> quota(Session session, String project) throws SQLException {
        long now = System.nanoTime();
        CachedQuota before = cachedQuotas.get(project);
        if (before != null && now - before.readNanos() < CACHE_NANOS) return Optional.of(before.quota());
        Optional<Quota> quota = get(session, project).map(StoredProject::quota);
        if (cachedQuotas.size() > MAX_CACHED) cachedQuotas.clear();
        quota.ifPresent(read -> cachedQuotas.put(project, new CachedQuota(read, now)));
        return quota;
    }

    /** Returns a project, without row-level security: the caller is not known yet. */
    public Optional<StoredProject> find(String project) {
        return transactions.runStatementAsServer(session -> get(session, project));
    }

    /** Returns projects in the order of their names, from after the name {@code after}. */
    public List<StoredProject> list(String after, int limit) {
        return transactions.runAsServer(session ->
                session.query(LIST).text("after", after).number("limit", limit).list(ProjectRepository::read));
    }

    /** Returns the projects that a user is a member of, in the same order. */
    public List<StoredProject> listOfUser(UUID user, String after, int limit) {
        return transactions.runAsServer(session -> session.query(LIST_OF_USER)
                .uuid("user", user)
                .text("after", after)
                .number("limit", limit)
                .list(ProjectRepository::read));
    }

    /** Runs work on projects with the server's rights, without row-level security. */
    public <T> T runAsServer(SessionWork<T> work) {
        return transactions.runAsServer(work);
    }

    /** Creates a project. Returns false if it exists. */
    public boolean insert(Session session, String project) throws SQLException {
        return session.query(INSERT).text("project", project).update() == 1;
    }

    /**
     * Sets the quota of a project. Every node applies it within three seconds. Returns false if the project
     * does not exist.
     */
    public boolean updateQuota(Session session, String project, Quota quota) throws SQLException {
        cachedQuotas.remove(project);
        return session.query(UPDATE_QUOTA)
                        .real("rate", quota.requestsPerSecond())
                        .number("schedules", quota.maxSchedules())
                        .number("waiting", quota.maxWaiting())
                        .number("bulkActions", quota.maxBulkActions())
                        .number("streams", quota.maxStreams())
                        .number("endpoints", quota.maxEndpoints())
                        .number("subscriptions", quota.maxSubscriptions())
                        .text("project", project)
                        .update()
                == 1;
    }

    /** Gives a project to a user. Returns false if the project does not exist. */
    public boolean updateOwner(Session session, String project, UUID owner) throws SQLException {
        return session.query(UPDATE_OWNER)
                        .uuid("owner", owner)
                        .text("project", project)
                        .update()
                == 1;
    }

    /** Allows or forbids webhooks to URLs that are not endpoints. Returns false if the project does not exist. */
    public boolean updateAdHocUrls(Session session, String project, boolean allowed) throws SQLException {
        return session.query(UPDATE_AD_HOC_URLS)
                        .flag("allowed", allowed)
                        .text("project", project)
                        .update()
                == 1;
    }

    private static StoredProject read(Row row) throws SQLException {
        UUID owner = row.maybeUuid("owner");
        return new StoredProject(
                row.text("project"),
                row.uuid("id"),
                owner == null ? null : new Owner(owner, Objects.requireNonNullElse(row.maybeText("owner_name"), "")),
                row.instant("created_at"),
                new Quota(
                        row.maybeReal("requests_per_second"),
                        row.maybeInteger("max_schedules"),
                        row.maybeNumber("max_waiting"),
                        row.maybeInteger("max_bulk_actions"),
                        row.maybeInteger("max_streams"),
                        row.maybeInteger("max_endpoints"),
                        row.maybeInteger("max_subscriptions")),
                row.flag("ad_hoc_urls"));
    }
}
