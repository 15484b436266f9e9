package io.carillon.bench.dashboard;

import io.carillon.bench.http.JsonCalls;
import io.carillon.bench.measure.MeasureException;
import io.carillon.bench.measure.Progress;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.measure.Threads;
import io.carillon.bench.ours.CarillonRestServer;
import io.carillon.bench.report.FigureText;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.internal.value.WallClock;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Measures the requests of each page of the dashboard on a long history, and what many open pages cost. A page is ready
 * when all its requests are answered; a browser sends them at the same time.
 */
public final class DashboardPages {
    private static final int ROUNDS = 5;
    private static final double MAX_PAGE_MILLIS = 1_000;
    private static final double MAX_STATEMENT_MILLIS = 100;
    private static final double MAX_CORES = 0.1;

    // Without the statements of this class, and those that nodes execute beside the requests.
    private static final String SLOWEST = """
            SELECT s.max_exec_time, regexp_replace(s.query, '\\s+', ' ', 'g') FROM pg_stat_statements s
              JOIN pg_database d ON d.oid = s.dbid
             WHERE d.datname = current_database() AND s.query NOT LIKE '%pg_stat_%'
             ORDER BY s.max_exec_time DESC LIMIT 1
            """;

    private DashboardPages() {}

    /**
     * The size of a measurement.
     *
     * @param warmUps how often each page is read before it is measured
     * @param open the number of open pages, measured for this time
     */
    public record Plan(DashboardData.Size data, int warmUps, int open, Duration time) {}

    /** Fills a database and measures the pages. */
    public static Findings measure(BenchDatabase database, Plan plan, Progress progress) throws Exception {
        Findings findings = new Findings();
        DashboardData.store(database, plan.data, progress);
        try (CarillonRestServer server = new CarillonRestServer(database);
                Connection connection = database.connect()) {
            JsonCalls calls = new JsonCalls(server.port(), server.key());
            Map<String, List<String>> pages = pages(calls);
            for (int warm = 0; warm < plan.warmUps; warm++)
                for (List<String> requests : pages.values()) load(calls, requests);
            for (Map.Entry<String, List<String>> page : pages.entrySet()) {
                progress.report("page " + page.getKey());
                measure(findings, connection, calls, page.getKey(), page.getValue());
            }
            progress.report("%d open pages".formatted(plan.open));
            openPages(findings, plan, OpenPages.measure(database, server, plan.open, plan.time));
        }
        return findings;
    }

