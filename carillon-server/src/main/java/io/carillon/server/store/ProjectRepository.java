package io.carillon.server.store;

import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Projects with their quotas, and the secrets that all nodes share. Projects are created and listed with the server's
 * rights, without row-level security.
 */
public final class ProjectRepository {
    private static final String GET_OR_INSERT_SECRET = """
            WITH made AS (INSERT INTO carillon.secret (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING RETURNING value)
            SELECT value FROM made UNION ALL SELECT value FROM carillon.secret WHERE name = ?
            """;

    private static final String COLUMNS =
            "SELECT project, owner, created_at, requests_per_second, max_schedules, max_waiting FROM carillon.project ";

    private static final String GET = COLUMNS + "WHERE project = ?";

    private static final String LIST = COLUMNS + "WHERE project > ? ORDER BY project LIMIT ?";

    private static final String INSERT =
            "INSERT INTO carillon.project (project, owner) VALUES (?, ?::text) ON CONFLICT (project) DO NOTHING";

    private static final String UPDATE_QUOTA = """
            UPDATE carillon.project SET requests_per_second = ?::float8, max_schedules = ?::int, max_waiting = ?::bigint WHERE project = ?
            """;

    private static final String COUNT_SCHEDULES =
            "SELECT count(*) FROM (SELECT 1 FROM carillon.schedule WHERE project = ? LIMIT ?) few";

    private static final String COUNT_LIVE_RUNS =
            "SELECT count(*) FROM (SELECT 1 FROM carillon.run WHERE project = ? LIMIT ?) few";

    private static final long CACHE_NANOS = Duration.ofSeconds(3).toNanos();
    private static final int MAX_CACHED = 10_000;

    private final Transactions transactions;
    private final Map<String, CachedQuota> cachedQuotas = new ConcurrentHashMap<>();

    private record CachedQuota(Quota quota, long readNanos) {}

    public ProjectRepository(Transactions transactions) {
        this.transactions = transactions;
    }

    /**
     * The quota of a project; a part that is null means the default of the server.
     *
     * @param maxWaiting the number of waiting and running runs
     */
    public record Quota(
            @Nullable Double requestsPerSecond,
            @Nullable Integer maxSchedules,
            @Nullable Long maxWaiting) {}

    public record StoredProject(String name, @Nullable String owner, Instant createdAt, Quota quota) {}

    /** Returns the secret of this name; creates it on first use. */
    public byte[] getOrCreateSecret(String name) {
        byte[] fresh = new byte[32];
        new SecureRandom().nextBytes(fresh);
        for (int turn = 0; turn < 3; turn++) {
            Optional<byte[]> found = transactions.runStatementAsServer(connection ->
                    Sql.first(connection, GET_OR_INSERT_SECRET, row -> row.getBytes("value"), name, fresh, name));
            if (found.isPresent()) return found.get();
        }
        throw new IllegalStateException("could not read or create the secret " + name);
    }

    public Optional<StoredProject> get(Connection connection, String project) throws SQLException {
        return Sql.first(connection, GET, ProjectRepository::read, project);
    }

    /**
     * Returns the quota of a project, cached for three seconds: this saves a round trip for nearly every request that
     * adds something.
     */
    public Optional<Quota> quota(Connection connection, String project) throws SQLException {
        long now = System.nanoTime();
        CachedQuota before = cachedQuotas.get(project);
        if (before != null && now - before.readNanos() < CACHE_NANOS) return Optional.of(before.quota());
        Optional<Quota> quota = get(connection, project).map(StoredProject::quota);
        if (cachedQuotas.size() > MAX_CACHED) cachedQuotas.clear();
        quota.ifPresent(read -> cachedQuotas.put(project, new CachedQuota(read, now)));
        return quota;
    }

    /** Returns a project, without row-level security: the caller is not known yet. */
    public Optional<StoredProject> find(String project) {
        return transactions.runStatementAsServer(connection -> get(connection, project));
    }

    /** Returns projects in the order of their names, from after the name {@code after}. */
    public List<StoredProject> list(String after, int limit) {
        return transactions.runAsServer(
                connection -> Sql.list(connection, LIST, ProjectRepository::read, after, limit));
    }

    /** Runs work on projects with the server's rights, without row-level security. */
    public <T> T runAsServer(Transactions.Work<T> work) {
        return transactions.runAsServer(work);
    }

    /** Creates a project. Returns false if it exists. */
    public boolean insert(Connection connection, String project, @Nullable String owner) throws SQLException {
        return Sql.update(connection, INSERT, project, owner) == 1;
    }

    /**
     * Sets the quota of a project. Every node applies it within three seconds. Returns false if the project does not
     * exist.
     */
    public boolean updateQuota(Connection connection, String project, Quota quota) throws SQLException {
        cachedQuotas.remove(project);
        return Sql.update(
                        connection,
                        UPDATE_QUOTA,
                        quota.requestsPerSecond(),
                        quota.maxSchedules(),
                        quota.maxWaiting(),
                        project)
                == 1;
    }

    /** Returns the number of schedules, counted up to {@code most}. */
    public long countSchedules(Connection connection, String project, long most) throws SQLException {
        return Sql.first(connection, COUNT_SCHEDULES, row -> row.getLong(1), project, most)
                .orElse(0L);
    }

    /** Returns the number of waiting and running runs, counted up to {@code most}. */
    public long countLiveRuns(Connection connection, String project, long most) throws SQLException {
        return Sql.first(connection, COUNT_LIVE_RUNS, row -> row.getLong(1), project, most)
                .orElse(0L);
    }

    private static StoredProject read(ResultSet row) throws SQLException {
        return new StoredProject(
                row.getString("project"),
                row.getString("owner"),
                Sql.requiredInstant(row, "created_at"),
                new Quota(
                        row.getObject("requests_per_second", Double.class),
                        row.getObject("max_schedules", Integer.class),
                        row.getObject("max_waiting", Long.class)));
    }
}
