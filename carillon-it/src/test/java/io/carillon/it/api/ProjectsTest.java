package io.carillon.it.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.Project;
import io.carillon.SchemaMode;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.RedriveResult;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunQuery;
import io.carillon.run.RunState;
import io.carillon.schedule.When;
import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Several projects on one engine, and API calls inside the caller's transaction. */
class ProjectsTest {
    record Note(String text) {}

    private static final HandlerType<Note> NOTE = HandlerType.of("note", Note.class);
    private static final Instant FAR = Instant.parse("2999-01-01T00:00:00Z");

    private static TestDatabase database;
    private final ApiFixture fixture = new ApiFixture(database);

    @BeforeAll
    static void open() {
        database = TestDatabase.migrated();
    }

    @AfterAll
    static void closeDatabase() {
        database.close();
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void one_engine_executes_the_runs_of_all_projects_and_each_project_sees_only_its_own() {
        Carillon node = fixture.node(builder -> builder.handle(NOTE, (note, run) -> {}));
        Project acme = node.project("acme");
        RunId mine = node.enqueue(NOTE, new Note("a")).run();
        RunId theirs = acme.enqueue(NOTE, new Note("b")).run();

        ApiFixture.awaitState(node, mine, RunState.SUCCEEDED);
        ApiFixture.eventually()
                .until(() -> acme.runs().get(theirs).map(Run::state).equals(java.util.Optional.of(RunState.SUCCEEDED)));
        assertThat(node.runs().get(theirs)).isEmpty();
        assertThat(acme.runs().get(mine)).isEmpty();
    }

    @Test
    void calls_in_a_transaction_take_effect_at_the_callers_commit() throws SQLException {
        Carillon client = fixture.client(builder -> builder);
        RunId waiting = client.enqueue(NOTE, new Note("a"), Enqueue.at(FAR)).run();
        try (Connection connection = database.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            List<Runnable> later = new ArrayList<>();
            Project in = client.project("default").in(connection, later::add);
            in.schedules().upsert("daily", When.cron("0 2 * * *", "UTC"), NOTE, new Note("b"));
            in.schedules().pause("daily");
            in.runs().cancel(waiting);
            in.queues().pause("note");
            assertThat(in.schedules().get("daily")).isPresent();
            assertThat(client.schedules().get("daily")).isEmpty();
            assertThat(client.runs().get(waiting).orElseThrow().state()).isEqualTo(RunState.WAITING);
            assertThat(in.queues().list()).singleElement().satisfies(queue -> {
                assertThat(queue.name()).isEqualTo("note");
                assertThat(queue.pause()).isNotNull();
            });
            assertThat(client.queues().list()).allMatch(queue -> queue.pause() == null);
            assertThat(later).isNotEmpty();
            connection.rollback();
            assertThat(client.schedules().get("daily")).isEmpty();
            assertThat(client.queues().list()).allMatch(queue -> queue.pause() == null);

            in.runs().cancel(waiting);
            in.schedules().upsert("daily", When.cron("0 2 * * *", "UTC"), NOTE, new Note("b"));
            connection.commit();
        }
        assertThat(client.runs().get(waiting).orElseThrow().state()).isEqualTo(RunState.CANCELLED);
        assertThat(client.schedules().get("daily")).isPresent();
    }

    @Test
    void a_rejected_call_leaves_the_callers_transaction_usable() throws SQLException {
        Carillon client = fixture.client(
                builder -> builder.handleReturning(NOTE, (note, run) -> io.carillon.run.Outcome.rejected("no")));
        RunId dead = client.enqueue(NOTE, new Note("a"), Enqueue.now().uniqueKey("k"))
                .run();
        client.runDue(Duration.ofSeconds(10));
        client.enqueue(NOTE, new Note("b"), Enqueue.at(FAR).uniqueKey("k"));
        try (Connection connection = database.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            Project in = client.in(connection);
            assertThat(in.runs().redrive(dead)).isInstanceOf(RedriveResult.KeyTaken.class);
            assertThatThrownBy(() -> in.schedules().trigger("nothing")).isInstanceOf(CarillonException.class);
            RunId stored = in.enqueue(NOTE, new Note("c"), Enqueue.at(FAR)).run();
            connection.commit();
            assertThat(client.runs().get(stored)).isPresent();
        }
    }

    @Test
    void a_missing_partition_is_created_outside_the_callers_transaction_which_continues() throws SQLException {
        Carillon client = fixture.client(builder -> builder);
        RunId waiting = client.enqueue(NOTE, new Note("a"), Enqueue.at(FAR)).run();
        RunId kept;
        try (Connection connection = database.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            Project in = client.in(connection);
            kept = in.enqueue(NOTE, new Note("b"), Enqueue.at(FAR)).run();
            // No node runs, so today's partition does not exist yet.
            in.runs().cancel(waiting);
            connection.commit();
        }
        assertThat(client.runs().get(waiting).orElseThrow().state()).isEqualTo(RunState.CANCELLED);
        assertThat(client.runs().get(kept)).isPresent();
    }

    @Test
    void a_role_that_does_not_own_the_tables_enqueues_in_bulk_and_reads_every_project() {
        String user = database.name() + "_worker";
        database.execute(
                ("CREATE ROLE %1$s LOGIN PASSWORD 'p'; GRANT USAGE ON SCHEMA carillon TO %1$s; GRANT ALL ON ALL TABLES"
                                + " IN SCHEMA carillon TO %1$s")
                        .formatted(user));
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(database.jdbcUrl());
        source.setUser(user);
        source.setPassword("p");
        try (Carillon worker =
                Carillon.on(source).schema(SchemaMode.VALIDATE).project("acme").build()) {
            List<Note> notes = Collections.nCopies(1_200, new Note("n"));
            assertThat(worker.enqueueAll(NOTE, notes, Enqueue.at(FAR))).hasSize(1_200);
            assertThat(worker.runs()
                            .bulk(RunFilter.all().state(RunState.WAITING))
                            .count())
                    .isEqualTo(1_200);
        } finally {
            database.execute("DROP OWNED BY %1$s; DROP ROLE %1$s".formatted(user));
        }
    }

    @Test
    void one_run_is_rescheduled_and_pages_list_waiting_and_ended_runs() {
        Carillon client = fixture.client(builder -> builder);
        List<RunId> all = new ArrayList<>();
        for (int i = 0; i < 7; i++)
            all.add(client.enqueue(NOTE, new Note("n"), Enqueue.at(FAR)).run());
        client.runs().cancel(all.get(3));
        assertThat(client.runs().reschedule(all.get(0), FAR.plusSeconds(60))).isTrue();
        assertThat(client.runs().get(all.get(0)).orElseThrow().instants().dueAt())
                .isEqualTo(FAR.plusSeconds(60));
        assertThat(client.runs().reschedule(all.get(3), FAR)).isFalse();

        List<RunId> seen = new ArrayList<>();
        RunQuery query = RunQuery.of(RunFilter.all().limit(3));
        for (List<Run> page = client.runs().page(query);
                !page.isEmpty();
                page = client.runs().page(query)) {
            page.forEach(run -> seen.add(run.id()));
            query = query.before(seen.get(seen.size() - 1));
        }
        Collections.reverse(all);
        assertThat(seen).isEqualTo(all);
    }
}
