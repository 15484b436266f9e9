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

/** Projects with their quotas, and what all nodes sign with. Projects are made and listed outside the wall: by those who look after the house. */
public final class HouseRepository {
    private static final String SECRET = """
            WITH made AS (INSERT INTO carillon.secret (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING RETURNING value)
            SELECT value FROM made UNION ALL SELECT value FROM carillon.secret WHERE name = ?
            """;

    private static final String COLUMNS =
            "SELECT project, owner, created_at, requests_per_second, max_schedules, max_waiting FROM carillon.project ";

    private static final String GET = COLUMNS + "WHERE project = ?";

    private static final String LIST = COLUMNS + "WHERE project > ? ORDER BY project LIMIT ?";

    private static final String INSERT =
            "INSERT INTO carillon.project (project, owner) VALUES (?, ?::text) ON CONFLICT (project) DO NOTHING";

    private static final String LIMIT = """
            UPDATE carillon.project SET requests_per_second = ?::float8, max_schedules = ?::int, max_waiting = ?::bigint WHERE project = ?
            """;

    private static final String SCHEDULES =
            "SELECT count(*) FROM (SELECT 1 FROM carillon.schedule WHERE project = ? LIMIT ?) few";

    private static final String WAITING =
            "SELECT count(*) FROM (SELECT 1 FROM carillon.run WHERE project = ? LIMIT ?) few";

    private static final long GOOD_FOR = Duration.ofSeconds(3).toNanos();
    private static final int MOST = 10_000;

    private final Transactions transactions;
    private final Map<String, Seen> seen = new ConcurrentHashMap<>();

    private record Seen(Quota quota, long at) {}

    public HouseRepository(Transactions transactions) {
        this.transactions = transactions;
    }

    /** How much of the house a project may use; null: as much as the server lets everybody. */
    public record Quota(
            @Nullable Double requestsPerSecond,
            @Nullable Integer schedules,
            @Nullable Long waiting) {}

    /** A project. */
    public record Kept(String name, @Nullable String owner, Instant createdAt, Quota quota) {}

    /** The secret of this name, made when it is first asked for. */
    public byte[] secret(String name) {
        byte[] fresh = new byte[32];
        new SecureRandom().nextBytes(fresh);
        for (int turn = 0; turn < 3; turn++) {
            Optional<byte[]> found = transactions.single(
                    connection -> Sql.first(connection, SECRET, row -> row.getBytes("value"), name, fresh, name));
            if (found.isPresent()) return found.get();
        }
        throw new IllegalStateException("the secret " + name + " is neither there nor can it be made");
    }

    public Optional<Kept> get(Connection connection, String project) throws SQLException {
        return Sql.first(connection, GET, HouseRepository::read, project);
    }

    /** The quota of a project. What was read is good for three seconds: a round trip less for nearly every request that adds something. */
    public Optional<Quota> quota(Connection connection, String project) throws SQLException {
        long now = System.nanoTime();
        Seen before = seen.get(project);
        if (before != null && now - before.at() < GOOD_FOR) return Optional.of(before.quota());
        Optional<Quota> quota = get(connection, project).map(Kept::quota);
        if (seen.size() > MOST) seen.clear();
        quota.ifPresent(read -> seen.put(project, new Seen(read, now)));
        return quota;
    }

    /** A project outside the wall, before it is known who calls. */
    public Optional<Kept> find(String project) {
        return transactions.single(connection -> get(connection, project));
    }

    /** By name, those behind this one. */
    public List<Kept> list(String after, int limit) {
        return transactions.house(connection -> Sql.list(connection, LIST, HouseRepository::read, after, limit));
    }

    /** Work on projects, outside the wall. */
    public <T> T keeping(Transactions.Work<T> work) {
        return transactions.house(work);
    }

    /** Makes it; false: it is there already. */
    public boolean insert(Connection connection, String project, @Nullable String owner) throws SQLException {
        return Sql.update(connection, INSERT, project, owner) == 1;
    }

    /** Sets the quota; it holds on every node within three seconds, here mostly at once. */
    public boolean limit(Connection connection, String project, Quota quota) throws SQLException {
        seen.remove(project);
        return Sql.update(connection, LIMIT, quota.requestsPerSecond(), quota.schedules(), quota.waiting(), project)
                == 1;
    }

    /** How many schedules there are, counted up to a limit. */
    public long schedules(Connection connection, String project, long most) throws SQLException {
        return Sql.first(connection, SCHEDULES, row -> row.getLong(1), project, most)
                .orElse(0L);
    }

    /** How many runs wait or run, counted up to a limit. */
    public long living(Connection connection, String project, long most) throws SQLException {
        return Sql.first(connection, WAITING, row -> row.getLong(1), project, most)
                .orElse(0L);
    }

    private static Kept read(ResultSet row) throws SQLException {
        return new Kept(
                row.getString("project"),
                row.getString("owner"),
                Sql.instantThere(row, "created_at"),
                new Quota(
                        row.getObject("requests_per_second", Double.class),
                        row.getObject("max_schedules", Integer.class),
                        row.getObject("max_waiting", Long.class)));
    }
}
