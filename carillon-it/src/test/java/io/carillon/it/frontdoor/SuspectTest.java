package io.carillon.it.frontdoor;

import static io.carillon.it.frontdoor.House.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
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

/** Runs that were held by nodes that died, and the company in which they are tried again. */
@CarillonTest
class SuspectTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);

    private static final String CLAIMED =
            "SELECT count(*) FROM carillon.run WHERE parked = 'suspect' AND owner IS NOT NULL";

    private final House house;
    private final Map<String, CountDownLatch> ends = new ConcurrentHashMap<>();
    private final List<String> started = new CopyOnWriteArrayList<>();
    private final AtomicInteger live = new AtomicInteger();
    private final Map<String, Integer> company = new ConcurrentHashMap<>();

    SuspectTest(TestDatabase database) {
        this.house = new House(database);
    }

    @AfterEach
    void close() {
        ends.values().forEach(CountDownLatch::countDown);
        house.close();
    }

    private Carillon node() {
        return house.node(builder -> builder.concurrency(8).handle(JOB, (job, run) -> {
            company.put(job.name(), live.getAndIncrement());
            started.add(job.name());
            if (job.name().equals("isolated")) Thread.sleep(100); // the work itself, not a wait for something
            else if (job.name().equals("plain")) Thread.sleep(20);
            else end(job.name()).await();
            live.decrementAndGet();
        }));
    }

    private CountDownLatch end(String name) {
        return ends.computeIfAbsent(name, one -> new CountDownLatch(1));
    }

    /** As a sweep leaves it whose node died for the n-th time. */
    private RunId suspected(Carillon carillon, int times) {
        return suspected(carillon, times, "suspect");
    }

    private RunId suspected(Carillon carillon, int times, String name) {
        RunId id = carillon.enqueue(JOB, new Job(name), Enqueue.after(Duration.ofHours(1)))
                .run();
        house.database()
                .execute(
                        "UPDATE carillon.run SET parked = 'suspect', suspect = %d, ready_at = 'infinity' WHERE id = '%s'"
                                .formatted(times, id.value()));
        return id;
    }

    /** The six runs have started; the eight suspects become claimable together. */
    private void addEightSuspectsBesideSixRuns(Carillon node) {
        for (int i = 0; i < 6; i++) node.enqueue(JOB, new Job("before"));
        eventually().until(() -> started.size() == 6);
        node.queues().pause("job");
        for (int i = 0; i < 8; i++) suspected(node, 2);
        node.queues().resume("job");
    }

    @Test
    void ordinary_runs_have_at_least_half_of_the_time_of_a_node() {
        Carillon node = node();
        node.queues().pause("job");
        for (int i = 0; i < 6; i++) suspected(node, 4, "isolated");
        for (int i = 0; i < 1_000; i++) node.enqueue(JOB, new Job("plain"));

        node.queues().resume("job");

        eventually().atMost(Duration.ofSeconds(30)).until(() -> started.size() == 1_006);
        assertThat(company.get("isolated")).isZero();
        assertThat(String.join(" ", started.subList(0, started.lastIndexOf("plain"))))
                .doesNotContain("isolated isolated");
    }

    @Test
    void suspected_twice_it_has_the_node_for_itself() {
        Carillon node = node();
        node.enqueue(JOB, new Job("before"));
        eventually().until(() -> started.contains("before"));
        RunId id = suspected(node, 2);
        eventually()
                .until(() ->
                        house.number("SELECT count(*) FROM carillon.run WHERE id = ? AND owner IS NOT NULL", id.value())
                                == 1);
        node.enqueue(JOB, new Job("after"));

        end("before").countDown();
        eventually().until(() -> started.contains("suspect"));
        assertThat(started).containsExactly("before", "suspect");
        assertThat(company.get("suspect")).isZero();

        end("suspect").countDown();
        eventually().until(() -> started.contains("after"));
        assertThat(company.get("after")).isZero();
    }

    @Test
    void one_that_waits_for_the_node_goes_back_when_the_node_stops() {
        Carillon node = node();
        node.enqueue(JOB, new Job("before"));
        eventually().until(() -> started.contains("before"));
        RunId id = suspected(node, 2);
        eventually()
                .until(() ->
                        house.number("SELECT count(*) FROM carillon.run WHERE id = ? AND owner IS NOT NULL", id.value())
                                == 1);

        node.close();

        assertThat(started).containsExactly("before");
        assertThat(house.rows("SELECT parked, owner, suspect, crashes FROM carillon.run WHERE id = ?", id.value()))
                .containsExactly(Arrays.asList("suspect", null, "2", "0"));
    }

    @Test
    void many_are_tried_in_groups_without_a_pause() {
        Carillon node = node();
        end("suspect").countDown();
        node.queues().pause("job");
        for (int i = 0; i < 40; i++) suspected(node, 2);

        node.queues().resume("job");

        // A look for each of them would take a second each.
        eventually().atMost(Duration.ofSeconds(10)).until(() -> started.size() == 40);
    }

    @Test
    void a_group_fills_a_node_that_had_few_free_slots_when_it_was_claimed() {
        Carillon node = node();
        addEightSuspectsBesideSixRuns(node);
        eventually().until(() -> house.number(CLAIMED) > 0);

        assertThat(house.number(CLAIMED)).isEqualTo(8);
        end("before").countDown();

        eventually().until(() -> live.get() == 8);
        assertThat(started.subList(6, started.size())).hasSize(8).containsOnly("suspect");
    }

    @Test
    void a_group_starts_together() {
        Carillon node = node();
        node.queues().pause("job");
        for (int i = 0; i < 4; i++) suspected(node, 2);
        suspected(node, 4, "alone");

        node.queues().resume("job");

        eventually().until(() -> started.size() == 4);
        assertThat(started).containsOnly("suspect");
        end("suspect").countDown();
        eventually().until(() -> started.size() == 5);
        assertThat(company.get("alone")).isZero();
    }

    /** The long runs take their time until they count as harmless, and so does the pause of the node after that. */
    @Tag("slow")
    @Test
    void a_group_has_the_slots_that_long_runs_leave_and_the_others_wait_outside_the_node() {
        Carillon node = node();
        addEightSuspectsBesideSixRuns(node);
        eventually().until(() -> house.number(CLAIMED) == 8);

        eventually().atMost(Duration.ofSeconds(20)).until(() -> started.contains("suspect"));

        eventually().until(() -> started.size() == 8);
        eventually().atMost(Duration.ofSeconds(2)).until(() -> house.number(CLAIMED) == 2);
        assertThat(house.number(
                        "SELECT count(*) FROM carillon.run WHERE parked = 'suspect' AND suspect = 2 AND crashes = 0"))
                .isEqualTo(8);
        house.database().execute("""
                CREATE TABLE public.claims (suspects int);
                CREATE FUNCTION public.note_suspects() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                  INSERT INTO public.claims SELECT count(*) FROM carillon.run WHERE parked = 'suspect' AND owner IS NOT NULL;
                  RETURN NULL;
                END $$;
                CREATE TRIGGER note_suspects AFTER UPDATE ON carillon.run FOR EACH STATEMENT EXECUTE FUNCTION public.note_suspects();
                """);
        try {
            end("suspect").countDown();
            eventually().atMost(Duration.ofSeconds(40)).until(() -> started.size() == 14);
            assertThat(house.number("SELECT max(suspects) FROM public.claims")).isEqualTo(2);
        } finally {
            house.database().execute("DROP FUNCTION public.note_suspects() CASCADE; DROP TABLE public.claims");
        }
    }
}
