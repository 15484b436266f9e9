package io.carillon.it.scale;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.QueueLimits;
import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Lane;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.node.NodeRegistration;
import io.carillon.internal.store.run.ClaimRequest;
import io.carillon.run.Priority;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunQuery;
import io.carillon.run.RunState;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Ten million due runs in ten thousand lanes of a thousand projects. The tests measure the cost of a rescue, a stop, a
 * limit and a page in pages read, which does not depend on the machine. Use {@code -Dscale.runs=N} for N runs per lane
 * instead of 1,000.
 */
@Tag("slow")
class ScaleOutTest {
    private static final int PROJECTS = 1_000;
    private static final int QUEUES = 10;
    private static final int RUNS = Integer.getInteger("scale.runs", 1_000);
    private static final int HELD = 500;
    private static final int MOST_PAGES = 10_000;
    private static final String HANDLER = "mail.send";
    private static final String SMALL = "small";
    private static final String APPLICATION = "scale-out";

    private static final String INDEXES = """
            SELECT indexdef FROM pg_indexes WHERE schemaname = 'carillon' AND tablename = 'run'
              AND indexname <> 'run_pkey'
            """;

    private static final String PRIMARY_KEY = """
            SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'carillon.run'::regclass
              AND contype = 'p'
            """;

    private static final String SORT_IN_MEMORY = "SET maintenance_work_mem = '1GB'; ";

    private static final String FILL = """
            INSERT INTO carillon.run (project, id, queue, priority, due_at, ready_at, day, origin, target, target_name,
              codec, payload)
            SELECT 'p' || (i %% %2$d), gen_random_uuid(), 'q' || (i / %2$d %% %3$d), 1, at, at,
              (at AT TIME ZONE 'UTC')::date, 'direct', 'handler', '%4$s', 'json', '{}'
              FROM (SELECT i, carillon.clock() - i * interval '10 us' - interval '1 s' AS at
                FROM generate_series(0, %1$d) i) runs
            """;

    private static final String FILL_HISTORY = """
            INSERT INTO carillon.run_history (project, id, day, queue, priority, node_deaths, crashes, attempt,
              failures, due_at, ended_at, created_at, state, origin,
                                              target, target_name)
            SELECT CASE WHEN i %% (%1$d / 100) = 0 THEN '%2$s' ELSE 'p' || (i %% 1000) END, gen_random_uuid(),
                   (carillon.clock() AT TIME ZONE 'UTC')::date, 'q1', 1, 0, 0, 1, 0,
                   carillon.clock() - i * interval '10 ms', carillon.clock() - i * interval '10 ms',
                   carillon.clock() - i * interval '10 ms', 'succeeded', 'direct', 'handler', 'mail.send'
              FROM generate_series(1, %1$d) i
            """;

    // Pages fetched from cache or disk by all sessions that have ended.
    private static final String FETCHED = """
            SELECT sum(pg_stat_get_blocks_fetched(oid))::bigint FROM pg_class
             WHERE relnamespace = 'carillon'::regnamespace AND relkind IN ('r', 'i', 't')
            """;

    private static TestDatabase database;