    private static void measure(
            Findings findings, Connection connection, JsonCalls calls, String name, List<String> requests)
            throws SQLException {
        execute(connection, "SELECT pg_stat_statements_reset()");
        List<Double> millis = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) millis.add(load(calls, requests));
        Samples samples = Samples.of(millis);
        for (double each : millis) findings.figure(name + ", ms", each);
        Slowest slowest = slowest(connection);
        findings.figure(name + ", slowest statement, ms", slowest.millis);
        findings.add(Row.judged(
                        "page " + name,
                        "<= 1 s, statements <= 100 ms",
                        "%s, %s".formatted(FigureText.millis(samples.median()), FigureText.millis(slowest.millis)),
                        samples.max() <= MAX_PAGE_MILLIS && slowest.millis <= MAX_STATEMENT_MILLIS)
                .note(
                        slowest.millis > MAX_STATEMENT_MILLIS
                                ? slowest.text
                                : "%d requests, slowest of %d times %s"
                                        .formatted(requests.size(), ROUNDS, FigureText.millis(samples.max()))));
    }

    private record Slowest(double millis, String text) {}

    private static Slowest slowest(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(SLOWEST)) {
            if (!row.next()) return new Slowest(0, "");
            String text = row.getString(2);
            return new Slowest(row.getDouble(1), text.substring(0, Math.min(160, text.length())));
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** Sends the requests of a page at the same time, and returns how long the last answer took. */
    private static double load(JsonCalls calls, List<String> requests) {
        long began = System.nanoTime();
        List<String> waiting = new ArrayList<>(requests);
        Threads.runConcurrently(Math.min(6, requests.size()), () -> {
            while (true) {
                String next;
                synchronized (waiting) {
                    if (waiting.isEmpty()) return null;
                    next = waiting.remove(0);
                }
                calls.get(next).require(200);
            }
        });
        return (System.nanoTime() - began) / 1e6;
    }

    /** Returns the requests of each page, as its scripts send them. */
    private static Map<String, List<String>> pages(JsonCalls calls) {
        Instant now = Instant.ofEpochMilli(WallClock.millis())
                .truncatedTo(ChronoUnit.MINUTES)
                .plus(1, ChronoUnit.MINUTES);
        String run = first(calls, "/v1/runs?state=succeeded&limit=1", "\"id\":\"(run_[0-9a-z]+)\"");
        String dead = first(calls, "/v1/runs?state=dead&limit=1", "\"id\":\"(run_[0-9a-z]+)\"");
        String schedule = first(calls, "/v1/schedules?limit=1", "\"name\":\"(s[0-9]+)\"");
        String day = range(now.minus(1, ChronoUnit.DAYS), now);
        Map<String, List<String>> pages = new LinkedHashMap<>();
        List<String> home = List.of(
                "/v1/stats",
                "/v1/stats?step=1m&" + range(now.minus(1, ChronoUnit.HOURS), now),
                "/v1/queues",
                "/v1/schedules?limit=200",
                "/v1/health",
                "/v1/runs?state=dead&limit=8",
                "/v1/nodes");
        pages.put("home", home);
        Instant hour = now.truncatedTo(ChronoUnit.HOURS).plus(1, ChronoUnit.HOURS);
        pages.put("home, 6 hours", List.of("/v1/stats?step=5m&" + range(now.minus(6, ChronoUnit.HOURS), now)));
        pages.put("home, 7 days", List.of("/v1/stats?step=6h&" + range(hour.minus(7, ChronoUnit.DAYS), hour)));
        pages.put(
                "schedules",
                List.of("/v1/schedules?limit=50", "/v1/timeline?limit=50&" + day, "/v1/schedules?limit=50&prefix=s1"));
        pages.put(
                "a schedule",
                List.of(
                        "/v1/schedules/" + schedule,
                        "/v1/schedules/" + schedule + "/ledger?" + range(now.minus(7, ChronoUnit.DAYS), now)));
        pages.put(
                "timeline",
                List.of("/v1/timeline?limit=50&" + range(now.minus(1, ChronoUnit.DAYS), now.plus(1, ChronoUnit.DAYS))));
        pages.put("runs", List.of("/v1/stats", "/v1/runs?limit=50"));
        for (String state : List.of("waiting", "succeeded", "dead", "cancelled", "skipped"))
            pages.put("runs, " + state, List.of("/v1/runs?limit=50&state=" + state));
        pages.put("runs of a queue", List.of("/v1/runs?limit=50&queue=queue-0007&state=dead"));
        pages.put("runs of a handler", List.of("/v1/runs?limit=50&handler=handler-7"));
        pages.put("runs of a schedule", List.of("/v1/runs?limit=50&schedule=" + schedule));
        pages.put("runs with an error", List.of("/v1/runs?limit=50&error=" + encoded("host-7 refused")));
        pages.put("runs with an error that never occurred", List.of("/v1/runs?limit=50&error=nowhere"));
        pages.put(
                "runs of a range",
                List.of("/v1/runs?limit=50&" + range(now.minus(5, ChronoUnit.DAYS), now.minus(4, ChronoUnit.DAYS))));
        for (String id : List.of(run, dead))
            pages.put(
                    id.equals(run) ? "a run" : "a dead run",
                    List.of("/v1/runs/" + id, "/v1/runs/" + id + "/attempts", "/v1/runs/" + id + "/explain"));
        pages.put(
                "queues",
                List.of(
                        "/v1/queues",
                        "/v1/stats?queue=queue-0007&step=1m&" + range(now.minus(1, ChronoUnit.HOURS), now)));
        pages.put("dead letters", List.of("/v1/runs?state=dead&limit=200", "/v1/runs?state=quarantined&limit=200"));
        pages.put("endpoints", List.of("/v1/endpoints?limit=100", "/v1/runs?handler=webhook&limit=25"));
        pages.put("nodes", List.of("/v1/nodes"));
        pages.put("bulk actions", List.of("/v1/bulk-actions?limit=50"));
        pages.put("audit", List.of("/v1/audit?limit=50", "/v1/audit?limit=50&action=key.make"));
        pages.put("settings", List.of("/v1/keys?limit=100", "/v1/projects/default", "/v1/projects?limit=100"));
        return pages;
    }

    private static String first(JsonCalls calls, String path, String pattern) {
        var found =
                Pattern.compile(pattern).matcher(calls.get(path).require(200).text());
        if (!found.find()) throw new MeasureException(path + " returned nothing");
        return found.group(1);
    }

    private static String range(Instant from, Instant to) {
        return "from=%s&to=%s".formatted(from, to);
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static void openPages(Findings findings, Plan plan, OpenPages.Cost cost) {
        String name = "%d open pages".formatted(plan.open);
        findings.figure(name + ", cores", cost.cores());
        findings.add(Row.judged(name, "<= 10 % of a core", FigureText.percent(cost.cores()), cost.cores() <= MAX_CORES)
                .note("server %s, database %s, %.0f requests per second"
                        .formatted(
                                FigureText.percent(cost.server()),
                                FigureText.percent(cost.database()),
                                cost.requestsPerSecond())));
    }
}
