package io.carillon.it.node;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.RunId;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Runs whose nodes died, and how nodes try them again in isolation. */
@CarillonTest
class IsolationTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);

    private static final String CLAIMED =
            "SELECT count(*) FROM carillon.run WHERE parked = 'isolated' AND owner IS NOT NULL";

    private final ApiFixture fixture;
    private final Map<String, CountDownLatch> ends = new ConcurrentHashMap<>();
    private final List<String> started = new CopyOnWriteArrayList<>();
    private final AtomicInteger live = new AtomicInteger();
    private final Map<String, Integer> liveAtStart = new ConcurrentHashMap<>();

    IsolationTest(TestDatabase database) {
        this.fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        ends.values().forEach(CountDownLatch::countDown);
        fixture.close();
    }

    private Carillon node() {
        return fixture.node(builder -> builder.concurrency(8).handle(JOB, (job, run) -> {
            liveAtStart.put(job.name(), live.getAndIncrement());
            started.add(job.name());
            if (job.name().equals("isolated")) Thread.sleep(100); // the duration of the work
            else if (job.name().equals("plain")) Thread.sleep(20);
            else latchOf(job.name()).await();
            live.decrementAndGet();
        }));
    }

    private CountDownLatch latchOf(String name) {
        return ends.computeIfAbsent(name, one -> new CountDownLatch(1));
    }

    /** Enqueues a run as a rescue leaves it after its node died {@code times} times. */
    private RunId enqueueIsolated(Carillon carillon, int times) {
        return enqueueIsolated(carillon, times, "isolated");
    }

    private RunId enqueueIsolated(Carillon carillon, int times, String name) {
        RunId id = carillon.enqueue(JOB, new Job(name), Enqueue.after(Duration.ofHours(1)))
                .run();
        fixture.database()
                .execute(("UPDATE carillon.run SET parked = 'isolated', node_deaths = %d, ready_at = 'infinity'"
                                + " WHERE id = '%s'")
                        .formatted(times, id.value()));
        return id;
    }

    /** The six runs have started; the eight isolated runs become claimable together. */
    private void addEightIsolatedBesideSixRuns(Carillon node) {
        for (int i = 0; i < 6; i++) node.enqueue(JOB, new Job("before"));
        eventually().until(() -> started.size() == 6);
        node.queues().pause("job");
        for (int i = 0; i < 8; i++) enqueueIsolated(node, 2);
        node.queues().resume("job");
    }

    @Tag("slow")
    @Test
    void ordinary_runs_get_at_least_half_of_the_time_of_a_node() {
        Carillon node = node();
        node.queues().pause("job");
        // More than the node can execute before it sees the ordinary runs, also on a busy machine.
        for (int i = 0; i < 30; i++) enqueueIsolated(node, 4, "isolated");
        for (int i = 0; i < 1_000; i++) node.enqueue(JOB, new Job("plain"));

        node.queues().resume("job");

        eventually().atMost(Duration.ofSeconds(60)).until(() -> started.size() == 1_030);
        assertThat(liveAtStart.get("isolated")).isZero();
        // A node may see up to a second later that the queue is resumed, and has only isolated runs until then.
        assertThat(String.join(" ", started.subList(started.indexOf("plain"), started.lastIndexOf("plain"))))
                .contains("plain isolated plain")
                .doesNotContain("isolated isolated");
    }

    @Test
    void a_run_isolated_for_the_second_time_runs_alone_on_its_node() {
        Carillon node = node();
        node.enqueue(JOB, new Job("before"));
        eventually().until(() -> started.contains("before"));
        RunId id = enqueueIsolated(node, 2);
        eventually()
                .until(() -> fixture.query(
                                        "SELECT count(*) FROM carillon.run WHERE id = ? AND owner IS NOT NULL",
                                        id.value())
                                .number()
                        == 1);
        node.enqueue(JOB, new Job("after"));

        latchOf("before").countDown();
        eventually().until(() -> started.contains("isolated"));
        assertThat(started).containsExactly("before", "isolated");
        assertThat(liveAtStart.get("isolated")).isZero();

        latchOf("isolated").countDown();
        eventually().until(() -> started.contains("after"));
        assertThat(liveAtStart.get("after")).isZero();
    }

    @Test
    void an_isolated_run_that_waits_for_an_idle_node_is_handed_back_when_the_node_stops() {
        Carillon node = node();
        node.enqueue(JOB, new Job("before"));
        eventually().until(() -> started.contains("before"));
        RunId id = enqueueIsolated(node, 2);
        eventually()
                .until(() -> fixture.query(
                                        "SELECT count(*) FROM carillon.run WHERE id = ? AND owner IS NOT NULL",
                                        id.value())
                                .number()
                        == 1);

        node.close();

        assertThat(started).containsExactly("before");
        assertThat(fixture.query(
                                "SELECT parked, owner, node_deaths, crashes FROM carillon.run WHERE id = ?", id.value())
                        .rows())
                .containsExactly(Arrays.asList("isolated", null, "2", "0"));
    }

    @Test
    void many_isolated_runs_are_tried_in_groups_without_a_delay() {
        Carillon node = node();
        latchOf("isolated").countDown();
        node.queues().pause("job");
        for (int i = 0; i < 40; i++) enqueueIsolated(node, 2);

        node.queues().resume("job");

        // A poll for each run would take one second per run.
        eventually().atMost(Duration.ofSeconds(10)).until(() -> started.size() == 40);
    }

    @Test
    void a_group_of_isolated_runs_fills_a_node_that_had_few_free_slots_at_the_claim() {
        Carillon node = node();
        addEightIsolatedBesideSixRuns(node);
        eventually().until(() -> fixture.query(CLAIMED).number() > 0);

        assertThat(fixture.query(CLAIMED).number()).isEqualTo(8);
        latchOf("before").countDown();

        eventually().until(() -> live.get() == 8);
        assertThat(started.subList(6, started.size())).hasSize(8).containsOnly("isolated");
    }

    @Test
    void a_group_of_isolated_runs_starts_together() {
        Carillon node = node();
        node.queues().pause("job");
        for (int i = 0; i < 4; i++) enqueueIsolated(node, 2);
        enqueueIsolated(node, 4, "alone");

        node.queues().resume("job");

        eventually().until(() -> started.size() == 4);
        assertThat(started).containsOnly("isolated");
        latchOf("isolated").countDown();
        eventually().until(() -> started.size() == 5);
        assertThat(liveAtStart.get("alone")).isZero();
    }

    /** Takes long: the long runs must execute until they count as harmless, and the node waits between two groups. */
    @Tag("slow")
    @Test
    void a_group_uses_the_slots_that_long_runs_leave_and_the_other_isolated_runs_are_handed_back() {
        Carillon node = node();
        addEightIsolatedBesideSixRuns(node);
        eventually().until(() -> fixture.query(CLAIMED).number() == 8);

        eventually().atMost(Duration.ofSeconds(20)).until(() -> started.contains("isolated"));

        eventually().until(() -> started.size() == 8);
        eventually()
                .atMost(Duration.ofSeconds(2))
                .until(() -> fixture.query(CLAIMED).number() == 2);
        assertThat(fixture.query("SELECT count(*) FROM carillon.run WHERE parked = 'isolated' AND node_deaths = 2"
                                + " AND crashes = 0")
                        .number())
                .isEqualTo(8);
        fixture.database().execute("""
                CREATE TABLE public.claims (isolated int);
                CREATE FUNCTION public.count_isolated() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                  INSERT INTO public.claims
                  SELECT count(*) FROM carillon.run WHERE parked = 'isolated' AND owner IS NOT NULL;
                  RETURN NULL;
                END $$;
                CREATE TRIGGER count_isolated AFTER UPDATE ON carillon.run
                  FOR EACH STATEMENT EXECUTE FUNCTION public.count_isolated();
                """);
        try {
            latchOf("isolated").countDown();
            eventually().atMost(Duration.ofSeconds(40)).until(() -> started.size() == 14);
            assertThat(fixture.query("SELECT max(isolated) FROM public.claims").number())
                    .isEqualTo(2);
        } finally {
            fixture.database().execute("DROP FUNCTION public.count_isolated() CASCADE; DROP TABLE public.claims");
        }
    }
}