    @BeforeAll
    static void fill() {
        database = TestDatabase.migrated();
        try (Storage storage = new PostgresStorage(plain(), TickPlanner.defaults())) {
            storage.maintenance().ensurePartitions(1);
        }
        long start = System.nanoTime();
        database.execute("ALTER TABLE carillon.run SET (autovacuum_enabled = off)");
        database.execute("INSERT INTO carillon.project (project) VALUES ('%s')".formatted(SMALL));
        List<String> indexes = database.query(INDEXES).texts();
        for (String index : indexes)
            database.execute("DROP INDEX carillon." + index.replaceAll(".*INDEX (\\w+) ON.*", "$1"));
        String primaryKey = database.query(PRIMARY_KEY).texts().get(0);
        database.execute("ALTER TABLE carillon.run DROP CONSTRAINT run_pkey");
        int all = PROJECTS * QUEUES * RUNS;
        database.execute(FILL.formatted(all - 1, PROJECTS, QUEUES, HANDLER));
        database.execute(SORT_IN_MEMORY + "ALTER TABLE carillon.run ADD CONSTRAINT run_pkey " + primaryKey);
        for (String index : indexes) database.execute(SORT_IN_MEMORY + index);
        database.execute(FILL_HISTORY.formatted(all / 10, SMALL));
        database.execute("VACUUM ANALYZE");
        System.out.printf("stored runs=%,d seconds=%d%n", all, (System.nanoTime() - start) / 1_000_000_000L);
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @Test
    void the_runs_of_a_dead_node_are_found_and_released() {
        UUID dead = node();
        UUID survivor = node();
        assertThat(claim(dead)).hasSize(HELD);
        long heartbeats = database.query("SELECT heartbeat_count FROM carillon.node WHERE id = ?", dead)
                .number();
        assertThat(pages("declare a node dead and rescue its runs", storage -> {
                    assertThat(storage.nodes().declareDead(dead, heartbeats, "no heartbeat"))
                            .isTrue();
                    assertThat(storage.nodes().rescue(3).released()).isEqualTo(HELD);
                }))
                .isLessThan(MOST_PAGES);
        assertThat(held(dead)).isZero();
        retire(survivor);
    }

    @Test
    void the_runs_of_a_node_are_found_when_it_is_reconciled() {
        UUID node = node();
        List<Attempt> claimed = claim(node);
        assertThat(pages(
                        "reconcile a node",
                        storage -> assertThat(storage.runs().ownedRuns(node)).hasSize(HELD)))
                .isLessThan(MOST_PAGES);
        handBack(node, claimed);
    }

    @Test
    void stopping_a_node_reads_only_its_own_runs() {
        UUID node = node();
        List<Attempt> claimed = claim(node);
        assertThat(pages("hand back, retire and rescue", storage -> {
                    assertThat(storage.runs().handBack(node, claimed)).isEqualTo(HELD);
                    storage.nodes().retire(node);
                    storage.nodes().rescue(3);
                }))
                .isLessThan(MOST_PAGES);
        assertThat(held(node)).isZero();
    }

    @Test
    void a_limit_counts_the_runs_that_are_held_and_reads_no_waiting_runs() {
        UUID node = node();
        Lane lane = new Lane("q3", "p3");
        ClaimRequest ten = new ClaimRequest(
                node, List.of(new ClaimRequest.LaneClaim(lane, Priority.NORMAL, 10, Instant.MIN)), Set.of(), null, 0);
        List<Attempt> held = new ArrayList<>();
        withStorage(storage -> held.addAll(storage.runs().claim(ten).attempts()));
        assertThat(held).hasSize(10);

        assertThat(pages("limit a lane", storage -> storage.lanes().limit(lane, QueueLimits.maxRunning(12))))
                .isLessThan(1_000);

        assertThat(pages("claim from the limited lane", storage -> {
                    List<Attempt> claimed = storage.lanes().claim(ten).attempts();
                    assertThat(claimed).as("runs beside the ten that are held").hasSize(2);
                    held.addAll(claimed);
                }))
                .isLessThan(1_000);
        withStorage(storage -> assertThat(storage.lanes().claim(ten).attempts())
                .as("runs of a full lane")
                .isEmpty());
        handBack(node, held);
        assertThat(held(node)).isZero();
        database.execute("DELETE FROM carillon.lane");
    }

    @Test
    void a_small_project_pages_through_its_own_runs_only() {
        List<RunId> seen = new ArrayList<>();
        assertThat(pages("three pages of the history of a small project", storage -> {
                    RunQuery query = RunQuery.of(
                            RunFilter.all().state(RunState.SUCCEEDED).limit(20));
                    for (int page = 0; page < 3; page++) {
                        List<Run> runs = storage.runAdmin().page(SMALL, query);
                        assertThat(runs).hasSize(20);
                        runs.forEach(run -> seen.add(run.id()));
                        query = query.before(runs.get(19).id());
                    }
                }))
                .isLessThan(1_000);
        assertThat(seen).doesNotHaveDuplicates().hasSize(60);
        assertThat(pages(
                        "a list of a small project",
                        storage -> assertThat(storage.runAdmin()
                                        .list(SMALL, RunFilter.all().limit(20)))
                                .hasSize(20)))
                .isLessThan(1_000);
    }

    private static PGSimpleDataSource plain() {
        PGSimpleDataSource plain = new PGSimpleDataSource();
        plain.setURL(database.jdbcUrl());
        plain.setUser(database.user());
        plain.setPassword(database.password());
        plain.setApplicationName(APPLICATION);
        return plain;
    }

    /**
     * Returns the number of pages that this work fetches. The work's sessions end before the count, because a session
     * reports its counters at the latest when it ends.
     */
    private static long pages(String what, Consumer<Storage> work) {
        settle();
        long before = database.query(FETCHED).number();
        long start = System.nanoTime();
        withStorage(work);
        long took = System.nanoTime() - start;
        settle();
        long pages = database.query(FETCHED).number() - before;
        System.out.printf("%s: %,d pages, %d ms%n", what, pages, took / 1_000_000);
        return pages;
    }

    private static void withStorage(Consumer<Storage> work) {
        try (Storage storage = new PostgresStorage(plain(), TickPlanner.defaults())) {
            work.accept(storage);
        }
    }

    private static void settle() {
        await().atMost(Duration.ofMinutes(1))
                .until(() ->
                        database.query("SELECT count(*) FROM pg_stat_activity WHERE application_name = ?", APPLICATION)
                                        .number()
                                == 0);
    }

    private static UUID node() {
        UUID id = UUID.randomUUID();
        withStorage(storage -> storage.nodes()
                .register(new NodeRegistration(id, "n", "host", 1, "1", Set.of(HANDLER), Set.of(), HELD, "notify")));
        return id;
    }

    /** Claims one run from each of five hundred lanes. */
    private static List<Attempt> claim(UUID node) {
        List<ClaimRequest.LaneClaim> laneClaims = new ArrayList<>();
        for (int i = 0; i < HELD; i++)
            laneClaims.add(new ClaimRequest.LaneClaim(
                    new Lane("q" + i % QUEUES, "p" + i * 2), Priority.NORMAL, 1, Instant.MIN));
        List<Attempt> claimed = new ArrayList<>();
        withStorage(storage -> claimed.addAll(storage.runs()
                .claim(new ClaimRequest(node, laneClaims, Set.of(), null, 0))
                .attempts()));
        return claimed;
    }

    private static long held(UUID node) {
        return database.query("SELECT count(*) FROM carillon.run WHERE owner = ?", node)
                .number();
    }

    private static void handBack(UUID node, List<Attempt> attempts) {
        withStorage(storage -> storage.runs().handBack(node, attempts));
        retire(node);
    }

    private static void retire(UUID node) {
        withStorage(storage -> storage.nodes().retire(node));
    }
}
