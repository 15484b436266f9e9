package io.carillon.it.wakeup;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.Wakeup;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Changing from one wake-up mode to another changes no table, loses no run and executes no run twice. */
@CarillonTest
class ModeMigrationTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private final ApiFixture fixture;
    private final MemoryTransport transport = new MemoryTransport();
    private final Queue<String> done = new ConcurrentLinkedQueue<>();

    ModeMigrationTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
        transport.close();
        fixture.database().execute("DELETE FROM carillon.node");
    }

    @Test
    void from_queue_to_hybrid_while_messages_are_in_transit() {
        Carillon before =
                fixture.node(builder -> builder.wakeup(Wakeup.queue(transport)).handle(JOB, this::run));
        List<RunId> soon = IntStream.range(0, 5)
                .mapToObj(i -> before.enqueue(JOB, new Job("soon " + i), Enqueue.after(Duration.ofSeconds(1)))
                        .run())
                .toList();
        Map<String, String> rows = fixture.tableDigests();

        before.wakeup(Wakeup.hybrid(transport));

        assertThat(fixture.tableDigests()).isEqualTo(rows);
        RunId far = before.enqueue(JOB, new Job("far"), Enqueue.after(MemoryTransport.LONGEST.plusDays(1)))
                .run();
        soon.forEach(id -> awaitState(before, id, RunState.SUCCEEDED));
        assertThat(done).hasSize(5).doesNotHaveDuplicates();
        assertThat(before.runs().get(far))
                .hasValueSatisfying(run -> assertThat(run.state()).isEqualTo(RunState.WAITING));
    }

    @Test
    void from_http_to_a_server_while_the_external_cron_still_calls() {
        Carillon function =
                fixture.client(builder -> builder.wakeup(Wakeup.http()).handle(JOB, this::run));
        function.schedules().upsert("nightly", When.cron("0 2 * * *", "UTC"), JOB, new Job("nightly"));
        List<RunId> ids = IntStream.range(0, 20)
                .mapToObj(i -> function.enqueue(JOB, new Job("job " + i)).run())
                .toList();
        String definition = definition();

        Carillon server =
                fixture.node(builder -> builder.wakeup(Wakeup.polling()).handle(JOB, this::run));
        function.runDue(Duration.ofSeconds(5));

        ids.forEach(id ->
                assertThat(awaitState(server, id, RunState.SUCCEEDED).attempt()).isOne());
        assertThat(done).hasSize(20).doesNotHaveDuplicates();
        assertThat(definition()).isEqualTo(definition);
    }

    private String definition() {
        return fixture.query(
                        "SELECT string_agg(name || ' ' || version || ' ' || expression, ',') FROM carillon.schedule")
                .text();
    }

    private void run(Job job, io.carillon.run.RunContext run) {
        done.add(job.name());
    }
}
